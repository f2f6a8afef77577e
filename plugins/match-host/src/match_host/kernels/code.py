"""Writes C: affine index text, literals, a line builder with loops, the function around it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.element_types import c_type
from match_core.contract.unit_api import InlineCode

from match_host.headers.half import half_header
from match_host.headers.real import MATH_NAMES, math_header
from match_host.headers.small import SCALE_FLOAT, SMALL_FLOATS, small_header
from match_host.kernels.names import named, parameter_names, yielding

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core.contract.unit_api import RuntimeFile
    from numpy.typing import NDArray

LINE_LENGTH = 110


def is_real(dtype: np.dtype[np.generic]) -> bool:
    """Whether values of the type are floating-point numbers, including types that C lacks."""
    return dtype.kind == "f" or dtype.name in SMALL_FLOATS or dtype.name == SCALE_FLOAT


def literal(value: float, dtype: np.dtype[np.generic]) -> str:
    """The C literal of a value of this element type (the shortest text that reads back as the same value; a float32
    literal for narrower types)."""
    if dtype.kind == "b":
        return "true" if value else "false"
    if is_real(dtype):
        return _float_literal(value, "f" if dtype.itemsize <= 4 else "", dtype)
    number = int(value)
    if dtype.kind == "u":
        return f"UINT64_C({number})" if dtype.itemsize == 8 else f"{number}u" if dtype.itemsize == 4 else str(number)
    bits = 8 * dtype.itemsize
    if bits >= 32 and number == -(1 << (bits - 1)):
        return f"INT{bits}_MIN"
    return f"INT64_C({number})" if bits == 64 else str(number)


def _float_literal(value: float, suffix: str, dtype: np.dtype[np.generic]) -> str:
    if math.isnan(value):
        return "NAN" if suffix else "(double)NAN"
    if math.isinf(value):
        infinity = "INFINITY" if value > 0 else "-INFINITY"
        return infinity if suffix else f"(double){infinity}"
    text = str(np.float32(value)) if suffix else repr(float(value))
    return f"{text}{suffix}" if "." in text or "e" in text else f"{text}.0{suffix}"


def affine(terms: Sequence[tuple[str, int]], offset: int = 0) -> str:
    """``y * 512 + x * 16 + 3``. Terms with an empty name (a loop of one step) or a zero factor are omitted."""
    parts = [name if factor == 1 else f"{name} * {factor}" for name, factor in terms if name and factor]
    if offset or not parts:
        sign = " - " if offset < 0 and parts else " + "
        parts_text = " + ".join(parts)
        return f"{parts_text}{sign}{abs(offset)}" if parts else str(offset)
    return " + ".join(parts)


def minus(text: str, zero_point: str) -> str:
    """``(text - zero_point)``; the text itself without one."""
    if not zero_point:
        return text
    return f"({text} + {zero_point[1:]})" if zero_point.startswith("-") else f"({text} - {zero_point})"


def table(kind: str, name: str, texts: Sequence[str]) -> tuple[str, ...]:
    """Lines that declare a constant array of these literals, or an array with one zero if there are none."""
    rows, row = [], ""
    for text in texts or ("0",):
        if row and len(row) + len(text) > LINE_LENGTH - 8:
            rows.append(row)
            row = ""
        row += f"{', ' if row else ''}{text}"
    head = f"static const {kind} {name}[{max(1, len(texts))}] = {{"
    return (head, *(f"    {line}," for line in (*rows, row)), "};")


class Code:
    """Lines of C at an indentation."""

    def __init__(self, indent: int = 1) -> None:
        self._lines: list[str] = []
        self._indent = indent

    def line(self, text: str) -> None:
        """Write one line; an assignment that is too long continues on the next line."""
        target, equals, value = text.partition(" = ")
        if self.width(text) > LINE_LENGTH and equals and text.endswith(";"):
            self._lines.append("    " * self._indent + f"{target} =")
            self._lines.append("    " * (self._indent + 1) + value)
        else:
            self._lines.append("    " * self._indent + text)

    def lines(self, texts: Sequence[str]) -> None:
        """Several lines."""
        for text in texts:
            self.line(text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """``head {`` ... ``}``."""
        self.line(f"{head} {{")
        self._indent += 1
        yield
        self._indent -= 1
        self.line("}")

    @contextmanager
    def otherwise(self) -> Iterator[None]:
        """``} else {`` ... ``}`` after the last block."""
        self._lines[-1] += " else {"
        self._indent += 1
        yield
        self._indent -= 1
        self.line("}")

    @contextmanager
    def loop(self, variable: str, size: int) -> Iterator[str]:
        """A loop from 0 to size; yields the variable's name, or "" for a single step (then no loop is written)."""
        if size == 1:
            yield ""
            return
        with self.block(f"for (int32_t {variable} = 0; {variable} < {size}; {variable}++)"):
            yield variable

    @contextmanager
    def loops(self, variables: Sequence[tuple[str, int]]) -> Iterator[tuple[str, ...]]:
        """Nested loops, outermost first."""
        if not variables:
            yield ()
            return
        (name, size), *inner = variables
        with self.loop(name, size) as outer, self.loops(inner) as rest:
            yield (outer, *rest)

    def width(self, text: str) -> int:
        """The length of a line including its indentation."""
        return 4 * self._indent + len(text)

    @property
    def text(self) -> str:
        """All lines so far."""
        return "\n".join(self._lines)


@dataclass
class Uses:
    """External requirements of a body: helper functions by name, headers, and headers that ship with the program.
    ``vectors``: whether its loops are written for vectorisation."""

    vectors: bool = False
    helpers: dict[str, str] = field(default_factory=dict)
    includes: dict[str, None] = field(default_factory=lambda: {"stdint.h": None})
    headers: dict[str, RuntimeFile] = field(default_factory=dict)
    #: C type and literal of numbers that the function receives as arguments, by name.
    parameters: dict[str, tuple[str, str]] = field(default_factory=dict)
    #: What these numbers are, by name.
    roles: dict[str, str] = field(default_factory=dict)

    def parameter(self, ctype: str, text: str, role: str) -> str:
        """The name of an argument with this literal: for numbers of a node, such as scales, so that kernels of equal
        sizes are identical. ``role``: what it is, the name in the C."""
        for name, known in self.parameters.items():
            if known == (ctype, text):
                return name
        name = f"arg{len(self.parameters)}"
        self.parameters[name] = (ctype, text)
        self.roles[name] = role
        return name

    def include(self, header: str) -> None:
        """Add a header."""
        self.includes[header] = None

    def helper(self, name: str, definition: str) -> str:
        """Add a helper function; returns its name."""
        self.helpers[name] = definition
        self.scan(definition)
        return name

    def scan(self, text: str) -> None:
        """Add the headers that identifiers in C text require."""
        if any(word in text for word in ("bool", "true", "false")):
            self.include("stdbool.h")
        if any(word in text for word in ("INFINITY", "NAN", "isnan", "isinf", "nearbyint")):
            self.include("math.h")
        if any(word in text for word in ("match_bfloat16_", "match_float8_", "match_float6_", "match_float4_")):
            self.headers["match_small"] = small_header()
        if "match_half_" in text:
            self.headers["match_half"] = half_header()
        if MATH_NAMES.search(text):
            self.headers["match_math"] = math_header()


def mostly(uses: Uses) -> str:
    """The macro for a condition that nearly always holds: compilers then optimise that case."""
    return uses.helper(
        "host_mostly",
        "/* A condition that nearly always holds. */\n#if defined(__GNUC__)\n"
        "#define host_mostly(condition) __builtin_expect((condition) ? 1 : 0, 1)\n#else\n"
        "#define host_mostly(condition) (condition)\n#endif\n",
    )


#: GCC unrolls loops of at most this many constant steps before vectorisation, which then fails.
UNROLLED_STEPS = 16


def as_vectors(uses: Uses, steps: int) -> tuple[str, ...]:
    """The line before an innermost loop of ``steps`` steps that makes GCC vectorise it; none if the loop is long enough
    without it."""
    if not 1 < steps <= UNROLLED_STEPS:
        return ()
    return (
        uses.helper(
            "HOST_AS_VECTORS",
            "/* GCC unrolls short loops before it looks for vectors. */\n"
            "#if defined(__GNUC__) && !defined(__clang__)\n"
            '#define HOST_AS_VECTORS _Pragma("GCC unroll 1")\n#else\n#define HOST_AS_VECTORS\n#endif\n',
        ),
    )


def signature(
    function: str,
    inputs: Sequence[np.dtype[np.generic]],
    outputs: Sequence[gs.Tensor],
    scratch: bool = False,
    parameters: Mapping[str, tuple[str, str]] = MappingProxyType({}),
) -> str:
    """The head of a kernel: ``static void f(const int8_t *restrict in0, ..., uint8_t *restrict out0)``."""
    arguments = [f"const {c_type(dtype)} *restrict in{i}" for i, dtype in enumerate(inputs)]
    arguments += [f"{c_type(tensor.dtype)} *restrict out{i}" for i, tensor in enumerate(outputs)]
    if scratch:
        arguments.append("void *restrict scratch")
    arguments += [f"{ctype} {name}" for name, (ctype, _) in parameters.items()]
    head = f"static void {function}({', '.join(arguments)})"
    if len(head) <= LINE_LENGTH:
        return head
    separator = ",\n    "
    return f"static void {function}(\n    {separator.join(arguments)})"


#: The macro of functions that are no part of their callers.
APART = (
    "HOST_APART",
    "/* Not a part of its caller: what is known there would take the registers. */\n#if defined(__GNUC__)\n"
    "#define HOST_APART __attribute__((noinline))\n#else\n#define HOST_APART\n#endif\n",
)


def apart(code: InlineCode) -> InlineCode:
    """The function, which compilers do not make a part of its only caller: they would know the addresses of constants
    there, and keep more of them than there are registers."""
    definition = code.definition.replace("\nstatic void ", "\nHOST_APART\nstatic void ", 1)
    return replace(code, definition=definition, helpers=(*code.helpers, APART))


def inline_code(
    function: str,
    comment: str,
    inputs: Sequence[gs.Tensor],
    outputs: Sequence[gs.Tensor],
    body: str,
    uses: Uses,
    constants: Mapping[int, NDArray[np.generic]] | None = None,
    scratch_bytes: int = 0,
) -> InlineCode:
    """The function around a body. ``constants`` replace constant inputs, which also decides their C types.
    ``scratch_bytes``: size of the memory at its argument ``scratch``."""
    uses.scan(body)
    packed = dict(constants or {})
    types = [packed[i].dtype if i in packed else np.dtype(tensor.dtype) for i, tensor in enumerate(inputs)]
    names = (*(f"in{i}" for i in range(len(inputs))), *(f"out{i}" for i in range(len(outputs))), *uses.parameters)
    unused = "".join(f"    (void){name};\n" for name in names if not re.search(rf"\b{name}\b", body))
    head = signature(function, types, outputs, scratch_bytes > 0, uses.parameters)
    known = parameter_names(inputs, outputs, uses.roles, body)
    definition = named(f"/* {comment} */\n{head}\n{{\n{unused}{yielding(body)}\n}}\n", known)
    return InlineCode(
        definition=definition,
        helpers=tuple(uses.helpers.items()),
        includes=tuple(uses.includes),
        constants=packed,
        headers=tuple(uses.headers.values()),
        scratch_bytes=scratch_bytes,
        names=tuple(known[f"in{position}"] for position in range(len(inputs))),
        parameters=tuple(f"{text} /* {known[name]} */" for name, (_, text) in uses.parameters.items()),
    )
