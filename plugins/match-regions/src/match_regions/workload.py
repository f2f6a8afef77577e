"""The workload of a region for cost models, schedules and plans: whole tensors, and counts of operations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING, Literal

from match_core.contract.macs import node_macs
from match_core.contract.model import qualified_op
from match_core.contract.workload import Axis, Dim, Operand, Workload

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core.contract.region import Region


def region_workload(
    kind: str, region: Region, counts: Mapping[str, int] | None = None, holds: Mapping[str, int] | None = None
) -> Workload:
    """One dimension N (elements of all outputs) that is not tiled; operands ``in0``.., ``const0``.., ``out0``.. in the
    order of the region's tensors.

    Geometry, for cost models: ``elements`` of all outputs, ``nodes``, and by operator ``nodes_<Op>`` and
    ``elements_<Op>`` (of their results); ``macs_<Op>`` if it has any. ``<Op>`` is ``domain::Op`` with ``_`` for
    all characters except letters and digits. ``counts`` are added; ``holds``: bytes in memories of kind "held".
    """
    operands = [
        *(_operand(f"in{number}", "input", tensor) for number, tensor in enumerate(region.inputs)),
        *(_operand(f"const{number}", "constant", tensor) for number, tensor in enumerate(region.constants)),
        *(_operand(f"out{number}", "output", tensor) for number, tensor in enumerate(region.outputs)),
    ]
    total = max(1, sum(_elements(tensor) for tensor in region.outputs))
    return Workload(
        kind=kind,
        dims=(Dim("N", total, tileable=False),),
        operands=tuple(operands),
        macs=region.macs,
        geometry=(("elements", total), ("nodes", len(region.nodes)), *_counts(region), *(counts or {}).items()),
        holds=tuple((holds or {}).items()),
    )


def operator_field(op: str) -> str:
    """``match_nhwc__Conv`` for ``match.nhwc::Conv``: the operator's name in the names of counts."""
    return re.sub(r"[^A-Za-z0-9]", "_", op)


def _counts(region: Region) -> tuple[tuple[str, int], ...]:
    counts: dict[str, int] = {}
    for node in region.nodes:
        name = operator_field(qualified_op(node))
        elements = sum(_elements(tensor) for tensor in node.outputs if not tensor.is_empty())
        for field, count in ((f"nodes_{name}", 1), (f"elements_{name}", elements), (f"macs_{name}", node_macs(node))):
            if count:
                counts[field] = counts.get(field, 0) + count
    return tuple(sorted(counts.items()))


def element_bits(tensor: gs.Tensor) -> int:
    """Bits of one element in memory. Types that numpy lacks are ONNX numbers here."""
    import numpy as np
    from onnx.helper import tensor_dtype_to_np_dtype

    dtype = tensor.dtype
    return 8 * int((tensor_dtype_to_np_dtype(dtype) if isinstance(dtype, int) else np.dtype(dtype)).itemsize)


def _elements(tensor: gs.Tensor) -> int:
    return prod(int(size) for size in tensor.shape)


def _operand(name: str, role: Literal["input", "constant", "output"], tensor: gs.Tensor) -> Operand:
    axes = tuple(Axis(f"a{axis}", int(size)) for axis, size in enumerate(tensor.shape))
    return Operand(name, role, axes, element_bits(tensor))
