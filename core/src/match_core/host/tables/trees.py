"""Ensembles of decision trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.host.forest import forest_of, numbers
from match_core.host.kernels.trees import build_trees
from match_core.host.operator import Operator
from match_core.host.rules import STATIC, NodeRule, rank, types

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def _transform(node: gs.Node) -> str | None:
    kind = forest_of(node).transform
    return None if kind in ("NONE", "SOFTMAX", "LOGISTIC") else f"post_transform is {kind}"


def _classes(node: gs.Node) -> str | None:
    if not node.op.endswith("Classifier"):
        return None
    labels, ids = len(numbers(node, "classlabels_int64s")), len(set(numbers(node, "class_ids")))
    return None if labels > 1 and ids > 1 else f"{labels} labels are integers, {ids} classes have weights"


_RULES = (
    NodeRule("transform", "post_transform is NONE, SOFTMAX or LOGISTIC", _transform),
    NodeRule("classes", "labels are integers, and several classes have weights of their own", _classes),
)

TREES: tuple[Operator, ...] = tuple(
    Operator(
        f"ai.onnx.ml::{name}",
        "trees",
        (STATIC, rank(2), types(("float32", "float64", "int32", "int64"), 0), *_RULES),
        build_trees,
    )
    for name in ("TreeEnsemble", "TreeEnsembleRegressor", "TreeEnsembleClassifier")
)
