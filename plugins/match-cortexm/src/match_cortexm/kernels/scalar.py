"""What the templates of functions for cores without the DSP extension need: in Thumb-2 (``wide``), or in Thumb."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from match_host.graph import dtype_of

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: Loads that extend a value to 32 bits.
_LOADS = {"int8": "ldrsb", "uint8": "ldrb", "int16": "ldrsh"}
#: C text of a value at a place in memory.
_VALUES = {"int8": "*({})", "uint8": "(uint8_t)*({})", "int16": "match_cortexm_value({}, 0)"}


def scalar_view(wide: bool, source: gs.Tensor) -> dict[str, object]:
    """The instruction that loads a value of the tensor, C text for it, and the lines that set registers to numbers."""
    name = dtype_of(source).name
    return {"wide": wide, "load": _LOADS[name], "value": _VALUES[name].format, "number": partial(number_lines, wide)}


def number_lines(wide: bool, register: str, value: int) -> list[str]:
    """The instructions that set a register to a number from 0 on."""
    if wide:
        upper = [f"movt {register}, #{value >> 16}"] if value >> 16 else []
        return [f"movw {register}, #{value & 0xFFFF}", *upper]
    first, *rest = value.to_bytes(max(1, -(-value.bit_length() // 8)), "big")
    lines = [f"movs {register}, #{first}"]
    for byte in rest:
        lines += [f"lsls {register}, {register}, #8", f"adds {register}, #{byte}"]
    return lines
