"""Ensembles of decision trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.node_rule import NodeRule
from match_core.ir.reader import shape_of

from match_host.forest import Forest, forest_of
from match_host.graph import numbers
from match_host.kernels.sequence.trees import build_trees
from match_host.operator import Operator
from match_host.rules import STATIC, rank, types

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def _sound(node: gs.Node) -> str | None:
    """The reason why a walk could leave the tables or never end; None if there is none."""
    try:
        forest = forest_of(node)
    except (IndexError, KeyError, ValueError) as error:
        return f"the description contradicts itself ({type(error).__name__})"
    branches, leaves = len(forest.branches), len(forest.leaves)
    features = shape_of(node.inputs[0])[-1]
    steps = (*forest.roots, *(step for branch in forest.branches for step in (branch.yes, branch.no)))
    if any(not -leaves <= step < branches for step in steps):
        return "a branch leads nowhere"
    if any(not 0 <= branch.feature < features for branch in forest.branches):
        return f"a branch reads beyond {features} features"
    if any(not 0 <= target < forest.targets for leaf in forest.leaves for target, _ in leaf):
        return f"a leaf adds beyond {forest.targets} targets"
    if len(forest.base) not in (0, 1, forest.targets):
        return f"there are {len(forest.base)} base values"
    return "a branch leads back to itself" if _circles(forest) else None


def _circles(forest: Forest) -> bool:
    """Whether branches have a cycle: some remain after all that lead only to finished branches are removed."""
    readers: dict[int, list[int]] = {}
    for number, branch in enumerate(forest.branches):
        for step in (branch.yes, branch.no):
            readers.setdefault(step, []).append(number)
    waits = [sum(step >= 0 for step in (branch.yes, branch.no)) for branch in forest.branches]
    done = [number for number, count in enumerate(waits) if not count]
    for number in done:  # grows during the loop
        for reader in readers.get(number, ()):
            waits[reader] -= 1
            if not waits[reader]:
                done.append(reader)
    return len(done) < len(forest.branches)


def _transform(node: gs.Node) -> str | None:
    try:
        kind = forest_of(node).transform
    except (IndexError, KeyError, ValueError):
        return None  # another rule reports this
    return None if kind in ("NONE", "SOFTMAX", "LOGISTIC") else f"post_transform is {kind}"


def _classes(node: gs.Node) -> str | None:
    if not node.op.endswith("Classifier"):
        return None
    labels, ids = len(numbers(node, "classlabels_int64s")), len(set(numbers(node, "class_ids")))
    return None if labels > 1 and ids > 1 else f"{labels} labels are integers, {ids} classes have weights"


_RULES = (
    NodeRule("sound", "every walk through the trees ends at a leaf, and reads and writes inside", _sound),
    NodeRule("transform", "post_transform is NONE, SOFTMAX or LOGISTIC", _transform),
    NodeRule("classes", "labels are integers, and several classes have their own weights", _classes),
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
