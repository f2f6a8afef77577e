"""Which operators have bodies of ours, and asking for one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from match_core.errors import ModelError
from match_core.frontend.written.machine_learning import MACHINE_LEARNING
from match_core.frontend.written.microsoft import MICROSOFT_BODIES
from match_core.frontend.written.standard import STANDARD, needs_body
from match_core.frontend.written.training import TRAINING
from match_core.frontend.written.writer import Array, UnknownFormError, Writer
from match_core.ir.naming import comment_text
from match_core.ir.qoperator import MICROSOFT

if TYPE_CHECKING:
    import onnx

#: What writes the body of a node, by domain and operator.
WRITERS: Mapping[tuple[str, str], Callable[[Writer], None]] = {
    **{("ai.onnx.ml", name): write for name, write in MACHINE_LEARNING.items()},
    **{("ai.onnx.preview.training", name): write for name, write in TRAINING.items()},
    **{(MICROSOFT, name): write for name, write in MICROSOFT_BODIES.items()},
    **{("", name): write for name, write in STANDARD.items()},
}
#: Operators of other domains that have a kernel.
KERNELS = frozenset(
    ("ai.onnx.ml", name) for name in ("TreeEnsemble", "TreeEnsembleRegressor", "TreeEnsembleClassifier")
)


def is_known(domain: str, op: str) -> bool:
    """Whether an operator of another domain than the default one has a body here, or a kernel."""
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
    """The body of a node; None where the operator has none or needs none, and for forms of standard operators that only
    a kernel could take. ``where``: the node's place, for errors.

    Errors: ModelError MATCH-F009 (an operator of another domain in a form that is not known).
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
            return None  # units tell what they want of it
        raise ModelError(
            "MATCH-F009",
            f"this form of {comment_text(f'{node.domain}::{node.op_type}')} is not known",
            where,
            str(error) or "its attributes contradict each other",
            ("replace the operator by standard ones", "or give it a body: a local function in the model"),
        ) from error
    return writer.function()
