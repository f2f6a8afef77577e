"""TfIdfVectorizer on integers: the number of occurrences of each n-gram of a pool in a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.reader import shape_of

from match_host.graph import dtype_of, elements, integer, integers, numbers, text
from match_host.kernels.built import Built
from match_host.kernels.code import Code, Uses, literal, table
from match_host.kernels.scalar import scalar_type
from match_host.kernels.single import single
from match_host.kernels.work import Work

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


@dataclass(frozen=True, slots=True)
class NGram:
    """``items`` count at place ``index`` of the result."""

    items: tuple[int, ...]
    index: int


def n_grams(node: gs.Node) -> tuple[NGram, ...]:
    """The pool's n-grams of the requested lengths; the last of equal ones."""
    pool, starts = integers(node, "pool_int64s", ()), integers(node, "ngram_counts", ())
    indexes = integers(node, "ngram_indexes", ())
    shortest, longest = integer(node, "min_gram_length", 1), integer(node, "max_gram_length", 1)
    found: dict[tuple[int, ...], int] = {}
    number = 0
    for size, (start, end) in enumerate(zip(starts, (*starts[1:], len(pool)), strict=True), start=1):
        for place in range(start, end - size + 1, size):
            if shortest <= size <= longest:
                found[pool[place : place + size]] = indexes[number]
            number += 1
    return tuple(NGram(items, index) for items, index in found.items())


def build_n_grams(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """Counts per row; single items without skips, longer n-grams with up to ``max_skip_count`` items skipped between
    neighbours, the same number everywhere."""
    (node,), code = nodes, Code()
    grams, dtype = n_grams(node), dtype_of(node.inputs[0])
    *outer, length = shape_of(node.inputs[0]) or (1,)
    width, kind = shape_of(node.outputs[0])[-1], scalar_type(dtype)
    skips = integer(node, "max_skip_count", 0)
    begins = np.cumsum([0, *(len(gram.items) for gram in grams)])
    items = [literal(item, dtype) for gram in grams for item in gram.items]
    code.lines(table(kind, "pool", items))
    code.lines(table("int32_t", "begin", [str(begin) for begin in begins]))
    code.lines(table("int32_t", "place", [str(gram.index) for gram in grams]))
    weights = _weights(node)
    if weights:
        code.lines(table("float", "weight", [literal(weight, np.dtype(np.float32)) for weight in weights]))
    with code.block(f"for (int32_t i = 0; i < {elements(tuple(outer))}; i++)"):
        code.line(f"const {kind} *const row = &in0[i * {length}];")
        code.line(f"float *const counts = &out0[i * {width}];")
        with code.block(f"for (int32_t n = 0; n < {width}; n++)"):
            code.line("counts[n] = 0.0f;")
        with code.block(f"for (int32_t g = 0; g < {len(grams)}; g++)"):
            code.line("const int32_t size = begin[g + 1] - begin[g];")
            code.line(f"const int32_t furthest = size == 1 ? 1 : {skips + 1};")
            with (
                code.block("for (int32_t apart = 1; apart <= furthest; apart++)"),
                code.block(f"for (int32_t first = 0; first + (size - 1) * apart < {length}; first++)"),
            ):
                code.line("int32_t same = 0;")
                with code.block("while (same < size && row[first + same * apart] == pool[begin[g] + same])"):
                    code.line("same++;")
                code.line("counts[place[g]] += same == size ? 1.0f : 0.0f;")
        mode, weighted = text(node, "mode", "TF"), "weight[n]" if weights else "1.0f"
        if mode == "IDF" or (mode == "TFIDF" and weights):
            value = f"counts[n] > 0.0f ? {weighted} : 0.0f" if mode == "IDF" else "weight[n] * counts[n]"
            with code.block(f"for (int32_t n = 0; n < {width}; n++)"):
                code.line(f"counts[n] = {value};")
    windows = elements(tuple(outer)) * len(grams) * length * (skips + 1)
    return single(node, function, code.text, Uses(), Work(memory=3, integer=4, steps=2).times(windows))


def _weights(node: gs.Node) -> list[float]:
    """The weight of each element of the result; empty if there are none or the mode only counts."""
    weights = numbers(node, "weights")
    if text(node, "mode", "TF") == "TF" or not weights:
        return []
    width = shape_of(node.outputs[0])[-1]
    placed = [0.0] * width
    for place, weight in enumerate(weights[:width]):
        placed[place] = weight
    return placed
