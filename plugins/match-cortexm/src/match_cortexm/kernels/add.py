"""Sums of two tensors of one shape: ``clip((a * A + b * B + C) >> shift)``.

The integer graph's numbers need 64 bits. Shorter ones are used if they give the same result for all 65,536 pairs of
bytes; else, and for int16, the sums have 64 bits. A second requantisation of an int16 result is computed with it."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.element_types import c_type
from match_core.ir.reader import shape_of
from match_core.ir.topology import is_constant
from match_host.graph import constant_at, dtype_of, elements
from match_host.kernels.code import Uses, inline_code
from match_host.kernels.overlap import element_by_element
from match_host.kernels.work import Work

from match_cortexm.headers import DSP, INT16, MVE, SHARED, header
from match_cortexm.kernels.counted import Counted
from match_cortexm.kernels.lookup import UNROLLED
from match_cortexm.kernels.requant import Requant, clips, with_second
from match_cortexm.kernels.templates import render_body

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from numpy.typing import NDArray

    from match_cortexm.cores import Core

ADD_REQUANT = "match.arith::AddRequantU8|match.arith::AddRequantI8|match.arith::AddRequantI16"
#: Shifts that are tried, and changes of each factor.
_SHIFTS, _CHANGES = range(24, 11, -1), (0, 1, -1, 2, -2)

#: Bits that int16 values may be shifted to the left within 32 bits, with one to spare.
_ROOM = 15

#: Of four pairs.
_PLACES = "&out0[i], &in0[i], &in1[i]"

Numbers = tuple[int, int, int, int]


def add_of(node: gs.Node) -> tuple[Numbers | None, tuple[int, ...]] | str:
    """(A, B, C, shift) in 32 bits, if there are such numbers, and those of the graph; or why the kernel does not take
    the node."""
    a, b = node.inputs[:2]
    if is_constant(a) or is_constant(b) or shape_of(a) != shape_of(b):
        return "a summand is constant or broadcast"
    types = {dtype_of(tensor).name for tensor in (a, b, node.outputs[0])}
    if types - {"int8", "uint8"} and types != {"int16"}:
        return "the tensors are neither 8-bit nor int16"
    values = [constant_at(node, index) for index in range(2, 8)]
    if any(value is None or value.size != 1 for value in values):
        return "factors differ between elements"
    numbers = tuple(int(value.reshape(-1)[0]) for value in values if value is not None)
    a_factor, b_factor, addend, divisor, *_ = numbers
    most = (255 if types != {"int16"} else 1 << 15) * (abs(a_factor) + abs(b_factor)) + abs(addend)
    if divisor & (divisor - 1) or max(abs(a_factor), abs(b_factor)) >= 1 << 31 or most // divisor >= 1 << 31:
        return f"factors {a_factor} and {b_factor} over {divisor} exceed 32 bits"
    return None if types == {"int16"} else _short(numbers, dtype_of(a).name, dtype_of(b).name), numbers


@lru_cache(maxsize=64)
def _short(numbers: tuple[int, ...], a_type: str, b_type: str) -> Numbers | None:
    """Factors of 32 bits with the same result for every pair of bytes."""
    a_factor, b_factor, addend, divisor, low, high = numbers
    a, b = (np.arange(np.iinfo(name).min, np.iinfo(name).max + 1, dtype=np.int64) for name in (a_type, b_type))
    total = a[:, None].astype(object) * a_factor + b[None, :].astype(object) * b_factor + addend
    exact = np.clip((total // divisor).astype(np.int64), low, high)
    for shift in _SHIFTS:
        near_a, near_b = ((2 * (factor << shift) + divisor) // (2 * divisor) for factor in (a_factor, b_factor))
        for first in _CHANGES:
            for second in _CHANGES:
                value = a[:, None] * (near_a + first) + b[None, :] * (near_b + second)
                least = ((exact << shift) - value)[exact > low].max(initial=-(1 << 30))
                most = (((exact + 1) << shift) - 1 - value)[exact < high].min(initial=1 << 30)
                middle = int(least + most) // 2
                if least <= most and int(np.abs(value).max()) + abs(middle) < 1 << 31:
                    return _reduced(near_a + first, near_b + second, middle, shift)
    return None


def _reduced(a_factor: int, b_factor: int, addend: int, shift: int) -> Numbers:
    """The same without the powers of two that both factors have; a factor may be 0, and then has all."""
    common = a_factor | b_factor
    twos = min(shift, max(0, (common & -common).bit_length() - 1))
    return a_factor >> twos, b_factor >> twos, addend >> twos, shift - twos


def build_add(nodes: tuple[gs.Node, ...], function: str, core: Core) -> Counted:
    """The kernel of one AddRequant, or of int16 with a Requant."""
    node, *after = nodes
    found = add_of(node)
    if isinstance(found, str):
        raise ValueError(f"{function}: {found}")
    short, (*long, divisor, low, high) = found
    a_factor, b_factor, addend, shift = short or (*long, divisor.bit_length() - 1)
    count, ctype = elements(shape_of(node.outputs[0])), c_type(dtype_of(node.outputs[0]))
    bytes_ = {dtype_of(tensor).name for tensor in (*node.inputs[:2], node.outputs[0])}
    vectors = ""
    if core.helium and short is not None and bytes_ == {"int8"}:
        vectors = f"match_cortexm_add_4({_PLACES}, a_factor, b_factor, addend, {shift}, {low}, {high});"
    uses = Uses()
    wide = dtype_of(node.outputs[0]).itemsize > 1
    sixteen = (DSP, MVE, INT16) if wide else ()
    for name in (SHARED, *(sixteen or ((MVE,) if vectors else ()))):
        uses.headers[name] = header(name)
    lines = [
        f"    const int32_t a_factor = {a_factor};",
        f"    const int32_t b_factor = {b_factor};",
        f"    const int{32 if short else 64}_t addend = {addend};",
    ]
    value = _shifted("in0[i] * a_factor + in1[i] * b_factor + addend", shift)
    upper = wide and shift >= 32 - _ROOM and abs(addend) < 1 << (30 + shift)
    if upper:  # the upper word of the sum is all that is needed
        left, shift = max(0, 32 - shift), max(shift, 32)
        lines[2] = f"    const int64_t addend = INT64_C({addend << left});"
        products = (f"(int64_t)(in{k}[i] * {1 << left}) * {name}_factor" for k, name in enumerate("ab"))
        value = f"(int32_t)(({' + '.join(products)} + addend) >> 32) >> {shift - 32}"
    elif short is None:
        value = f"(int32_t)(((int64_t)in0[i] * a_factor + (int64_t)in1[i] * b_factor + addend) >> {shift})"
    scaled: Requant | str = Requant(np.zeros((2, 1), np.int64), np.zeros(1, np.int64), 0, low, high)
    scaled = with_second(scaled, after[0]) if after and not isinstance(scaled, str) else scaled
    if isinstance(scaled, str):
        raise ValueError(f"{function}: {scaled}")
    if core.helium and wide and upper:
        lines.append(f"    const match_cortexm_bounds first = {{{shift - 32}, {low}, {high}}};")
        lines.append(f"    const match_cortexm_again again = {{{', '.join(scaled.again)}}};")
        vectors = f"match_cortexm_add_16({_PLACES}, {left}, a_factor, b_factor, addend, first, again);"
    view = {"vectors": vectors, "count": count, "shift": shift, "low": low, "high": high, "ctype": ctype}
    inputs: tuple[gs.Tensor, ...] = tuple(node.inputs[:2])
    constants: dict[int, NDArray[np.generic]] = {}
    scalar = short is not None and not vectors
    shifts = scalar and count > UNROLLED and _is_power(a_factor) and _is_power(b_factor)
    if not shifts and (not core.dsp or (scalar and count > UNROLLED)):
        # Compilers would write products by some constants as shifts and sums, up to twice as many instructions.
        inputs, constants = _stored(node, np.array([a_factor, b_factor], np.int32))
        lines[:2] = [f"    const int32_t {name}_factor = in2[{place}];" for place, name in enumerate("ab")]
        if core.dsp and a_factor == b_factor:
            del lines[1]
            value = _shifted("(in0[i] + in1[i]) * a_factor + addend", shift)
    body = render_body("add", result=scaled.text(value), **view)
    comment = f"{', '.join(each.op for each in nodes)}: {count} pairs, in {32 if short else 64} bits"
    text = "\n".join((*lines, body))
    result = nodes[-1].outputs[0]
    code = inline_code(function, comment, inputs, (result,), text, uses, constants)
    form, pairs = "add" if short else "add_i16" if wide else "add_wide", count
    if vectors:
        form, pairs = "add_mve_i16" if wide else "add_mve", count // 4
    elif scalar and count <= UNROLLED:
        form = "add_few"
    elif shifts:
        form = "add_shifts"
    code = replace(code, overlaps=element_by_element(node.inputs[:2], result))
    clipped = 0 if short and vectors else pairs * clips(core, low, high)
    if scalar and clipped and not constants:
        # Compilers know the range of the sums, and compare with what these may reach.
        ends = [
            _range(dtype_of(tensor), factor) for tensor, factor in zip(node.inputs, (a_factor, b_factor), strict=False)
        ]
        least, most = ((sum(end) + addend) >> shift for end in zip(*ends, strict=True))
        clipped = pairs * ((least < low) + (most > high))
    second = pairs * (a_factor != b_factor)  # compilers multiply the sum if there is one factor
    counts = (("pairs", pairs), ("second", second), *((("again", pairs),) if after else ()), ("clipped", clipped))
    if vectors:
        counts = (*counts, ("rest", count % 4))
    elif form == "add_shifts":
        counts = (*counts, ("shifted", pairs * (shift > 0)), ("added", pairs * (addend != 0)))
    return Counted(inputs, code, Work(), form, counts)


def _shifted(total: str, shift: int) -> str:
    """The sum over a power of two, as text."""
    return f"({total}) >> {shift}" if shift else total


def _is_power(number: int) -> bool:
    """Whether it is a power of two, so that compilers write no product."""
    return number > 0 and number & (number - 1) == 0


def _range(dtype: np.dtype[np.generic], factor: int) -> tuple[int, int]:
    """The least and the largest product of a byte."""
    info = np.iinfo(dtype.name)
    products = int(info.min) * factor, int(info.max) * factor
    return min(products), max(products)


def _stored(node: gs.Node, factors: NDArray[np.int32]) -> tuple[tuple[gs.Tensor, ...], dict[int, NDArray[np.generic]]]:
    """The summands and a constant with both factors."""
    import onnx_graphsurgeon as gs

    return (*node.inputs[:2], gs.Constant(f"{node.name}/factors", factors)), {2: factors}
