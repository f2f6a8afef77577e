"""Which inputs a kernel's result may overwrite, because nothing of them is read later."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from match_core.contract.element_types import c_type
from match_core.contract.unit_api import Overwrite
from match_core.ir.reader import shape_of
from match_core.ir.topology import is_constant

from match_host.graph import dtype_of, elements

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def element_by_element(read: Iterable[gs.Tensor], result: gs.Tensor) -> tuple[Overwrite, ...]:
    """The overlaps of a kernel that reads element i of each of these tensors before it writes element i of the result,
    and no other element of them later. Wider results begin before the input, so that its end is written last."""
    wide = dtype_of(result).itemsize
    return tuple(
        Overwrite(tensor.name, result.name, max(0, elements(shape_of(result)) * (wide - dtype_of(tensor).itemsize)))
        for tensor in {tensor.name: tensor for tensor in read}.values()
        if may_alias(tensor, result)
    )


def may_alias(tensor: gs.Tensor, result: gs.Tensor) -> bool:
    """Whether C lets the two types share bytes: a compiler may reorder accesses of different types otherwise."""
    types = {c_type(dtype_of(tensor)), c_type(dtype_of(result))}
    return not is_constant(tensor) and (len(types) == 1 or bool(types & {"int8_t", "uint8_t"}))
