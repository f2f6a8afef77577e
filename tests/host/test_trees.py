"""Ensembles of trees: random ones, in all three operators, against ONNX Runtime and the standard's evaluator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
import pytest
from host_harness import Array, Case
from match_host.operators import OPERATOR_TABLE
from match_host.rules import first_broken
from onnx.reference import ReferenceEvaluator

RNG = np.random.default_rng(29)
FEATURES, ROWS = 4, 16
MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
Run = Callable[..., list[list[Mapping[str, Array]]]]


@dataclass
class Trees:
    """Columns of nodes and weights as the older operators want them."""

    nodes: dict[str, list[Any]] = field(default_factory=dict)
    weights: dict[str, list[Any]] = field(default_factory=dict)

    def add(self, **columns: object) -> None:
        for name, value in columns.items():
            (self.nodes if name.startswith("nodes_") else self.weights).setdefault(name, []).append(value)


def grow(prefix: str, targets: int, depth: int = 3, trees: int = 3) -> dict[str, Any]:
    """Complete trees: node n has the children 2n + 1 and 2n + 2."""
    made = Trees()
    ids = "class_ids" if prefix == "class" else "target_ids"
    for tree in range(trees):
        for number in range(2 ** (depth + 1) - 1):
            leaf = number >= 2**depth - 1
            made.add(
                nodes_treeids=tree,
                nodes_nodeids=number,
                nodes_featureids=0 if leaf else int(RNG.integers(FEATURES)),
                nodes_modes="LEAF" if leaf else MODES[int(RNG.integers(len(MODES)))],
                nodes_values=0.0 if leaf else float(RNG.integers(-2, 3)),
                nodes_truenodeids=0 if leaf else 2 * number + 1,
                nodes_falsenodeids=0 if leaf else 2 * number + 2,
                nodes_missing_value_tracks_true=int(RNG.integers(2)),
            )
            for target in range(targets) if leaf else ():
                made.add(
                    **{
                        f"{prefix}_treeids": tree,
                        f"{prefix}_nodeids": number,
                        ids: target,
                        f"{prefix}_weights": float(np.float32(RNG.normal())),
                    }
                )
    return made.nodes | made.weights


def data(dtype: type = np.float32) -> Array:
    x = RNG.integers(-3, 4, (ROWS, FEATURES)).astype(dtype)
    if dtype is not np.int64:
        x[::5, 1] = np.nan
    return x


def model_of(
    op: str, x: Array, outputs: Mapping[str, tuple[int, tuple[int, ...]]], **attributes: Any
) -> onnx.ModelProto:
    helper = onnx.helper
    version = 5 if op == "TreeEnsemble" else 3
    node = helper.make_node(op, ["x"], list(outputs), domain="ai.onnx.ml", **attributes)
    given = helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
    results = [helper.make_tensor_value_info(name, *kind) for name, kind in outputs.items()]
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("ai.onnx.ml", version)]
    return helper.make_model(helper.make_graph([node], "g", [given], results), opset_imports=opsets, ir_version=10)


def regressor(x: Array, **attributes: Any) -> onnx.ModelProto:
    trees = grow("target", 2)
    outputs = {"y": (onnx.TensorProto.FLOAT, (ROWS, 2))}
    return model_of("TreeEnsembleRegressor", x, outputs, n_targets=2, **trees, **attributes)


def classifier(x: Array, **attributes: Any) -> onnx.ModelProto:
    trees = grow("class", 3)
    outputs = {"y": (onnx.TensorProto.INT64, (ROWS,)), "scores": (onnx.TensorProto.FLOAT, (ROWS, 3))}
    return model_of("TreeEnsembleClassifier", x, outputs, classlabels_int64s=[7, 2, 5], **trees, **attributes)


def ensemble(x: Array, aggregate: int) -> onnx.ModelProto:
    """Two trees whose branches ask for membership and order; leaves are shared."""
    kind = onnx.helper.np_dtype_to_tensor_dtype(x.dtype)

    def tensor(values: list[float], element: int = kind) -> onnx.TensorProto:
        return onnx.helper.make_tensor("t", element, (len(values),), values)

    return model_of(
        "TreeEnsemble",
        x,
        {"y": (kind, (ROWS, 2))},
        nodes_splits=tensor([0.0, 1.0, 0.0]),
        nodes_modes=tensor([0, 6, 3], onnx.TensorProto.UINT8),
        nodes_featureids=[0, 1, 2],
        nodes_truenodeids=[1, 0, 2],
        nodes_trueleafs=[0, 1, 1],
        nodes_falsenodeids=[1, 1, 3],
        nodes_falseleafs=[1, 1, 1],
        leaf_targetids=[0, 1, 0, 1],
        leaf_weights=tensor([1.5, -2.0, 4.0, 8.0]),
        membership_values=tensor([1.0, -1.0, float("nan")]),
        tree_roots=[0, 2],
        n_targets=2,
        aggregate_function=aggregate,
    )


def cases() -> dict[str, Case]:
    x, doubles, whole = data(), data(np.float64), data(np.int64)
    made = {
        "sum": (regressor(x), x),
        "sum over base values": (regressor(x, base_values=[0.5, -1.0]), x),
        "average": (regressor(x, aggregate_function="AVERAGE"), x),
        "least": (regressor(x, aggregate_function="MIN"), x),
        "most": (regressor(x, aggregate_function="MAX"), x),
        "classes of whole numbers": (classifier(whole), whole),
        "classes": (classifier(x), x),
        "classes, softmax": (classifier(x, post_transform="SOFTMAX"), x),
        "classes, logistic": (classifier(x, post_transform="LOGISTIC"), x),
        **{f"ensemble {aggregate}": (ensemble(doubles, aggregate), doubles) for aggregate in range(2)},
    }
    return {name: Case(model, [{"x": values}]) for name, (model, values) in made.items()}


def test_trees(run_cases: Run) -> None:
    from match_verify.reference import ReferenceRunner

    found = cases()
    for (name, case), samples in zip(found.items(), run_cases(list(found.values())), strict=True):
        feed = dict(case.samples[0])
        if name.startswith("ensemble"):
            wanted = {"y": ReferenceEvaluator(case.model).run(None, feed)[0]}
        else:
            wanted = ReferenceRunner(case.model).run(feed)
        for output, values in wanted.items():
            np.testing.assert_allclose(samples[0][output], values, rtol=1e-5, atol=1e-6, err_msg=f"{name}, {output}")


@pytest.mark.parametrize(
    ("attributes", "told"),
    [
        ({"post_transform": "PROBIT"}, "post_transform is PROBIT"),
        ({"class_ids": [1] * 72}, "3 labels"),
        ({"class_ids": [9] * 72}, "beyond 3 targets"),
        ({"nodes_featureids": [4] * 45}, "beyond 4 features"),
        ({"nodes_truenodeids": [0] * 45}, "leads back"),
        ({"nodes_truenodeids": [99] * 45}, "contradicts itself"),
        ({"nodes_values": []}, "contradicts itself"),
    ],
)
def test_what_is_refused(attributes: dict[str, Any], told: str) -> None:
    import onnx_graphsurgeon as gs

    model = classifier(data())
    node = gs.import_onnx(model).nodes[0]
    node.attrs.update(attributes)
    broken = first_broken(node, OPERATOR_TABLE["ai.onnx.ml::TreeEnsembleClassifier"].rules)
    assert broken is not None and told in broken
