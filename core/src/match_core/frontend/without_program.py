"""Operators of the standard that no program holds, each with why and what to do instead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from match_core.errors import ModelError
from match_core.ir.naming import comment_text

if TYPE_CHECKING:
    import onnx


@dataclass(frozen=True, slots=True)
class _Kind:
    what: str
    why: str
    help: str


_RANDOM = _Kind(
    "draws random numbers",
    "the standard fixes no generator, also where a seed is given, so that no result can be checked",
    "draw the numbers outside of the model and give them to it as an input",
)
_IMAGE = _Kind(
    "decodes a file of an image",
    "decoders of JPEG, PNG and others are no part of a network's program",
    "decode the image before, and give its pixels to the model",
)
_TEXT = _Kind(
    "works on text",
    "tensors of a program hold numbers",
    "turn text into numbers before, and give them to the model",
)
_MAP = _Kind("works on maps", "tensors of a program hold numbers", "give and take tensors of numbers instead")
_GRADIENT = _Kind(
    "stands for derivatives of a graph",
    "what is derived is not differentiated here",
    "export the model with the gradient's own operators",
)

_KINDS: Mapping[tuple[str, str], _Kind] = {
    **{
        ("", name): _RANDOM
        for name in (
            "Bernoulli",
            "Multinomial",
            "RandomNormal",
            "RandomNormalLike",
            "RandomUniform",
            "RandomUniformLike",
        )
    },
    ("", "ImageDecoder"): _IMAGE,
    **{("", name): _TEXT for name in ("RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit")},
    ("ai.onnx.ml", "CategoryMapper"): _TEXT,
    **{("ai.onnx.ml", name): _MAP for name in ("CastMap", "DictVectorizer", "ZipMap")},
    ("ai.onnx.preview.training", "Gradient"): _GRADIENT,
}


def refuse_without_program(node: onnx.NodeProto, where: str) -> None:
    """Errors: ModelError MATCH-F019 where the operator is one of these."""
    kind = _KINDS.get(("" if node.domain == "ai.onnx" else node.domain, node.op_type))
    if kind is None:
        return
    raise ModelError(
        "MATCH-F019", f"{comment_text(node.op_type)} {kind.what}, which no program does", where, kind.why, (kind.help,)
    )
