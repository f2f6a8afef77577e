"""Ensembles of decision trees (``ai.onnx.ml``) in one form for all operators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from match_host.graph import attribute, integer, numbers, text

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: C conditions on ``x`` and ``split`` by mode; the last one searches a list of members.
MODES = ("x <= split", "x < split", "x >= split", "x > split", "x == split", "x != split", "member")
MEMBER = 6
_NAMES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")
TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")


@dataclass(frozen=True, slots=True)
class Branch:
    """``yes`` and ``no`` are numbers of branches, or -1 - n for leaf n. ``missing``: NaN follows the branch ``yes``."""

    feature: int
    mode: int
    split: float
    yes: int
    no: int
    missing: bool
    members: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Forest:
    """``roots`` are numbers as in :class:`Branch`; a leaf adds weights to targets; ``base`` is added at the end."""

    branches: tuple[Branch, ...]
    leaves: tuple[tuple[tuple[int, float], ...], ...]
    roots: tuple[int, ...]
    targets: int
    aggregate: str
    transform: str
    base: tuple[float, ...] = ()


def _integers(node: gs.Node, name: str) -> list[int]:
    return [int(value) for value in numbers(node, name)]


def forest_of(node: gs.Node) -> Forest:
    """The ensemble that a node describes. ValueError if the description contradicts itself."""
    return _ensemble(node) if node.op == "TreeEnsemble" else _older(node)


def _ensemble(node: gs.Node) -> Forest:
    """``TreeEnsemble``: lists of branches and leaves."""
    modes, splits = _integers(node, "nodes_modes"), numbers(node, "nodes_splits")
    yes, no = _integers(node, "nodes_truenodeids"), _integers(node, "nodes_falsenodeids")
    yes_leaf, no_leaf = _integers(node, "nodes_trueleafs"), _integers(node, "nodes_falseleafs")
    features = _integers(node, "nodes_featureids")
    missing = _integers(node, "nodes_missing_value_tracks_true") or [0] * len(modes)
    members = _members(numbers(node, "membership_values"), modes)
    branches = tuple(
        Branch(
            features[i],
            modes[i],
            splits[i],
            -1 - yes[i] if yes_leaf[i] else yes[i],
            -1 - no[i] if no_leaf[i] else no[i],
            bool(missing[i]),
            members[i],
        )
        for i in range(len(modes))
    )
    pairs = zip(_integers(node, "leaf_targetids"), numbers(node, "leaf_weights"), strict=True)
    aggregate = AGGREGATES[integer(node, "aggregate_function", 1)]
    transform = TRANSFORMS[integer(node, "post_transform", 0)]
    targets = integer(node, "n_targets", 1)
    leaves = tuple((pair,) for pair in pairs)
    return Forest(branches, leaves, tuple(_integers(node, "tree_roots")), targets, aggregate, transform)


def _members(values: Sequence[float], modes: Sequence[int]) -> list[tuple[float, ...]]:
    """Each member list ends with NaN."""
    lists: list[tuple[float, ...]] = [()]
    for value in values:
        if np.isnan(value):
            lists.append(())
        else:
            lists[-1] += (value,)
    rest = iter(lists)
    return [next(rest) if mode == MEMBER else () for mode in modes]


def _older(node: gs.Node) -> Forest:
    """``TreeEnsembleRegressor`` and ``TreeEnsembleClassifier``: leaves are nodes, found by numbers of tree and node."""
    prefix, targets = ("class", "class_ids") if node.op.endswith("Classifier") else ("target", "target_ids")
    weights: dict[tuple[int, int], list[tuple[int, float]]] = {}
    columns = (f"{prefix}_treeids", f"{prefix}_nodeids", targets)
    values = numbers(node, f"{prefix}_weights") or numbers(node, f"{prefix}_weights_as_tensor")
    for tree, number, target, weight in zip(*(_integers(node, name) for name in columns), values, strict=True):
        weights.setdefault((tree, number), []).append((target, weight))
    keys = list(zip(_integers(node, "nodes_treeids"), _integers(node, "nodes_nodeids"), strict=True))
    modes = [mode.decode() if isinstance(mode, bytes) else str(mode) for mode in _texts(node, "nodes_modes")]
    places: dict[tuple[int, int], int] = {}
    leaves: list[tuple[tuple[int, float], ...]] = []
    inner = 0
    for key, mode in zip(keys, modes, strict=True):
        if mode == "LEAF":
            leaves.append(tuple(weights.get(key, ())))
            places[key] = -len(leaves)
        else:
            places[key] = inner
            inner += 1
    splits = numbers(node, "nodes_values") or numbers(node, "nodes_values_as_tensor")
    missing = numbers(node, "nodes_missing_value_tracks_true") or [0.0] * len(keys)
    columns = ("nodes_featureids", "nodes_truenodeids", "nodes_falsenodeids")
    features, yes, no = (_integers(node, name) for name in columns)
    branches = tuple(
        Branch(
            features[i],
            _NAMES.index(mode),
            splits[i],
            places[keys[i][0], yes[i]],
            places[keys[i][0], no[i]],
            bool(missing[i]),
        )
        for i, mode in enumerate(modes)
        if mode != "LEAF"
    )
    roots: dict[int, int] = {}
    for key in keys:
        roots.setdefault(key[0], places[key])
    labels = numbers(node, "classlabels_int64s") or _texts(node, "classlabels_strings")
    return Forest(
        branches,
        tuple(leaves),
        tuple(roots[tree] for tree in sorted(roots)),
        len(labels) if prefix == "class" else integer(node, "n_targets", 1),
        text(node, "aggregate_function", "SUM"),
        text(node, "post_transform", "NONE"),
        tuple(numbers(node, "base_values") or numbers(node, "base_values_as_tensor")),
    )


def _texts(node: gs.Node, name: str) -> list[object]:
    values = attribute(node, name, ())
    return list(values)  # type: ignore[call-overload, no-any-return]  # attributes are objects
