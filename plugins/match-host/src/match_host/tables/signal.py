"""Operators on signals and on rows of words: Fourier transforms, windows, mel filters, n-grams."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.node_rule import NodeRule
from match_core.ir.reader import shape_of

from match_host.graph import integers
from match_host.kernels.movement.indexed import INDEX_TYPES
from match_host.kernels.scalar import ANY_FLOATS, NUMBERS, SMALL
from match_host.kernels.sequence.n_grams import build_n_grams, n_grams
from match_host.kernels.sequence.spectral import build_dft, build_stft
from match_host.kernels.sequence.windows import WINDOWS, build_mel_weights, build_window
from match_host.operator import Operator
from match_host.rules import STATIC, rank, result_types, types

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def _pool(node: gs.Node) -> str | None:
    if not integers(node, "pool_int64s", ()):
        return "the pool has no integers"
    width = shape_of(node.outputs[0])[-1]
    try:
        inside = all(0 <= gram.index < width and gram.items for gram in n_grams(node))
    except (IndexError, ValueError):
        return "counts and indexes do not fit the pool"
    return None if inside else f"the index of an n-gram is outside {width} elements"


POOL = NodeRule("pool", "n-grams are integers, and their indices lie inside the result", _pool)

SIGNAL: tuple[Operator, ...] = (
    Operator("DFT", "signal", (STATIC, types(ANY_FLOATS, 0), types(INDEX_TYPES, 1, 2)), build_dft),
    Operator("STFT", "signal", (STATIC, types(ANY_FLOATS, 0), types(INDEX_TYPES, 1, 3)), build_stft),
    *(Operator(name, "signal", (STATIC, result_types((*NUMBERS, *SMALL))), build_window) for name in WINDOWS),
    Operator(
        "MelWeightMatrix",
        "signal",
        (STATIC, types(INDEX_TYPES, 0, 1, 2), types(ANY_FLOATS, 3, 4), result_types((*NUMBERS, *SMALL))),
        build_mel_weights,
    ),
    Operator("TfIdfVectorizer", "signal", (STATIC, rank(0, 1, 2), types(INDEX_TYPES, 0), POOL), build_n_grams),
)
