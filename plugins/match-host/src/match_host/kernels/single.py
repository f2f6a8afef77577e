"""Makes the kernel of one node from its body."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from match_core.contract.model import qualified_op
from match_core.ir.reader import optional_input, shape_of

from match_host.kernels.built import Built
from match_host.kernels.code import Uses, inline_code
from match_host.kernels.work import Work

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def single(
    node: gs.Node, function: str, text: str, uses: Uses, work: Work, used: Sequence[int] = (0,), scratch_bytes: int = 0
) -> Built:
    """``text`` is the C body. ``used``: positions of the inputs that it reads, as ``in0``, ``in1``, ... in that order;
    omitted inputs are skipped. The body writes all outputs."""
    arguments = tuple(tensor for index in used if (tensor := optional_input(node, index)) is not None)
    sizes = ["x".join(map(str, shape_of(tensor))) or "scalar" for tensor in (*node.inputs[:1], node.outputs[0])]
    name = qualified_op(node).rsplit("::", 1)[-1]
    comment = f"{name}: {' to '.join(sizes)}"
    code = inline_code(function, comment, arguments, node.outputs, text, uses, scratch_bytes=scratch_bytes)
    return Built(arguments, code, work)


def names_of(node: gs.Node, used: Sequence[int]) -> dict[int, str]:
    """The C name of each existing input in ``used``."""
    there = [index for index in used if optional_input(node, index) is not None]
    return {index: f"in{position}" for position, index in enumerate(there)}
