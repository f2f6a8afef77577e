"""TfIdfVectorizer: counts of n-grams with skips, and pools that would count outside of the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import onnx
import pytest
from host_harness import Array, Case, make_model
from match_host.operators import OPERATOR_TABLE
from match_host.rules import first_broken
from onnx.reference import ReferenceEvaluator

RNG = np.random.default_rng(2)
POOL = [2, 3, 5, 4, 5, 6, 7, 8, 6, 7, 5, 5, 3, 2, 3]


def vectorizer(**changed: object) -> onnx.NodeProto:
    attributes: dict[str, object] = {
        "mode": "TF",
        "min_gram_length": 1,
        "max_gram_length": 3,
        "max_skip_count": 2,
        "ngram_counts": [0, 4, 12],
        "ngram_indexes": [0, 1, 2, 3, 4, 5, 6, 7, 8],
        "pool_int64s": POOL,
    }
    return onnx.helper.make_node("TfIdfVectorizer", ["x"], ["y"], **(attributes | changed))


def test_counts(run_cases: Callable[..., list[list[Mapping[str, Array]]]]) -> None:
    weights = [0.5, 2.0, 1.0, 0.25, 3.0, 1.5, 0.0, 1.0, 7.0]
    x = RNG.integers(2, 9, (3, 40)).astype(np.int64)
    nodes = {
        "all lengths": (vectorizer(), x),
        "pairs only": (vectorizer(min_gram_length=2, max_gram_length=2), x),
        "present or not": (vectorizer(mode="IDF", weights=weights), x),
        "weighted": (vectorizer(mode="TFIDF", weights=weights), x.astype(np.int32)),
        "one row": (vectorizer(max_skip_count=0), x[0]),
    }
    cases = {name: Case(make_model([node], {"x": values}), [{"x": values}]) for name, (node, values) in nodes.items()}
    for (name, case), samples in zip(cases.items(), run_cases(list(cases.values())), strict=True):
        (wanted,) = ReferenceEvaluator(case.model).run(None, dict(case.samples[0]))
        assert wanted.any()
        np.testing.assert_array_equal(samples[0]["y"], wanted, err_msg=name)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"pool_int64s": None, "pool_strings": ["a"]}, "no integers"),
        ({"ngram_indexes": [0, 1, 2, 3, 4, 5, 6, 7, 99]}, "outside 9 elements"),
        ({"ngram_indexes": [0]}, "do not fit"),
    ],
)
def test_what_is_refused(changed: dict[str, object], told: str) -> None:
    import onnx_graphsurgeon as gs

    x = np.zeros((1, 4), np.int64)
    node = gs.import_onnx(make_model([vectorizer()], {"x": x})).nodes[0]
    node.outputs[0].shape = (1, 9)
    for name, value in changed.items():
        node.attrs.pop(name, None)
        if value is not None:
            node.attrs[name] = value
    broken = first_broken(node, OPERATOR_TABLE["TfIdfVectorizer"].rules)
    assert broken is not None and told in broken
