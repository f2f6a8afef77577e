"""Standard operators that programs do not support, each with the reason and an alternative."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from match_core.contract.errors import ModelError
from match_core.ir.naming import comment_text

if TYPE_CHECKING:
    import onnx


_DISTRIBUTIONS = ("Normal", "NormalLike", "Uniform", "UniformLike")
#: Operators whose results are no function of their inputs.
RANDOM = frozenset(("Bernoulli", "Multinomial", *(f"Random{kind}" for kind in _DISTRIBUTIONS)))


@dataclass(frozen=True, slots=True)
class _Kind:
    what: str
    why: str
    help: str


_RANDOM = _Kind(
    "draws random numbers",
    "the standard does not define the generator, even with a seed, so results cannot be checked",
    "draw the numbers outside the model and pass them as an input",
)
_TEXT = _Kind(
    "works on text",
    "tensors of a compiled program hold numbers",
    "convert the text to numbers first and pass them to the model",
)
_MAP = _Kind("works on maps", "tensors of a compiled program hold numbers", "use tensors of numbers instead")
_GRADIENT = _Kind(
    "computes derivatives of a graph",
    "the compiler does not differentiate graphs",
    "export the model with the operators of the gradient",
)

_KINDS: Mapping[tuple[str, str], _Kind] = {
    **{("", name): _RANDOM for name in RANDOM},
    **{("", name): _TEXT for name in ("RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit")},
    ("ai.onnx.ml", "CategoryMapper"): _TEXT,
    **{("ai.onnx.ml", name): _MAP for name in ("CastMap", "DictVectorizer", "ZipMap")},
    ("ai.onnx.preview.training", "Gradient"): _GRADIENT,
}


def refuse_without_program(node: onnx.NodeProto, where: str) -> None:
    """Errors: ModelError MATCH-F019 if the operator is one of these."""
    kind = _KINDS.get(("" if node.domain == "ai.onnx" else node.domain, node.op_type))
    if kind is None:
        return
    raise ModelError(
        "MATCH-F019", f"{comment_text(node.op_type)} {kind.what}, which is not supported", where, kind.why, (kind.help,)
    )
