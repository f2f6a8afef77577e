"""Ensembles of decision trees: tables of branches and leaves, one walk per tree and row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.reader import shape_of

from match_host.forest import MEMBER, MODES, Forest, forest_of
from match_host.graph import dtype_of, elements, numbers
from match_host.kernels.built import Built
from match_host.kernels.code import Code, Uses, literal, table
from match_host.kernels.reduction.pool import highest, lowest
from match_host.kernels.scalar import real_function, scalar_type
from match_host.kernels.single import single
from match_host.kernels.work import Work

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def build_trees(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """TreeEnsemble, TreeEnsembleRegressor and TreeEnsembleClassifier."""
    (node,), code, uses = nodes, Code(), Uses()
    forest, classifies = forest_of(node), node.op.endswith("Classifier")
    rows, features = shape_of(node.inputs[0])
    dtype = dtype_of(node.outputs[1 if classifies else 0])
    source = dtype_of(node.inputs[0])
    read = source if source.kind == "f" else np.dtype(np.float32)
    scores = "out1" if classifies else "out0"
    _tables(forest, read, dtype, code)
    if classifies:
        code.lines(table("int64_t", "label", [str(int(v)) for v in numbers(node, "classlabels_int64s")]))
    kind, count = scalar_type(dtype), forest.targets
    with code.block(f"for (int32_t i = 0; i < {rows}; i++)"):
        code.line(f"{kind} *const score = &{scores}[i * {count}];")
        with code.block(f"for (int32_t n = 0; n < {count}; n++)"):
            code.line(f"score[n] = {_start(forest, dtype)};")
        with code.block(f"for (int32_t tree = 0; tree < {len(forest.roots)}; tree++)"):
            code.line("int32_t at = root[tree];")
            if forest.branches:
                _walk(forest, features, read, source, code)
            with code.block("for (int32_t k = leaf[-1 - at]; k < leaf[-at]; k++)"):
                code.line(f"{kind} *const total = &score[target[k]];")
                code.line(f"*total = {_joined(forest, dtype)};")
        _finish(forest, dtype, code, uses)
        if classifies:
            code.line("int32_t best = 0;")
            with code.block(f"for (int32_t n = 1; n < {count}; n++)"):
                code.line("best = score[n] > score[best] ? n : best;")
            code.line("out0[i] = label[best];")
    depth = max(1, len(forest.branches).bit_length())
    work = Work(memory=6, floating=1, integer=4, steps=1).times(rows * len(forest.roots) * depth)
    work += Work(memory=2, floating=2, steps=2).times(elements(shape_of(node.outputs[-1])))
    return single(node, function, code.text, uses, work)


def _tables(forest: Forest, read: np.dtype[np.generic], dtype: np.dtype[np.generic], code: Code) -> None:
    """Write the tables: branches by number, the first weight of each leaf, and the weights."""
    branches, kind = forest.branches, scalar_type(read)
    code.lines(table("int32_t", "root", [str(root) for root in forest.roots]))
    if branches:
        code.lines(table("int32_t", "feature", [str(branch.feature) for branch in branches]))
        code.lines(table(kind, "splits", [literal(branch.split, read) for branch in branches]))
        code.lines(table("int32_t", "yes", [str(branch.yes) for branch in branches]))
        code.lines(table("int32_t", "no", [str(branch.no) for branch in branches]))
        if len({branch.mode for branch in branches}) > 1:
            code.lines(table("uint8_t", "mode", [str(branch.mode) for branch in branches]))
        if any(branch.missing for branch in branches):
            code.lines(table("uint8_t", "missing", [str(int(branch.missing)) for branch in branches]))
        if any(branch.mode == MEMBER for branch in branches):
            begins = np.cumsum([0, *(len(branch.members) for branch in branches)])
            code.lines(table("int32_t", "begin", [str(begin) for begin in begins]))
            code.lines(table(kind, "members", [literal(value, read) for b in branches for value in b.members]))
    starts = np.cumsum([0, *(len(leaf) for leaf in forest.leaves)])
    code.lines(table("int32_t", "leaf", [str(start) for start in starts]))
    code.lines(table("int32_t", "target", [str(target) for leaf in forest.leaves for target, _ in leaf]))
    weights = [literal(weight, dtype) for leaf in forest.leaves for _, weight in leaf]
    code.lines(table(scalar_type(dtype), "weight", weights))
    if any(forest.base):
        code.lines(table(scalar_type(dtype), "base", [literal(value, dtype) for value in forest.base]))


def _walk(forest: Forest, features: int, read: np.dtype[np.generic], source: np.dtype[np.generic], code: Code) -> None:
    kind, modes = scalar_type(read), sorted({branch.mode for branch in forest.branches})
    with code.block("while (at >= 0)"):
        cast = "" if source.kind == "f" else f"({kind})"
        code.line(f"const {kind} x = {cast}in0[i * {features} + feature[at]];")
        if any(mode != MEMBER for mode in modes):
            code.line(f"const {kind} split = splits[at];")
        if MEMBER in modes:
            code.line("bool member = false;")
            with code.block("for (int32_t k = begin[at]; k < begin[at + 1]; k++)"):
                code.line("member = member || x == members[k];")
        condition = MODES[modes[-1]]
        for mode in modes[-2::-1]:
            condition = f"mode[at] == {mode} ? {MODES[mode]} : {condition}"
        if any(branch.missing for branch in forest.branches):
            condition = f"x != x && missing[at] != 0 ? true : {condition}"
        code.line(f"const bool taken = {condition};")
        code.line("at = taken ? yes[at] : no[at];")


def _start(forest: Forest, dtype: np.dtype[np.generic]) -> str:
    return {"MIN": highest(dtype), "MAX": lowest(dtype)}.get(forest.aggregate, literal(0, dtype))


def _joined(forest: Forest, dtype: np.dtype[np.generic]) -> str:
    if forest.aggregate in ("MIN", "MAX"):
        symbol = "<" if forest.aggregate == "MIN" else ">"
        return f"weight[k] {symbol} *total ? weight[k] : *total"
    by = f" / {literal(len(forest.roots), dtype)}" if forest.aggregate == "AVERAGE" else ""
    return f"*total + weight[k]{by}"


def _finish(forest: Forest, dtype: np.dtype[np.generic], code: Code, uses: Uses) -> None:
    """Add base values, then transform the scores of a row."""
    count, kind = forest.targets, scalar_type(dtype)
    if any(forest.base):
        with code.block(f"for (int32_t n = 0; n < {count}; n++)"):
            code.line(f"score[n] += base[{'n' if len(forest.base) > 1 else '0'}];")
    if forest.transform == "NONE":
        return
    exp, one = real_function("exp", dtype, uses), literal(1, dtype)
    if forest.transform == "LOGISTIC":
        with code.block(f"for (int32_t n = 0; n < {count}; n++)"):
            code.line(f"score[n] = {one} / ({one} + {exp}(-score[n]));")
        return
    code.line(f"{kind} top = score[0], sum = {literal(0, dtype)};")
    with code.block(f"for (int32_t n = 1; n < {count}; n++)"):
        code.line("top = score[n] > top ? score[n] : top;")
    with code.block(f"for (int32_t n = 0; n < {count}; n++)"):
        code.line(f"score[n] = {exp}(score[n] - top);")
        code.line("sum += score[n];")
    with code.block(f"for (int32_t n = 0; n < {count}; n++)"):
        code.line("score[n] /= sum;")
