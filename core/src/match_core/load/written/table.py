"""The operators that have bodies in this package."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from match_core.contract.errors import ModelError
from match_core.ir.naming import comment_text
from match_core.ir.qoperator import MICROSOFT
from match_core.load.written.machine_learning import MACHINE_LEARNING
from match_core.load.written.microsoft import MICROSOFT_BODIES
from match_core.load.written.standard import STANDARD, needs_body
from match_core.load.written.training import TRAINING
from match_core.load.written.writer import Array, UnknownFormError, Writer

if TYPE_CHECKING:
    import onnx

#: Functions that write the body of a node, by domain and operator.
WRITERS: Mapping[tuple[str, str], Callable[[Writer], None]] = {
    **{("ai.onnx.ml", name): write for name, write in MACHINE_LEARNING.items()},
    **{("ai.onnx.preview.training", name): write for name, write in TRAINING.items()},
    **{(MICROSOFT, name): write for name, write in MICROSOFT_BODIES.items()},
    **{("", name): write for name, write in STANDARD.items()},
}
#: Operators of other domains that have a kernel.
KERNELS = frozenset(("ai.onnx.ml", f"TreeEnsemble{kind}") for kind in ("", "Regressor", "Classifier"))


def is_known(domain: str, op: str) -> bool:
    """Whether an operator of a non-default domain has a body here, or a kernel."""
    return bool(domain) and ((domain, op) in WRITERS or (domain, op) in KERNELS)


def may_have_body(node: onnx.NodeProto) -> bool:
    """Whether the operator has a body here, and its node needs one."""
    domain = "" if node.domain == "ai.onnx" else node.domain
    return (domain, node.op_type) in WRITERS and (bool(domain) or needs_body(node))


def written_body(
    node: onnx.NodeProto,
    types: Mapping[str, onnx.TypeProto],
    values: Mapping[str, Array],
    opsets: Sequence[onnx.OperatorSetIdProto],
    where: str,
) -> onnx.FunctionProto | None:
    """The body of a node; None if the operator has none or needs none, and for forms of standard operators that only a
    kernel could support. ``where``: the node's place, for errors.

    Errors: ModelError MATCH-F009 (an operator of another domain in an unsupported form).
    """
    if not may_have_body(node):
        return None
    write = WRITERS["" if node.domain == "ai.onnx" else node.domain, node.op_type]
    opset = max((entry.version for entry in opsets if entry.domain in ("", "ai.onnx")), default=1)
    writer = Writer(node, types, values, opset)
    try:
        write(writer)
    except (UnknownFormError, IndexError, KeyError, TypeError, ValueError) as error:  # attributes may be anything
        if not node.domain or node.domain == "ai.onnx":
            return None  # units report what they require
        raise ModelError(
            "MATCH-F009",
            f"this form of {comment_text(f'{node.domain}::{node.op_type}')} is not supported",
            where,
            str(error) or "its attributes contradict each other",
            ("replace the operator with standard ones", "or define it as a local function in the model"),
        ) from error
    return writer.function()
