"""``match_small.h``: narrow floating-point types that tensors store as codes of a sign, an exponent and a mantissa.

bfloat16; FP8 after Micikevicius et al. (FP8 formats for deep learning, 2022, E4M3FN and E5M2) and Noune et al. (8-bit
numerical formats for deep neural networks, 2022, the kinds without negative zero); E2M3, E3M2, E2M1 and E8M0 of the OCP
Microscaling formats (2023).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from match_core.contract.unit_api import RuntimeFile

SMALL_HEADER = "match_small.h"


@dataclass(frozen=True, slots=True)
class SmallFloat:
    """``bits`` of a code, ``mantissa`` bits, exponent ``bias``, code of the ``largest`` finite value, codes for larger
    values (``over``) and for NaN (``nan``, -1 if the type has none: NaN then becomes the negative zero, as in
    ml_dtypes); ``one_zero``: there is no negative zero."""

    name: str
    bits: int
    mantissa: int
    bias: int
    largest: int
    over: int
    nan: int
    one_zero: bool = False

    @property
    def ctype(self) -> str:
        """The C type of a code."""
        return "uint16_t" if self.bits > 8 else "uint8_t"

    @property
    def largest_value(self) -> float:
        """The largest finite value."""
        exponent, mantissa = self.largest >> self.mantissa, self.largest & ((1 << self.mantissa) - 1)
        return float((1 + mantissa / (1 << self.mantissa)) * 2.0 ** (exponent - self.bias))


#: Types by their numpy names.
SMALL_FLOATS = {
    item.name: item
    for item in (
        SmallFloat("bfloat16", 16, 7, 127, 0x7F7F, 0x7F80, 0x7FC0),
        SmallFloat("float8_e4m3fn", 8, 3, 7, 0x7E, 0x7F, 0x7F),
        SmallFloat("float8_e5m2", 8, 2, 15, 0x7B, 0x7C, 0x7E),
        SmallFloat("float8_e4m3fnuz", 8, 3, 8, 0x7F, 0x80, 0x80, one_zero=True),
        SmallFloat("float8_e5m2fnuz", 8, 2, 16, 0x7F, 0x80, 0x80, one_zero=True),
        SmallFloat("float6_e2m3fn", 6, 3, 1, 0x1F, 0x1F, -1),
        SmallFloat("float6_e3m2fn", 6, 2, 3, 0x1F, 0x1F, -1),
        SmallFloat("float4_e2m1fn", 4, 1, 1, 0x7, 0x7, -1),
    )
}
#: Powers of two without a sign: scales.
SCALE_FLOAT = "float8_e8m0fnu"

_HEAD = """\
/* Narrow floating-point numbers stored as codes, in portable C11: to float and, rounded once to the nearest (ties to
 * even), from float. Requires IEEE binary32 in the default rounding mode. */
#ifndef MATCH_SMALL_H
#define MATCH_SMALL_H

#include <stdint.h>

typedef union {
    float value;
    uint32_t bits;
} match_small_t;

/* The magnitude of a code whose exponent has this bias. */
static inline float match_small_value(uint32_t size, uint32_t mantissa, uint32_t bias)
{
    match_small_t result = {.bits = (size << (23u - mantissa)) + ((127u - bias) << 23)};
    if ((size >> mantissa) == 0u) { /* a subnormal number: a multiple of the smallest one */
        const match_small_t first = {.bits = (128u - bias) << 23};
        result.value = (float)size * first.value / (float)(1u << mantissa);
    }
    return result.value;
}

/* The code of a magnitude, given by its bits. */
static inline uint32_t match_small_code(uint32_t size, uint32_t mantissa, uint32_t bias)
{
    const uint32_t shift = 23u - mantissa;
    const uint32_t normal = (size + (1u << (shift - 1u)) - 1u + ((size >> shift) & 1u)) >> shift;
    /* The last place of this number is the smallest subnormal one: the addition rounds. */
    const match_small_t moved = {.bits = (151u - bias - mantissa) << 23};
    const match_small_t given = {.bits = size};
    const match_small_t sum = {.value = given.value + moved.value};
    return size < ((128u - bias) << 23) ? sum.bits - moved.bits : normal - ((127u - bias) << mantissa);
}
"""
_SCALE = """
static inline float match_float8_e8m0fnu_to_float(uint8_t code)
{
    const uint32_t normal = code == 0xFFu ? 0x7FC00000u : (uint32_t)code << 23;
    const match_small_t result = {.bits = code == 0u ? 0x00400000u : normal};
    return result.value;
}

/* The code of a power of two. */
static inline uint8_t match_float8_e8m0fnu_from_float(float value)
{
    const match_small_t given = {.value = value};
    const uint32_t size = given.bits & 0x7FFFFFFFu;
    return (uint8_t)(size >= 0x7F800000u ? 0xFFu : size >> 23);
}

/* The power of two at or above a number. */
static inline float match_float8_e8m0fnu_up(float value)
{
    const match_small_t given = {.value = value};
    const uint32_t size = given.bits & 0x7FFFFFFFu;
    const uint32_t up = (size + 0x007FFFFFu) & 0x7F800000u;
    const match_small_t result = {.bits = size > 0x7F800000u ? size : size <= 0x00400000u ? 0x00400000u
                                          : up > 0x7F000000u ? 0x7F000000u : up};
    return result.value;
}

/* The power of two at or below a number. */
static inline float match_float8_e8m0fnu_down(float value)
{
    const match_small_t given = {.value = value};
    const uint32_t size = given.bits & 0x7FFFFFFFu;
    const uint32_t down = size & 0x7F800000u;
    const match_small_t result = {.bits = size > 0x7F800000u ? size : down == 0u ? 0x00400000u
                                          : down > 0x7F000000u ? 0x7F000000u : down};
    return result.value;
}

/* The nearest power of two; halfway between two of them, the larger one. */
static inline float match_float8_e8m0fnu_nearest(float value)
{
    const match_small_t given = {.value = value};
    const uint32_t size = given.bits & 0x7FFFFFFFu;
    const match_small_t moved = {.bits = size > 0x7F800000u ? size : size + 0x00400000u};
    return match_float8_e8m0fnu_down(size > 0x7F800000u ? value : moved.value);
}
"""
_TYPE = """
static inline float match_{name}_to_float({ctype} code)
{{
    const uint32_t size = code & {mask}u;
    match_small_t result = {{.value = match_small_value(size, {mantissa}u, {bias}u)}};
{special}    result.bits |= (uint32_t)(code & {sign}u) << {lift};
    return result.value;
}}

static inline {ctype} match_{name}_from_float(float value)
{{
    const match_small_t given = {{.value = value}};
    const uint32_t size = given.bits & 0x7FFFFFFFu;
    const uint32_t sign = (given.bits >> {lift}) & {sign}u;
    if (size > 0x7F800000u) {{
        return {none};
    }}
    const uint32_t code = match_small_code(size, {mantissa}u, {bias}u);
    const uint32_t kept = (size >= 0x7F800000u) || (code > {largest}u) ? {over}u : code;
    return ({ctype})({zero}(sign | kept));
}}
"""


def _type(item: SmallFloat) -> str:
    sign = 1 << (item.bits - 1)
    special = ""
    if item.nan >= 0:
        place = "code" if item.one_zero else "size"
        if item.over != item.nan:
            special = f"    if (size == {item.over}u) {{\n        result.bits = 0x7F800000u;\n    }}\n"
        condition = f"{place} == {item.nan}u" if item.over == item.nan else f"size > {item.over}u"
        special += f"    if ({condition}) {{\n        result.bits = 0x7FC00000u;\n    }}\n"
    return _TYPE.format(
        name=item.name,
        ctype=item.ctype,
        mask=sign - 1,
        mantissa=item.mantissa,
        bias=item.bias,
        special=special,
        sign=sign,
        lift=32 - item.bits,
        none=f"{item.nan if item.nan >= 0 else sign}u",
        largest=item.largest,
        over=item.over,
        zero="kept == 0u ? 0u : " if item.one_zero else "",
    )


@lru_cache(maxsize=1)
def small_header() -> RuntimeFile:
    """The header as a file that ships with a program."""
    types = "".join(_type(item) for item in SMALL_FLOATS.values())
    return RuntimeFile(SMALL_HEADER, f"{_HEAD}{types}{_SCALE}\n#endif\n")
