"""Scalar operators: one ONNX operator on one element, as a C expression. Their tables are the ``*_ops`` modules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.element_types import c_type

from match_host.headers.real import FLOAT32_FUNCTIONS
from match_host.headers.small import SCALE_FLOAT, SMALL_FLOATS
from match_host.kernels.code import Uses
from match_host.kernels.work import Work

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core.contract.node_rule import NodeRule

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
FLOATS = ("float16", "float32", "float64")
NUMBERS = INTEGERS + FLOATS
ALL_TYPES = (*NUMBERS, "bool")
#: Types stored as codes in memory and computed in float32.
SMALL = tuple(SMALL_FLOATS)
#: All real types of computations.
ANY_FLOATS = (*FLOATS, *SMALL)
#: Types stored as bytes in memory and computed in 8 bits.
NIBBLES = ("int4", "uint4", "int2", "uint2")
#: All types that can be moved and converted.
STORED_TYPES = (*ALL_TYPES, *SMALL, SCALE_FLOAT, *NIBBLES)


@dataclass(frozen=True, slots=True)
class Value:
    """A scalar in the body: a C name or literal, its element type, and what is known of it at compile time."""

    text: str
    dtype: np.dtype[np.generic]
    literal: float | None = None
    low: float | None = None  # of a constant array
    high: float | None = None


@dataclass(frozen=True)
class Site:
    """The use of a scalar operator: node, argument values (None: omitted), result type; ``array`` returns the C name of
    a whole input (a table)."""

    node: gs.Node
    arguments: tuple[Value | None, ...]
    result: np.dtype[np.generic]
    uses: Uses
    array: Callable[[int], str]

    @property
    def values(self) -> tuple[Value, ...]:
        """The arguments that exist."""
        return tuple(value for value in self.arguments if value is not None)

    def texts(self) -> tuple[str, ...]:
        """C text of the arguments that exist."""
        return tuple(value.text for value in self.values)

    def math(self, name: str) -> str:
        """The function for the result's type."""
        return real_function(name, self.result, self.uses)

    def number(self, value: float) -> str:
        """A literal of the result's type."""
        from match_host.kernels.code import literal

        return literal(value, self.result)


def real_function(name: str, dtype: np.dtype[np.generic], uses: Uses) -> str:
    """The C function with this libm name for variables of a type: the one of match_math.h if there is one."""
    if arithmetic(dtype).itemsize == 4 and name in FLOAT32_FUNCTIONS:
        return FLOAT32_FUNCTIONS[name]
    uses.include("math.h")
    return f"{name}f" if arithmetic(dtype).itemsize == 4 else name


Align = Callable[["gs.Node", int, int], "tuple[int, ...] | None"]


@dataclass(frozen=True, slots=True)
class ScalarOp:
    """``types`` of the first data input (``data`` is its index); ``render`` returns the expression, ``work`` the
    operations of one element. ``align`` overrides numpy broadcasting for an input: its shape as seen from the result
    (None: as usual). ``tables`` are inputs that are read by index, ``settings`` inputs that only parametrise the
    code."""

    name: str
    types: tuple[str, ...]
    render: Callable[[Site], str]
    work: Callable[[np.dtype[np.generic]], Work]
    data: int = 0
    align: Align | None = None
    tables: tuple[int, ...] = ()
    settings: tuple[int, ...] = ()
    rules: tuple[NodeRule, ...] = ()


def suffix(dtype: np.dtype[np.generic]) -> str:
    """Short type name for helper functions: ``i32``, ``u8``, ``f32``, ``bool``."""
    if dtype.kind == "b":
        return "bool"
    own = arithmetic(dtype)
    return f"{own.kind}{8 * own.itemsize}"


def is_code(dtype: np.dtype[np.generic]) -> bool:
    """Whether memory holds codes of floating-point numbers that C does not have."""
    if dtype.isbuiltin == 1:  # numpy's own types; reading a type's name is slow, and this runs for every value
        return dtype.char == "e"
    return dtype.name in SMALL_FLOATS or dtype.name == SCALE_FLOAT


def arithmetic(dtype: np.dtype[np.generic]) -> np.dtype[np.generic]:
    """The type in which values of this type are computed: narrow types are for memory only."""
    if is_code(dtype):
        return np.dtype(np.float32)
    if dtype.isbuiltin != 1 and dtype.name in NIBBLES:
        return np.dtype(np.uint8 if dtype.name.startswith("u") else np.int8)
    return dtype


def scalar_type(dtype: np.dtype[np.generic]) -> str:
    """C type of a scalar variable (truth values are bytes in memory and ``bool`` in variables, values of narrow
    floating-point types are ``float``)."""
    return "bool" if dtype.kind == "b" else c_type(arithmetic(dtype))


def _conversion(dtype: np.dtype[np.generic]) -> str:
    """Prefix of the names of the functions that convert codes."""
    return "match_half" if dtype == np.float16 else f"match_{dtype.name}"


def loaded(place: str, dtype: np.dtype[np.generic]) -> str:
    """The value at a place in memory."""
    if is_code(dtype):
        return f"{_conversion(dtype)}_to_float({place})"
    return f"{place} != 0" if dtype.kind == "b" else place


def stored(expression: str, dtype: np.dtype[np.generic]) -> str:
    """C text of the stored form of a value of this type."""
    if is_code(dtype):
        return f"{_conversion(dtype)}_from_float({expression})"
    if dtype.name in NIBBLES:
        return _low_bits(expression, dtype)
    return f"(uint8_t)({expression})" if dtype.kind == "b" else expression


def _low_bits(expression: str, dtype: np.dtype[np.generic]) -> str:
    """The integer that the low bits of a value hold."""
    bits = int(dtype.name[-1])
    if dtype.name.startswith("u"):
        return f"(uint8_t)(({expression}) & {(1 << bits) - 1})"
    return f"(int8_t)(((({expression}) & {(1 << bits) - 1}) ^ {1 << (bits - 1)}) - {1 << (bits - 1)})"


def rounded(expression: str, dtype: np.dtype[np.generic]) -> str:
    """An operator's result in a variable, rounded as in a tensor of the type."""
    if dtype == np.float16:
        return f"match_half_round({expression})"
    if is_code(dtype):
        return loaded(stored(expression, dtype), dtype)
    return _low_bits(expression, dtype) if dtype.name in NIBBLES else expression


def moved_halves(dtype: np.dtype[np.generic], count: int = 1) -> Work:
    """The conversions between narrow floating-point types in memory and float32 in variables."""
    return Work(half=count) if is_code(dtype) else Work()


def wide_unsigned(dtype: np.dtype[np.generic]) -> str:
    """The unsigned C type in which integer arithmetic of this type wraps around."""
    return "uint64_t" if dtype.itemsize == 8 else "uint32_t"


def simple(dtype: np.dtype[np.generic]) -> Work:
    """One addition, comparison or move of this type."""
    if dtype.kind == "f":
        return Work(floating=1)
    return Work(wide=1) if dtype.itemsize == 8 else Work(integer=1)


def always(work: Work) -> Callable[[np.dtype[np.generic]], Work]:
    """The same work for every type."""
    return lambda dtype: work


def two_arguments(
    uses: Uses, name: str, dtype: np.dtype[np.generic], expression: str, first: str = "a", second: str = "b"
) -> str:
    """A helper ``T host_<name>_<type>(T a, T b)``; returns its C name."""
    ctype, full = scalar_type(dtype), f"host_{name}_{suffix(dtype)}"
    head = f"static inline {ctype} {full}({ctype} {first}, {ctype} {second})"
    return uses.helper(full, f"{head}\n{{\n    return {_narrow(expression, dtype)};\n}}\n")


def one_argument(uses: Uses, name: str, dtype: np.dtype[np.generic], expression: str) -> str:
    """A helper ``T host_<name>_<type>(T a)``; returns its C name."""
    ctype, full = scalar_type(dtype), f"host_{name}_{suffix(dtype)}"
    head = f"static inline {ctype} {full}({ctype} a)"
    return uses.helper(full, f"{head}\n{{\n    return {_narrow(expression, dtype)};\n}}\n")


def _narrow(expression: str, dtype: np.dtype[np.generic]) -> str:
    """Convert back: conditional expressions of small integers have type int in C."""
    if "?" in expression and dtype.kind in "iu" and dtype.itemsize < 4:
        return f"({c_type(dtype)})({expression})"
    return expression
