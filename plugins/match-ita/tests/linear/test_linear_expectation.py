"""What is expected of a tensor against what comes out of random inputs."""

from __future__ import annotations

import numpy as np
import onnx_graphsurgeon as gs
import pytest
from ita_small_models import finish, linear, random_int8, reshape, results, start, table
from match_core.ir.editor import Editor
from match_ita.passes.linear_expectation import expected

RANDOM = np.random.default_rng(17)


def dense(editor: Editor, x: gs.Tensor, name: str) -> gs.Variable:
    weight = RANDOM.integers(-127, 128, (64, 64))
    addend = np.rint((RANDOM.normal(20, 15, (1, 64)) + 0.5) * 2**31).astype(np.int64)
    return linear(editor, x, weight, round(25 / (8 * 74 * 74) * 2**31), addend, 2**31, name=name)


def added(editor: Editor, a: gs.Tensor, b: gs.Tensor) -> gs.Variable:
    values = {"Ma": 3, "Mb": 2, "B": 40, "D": 4, "lo": -128, "hi": 127}
    given = [editor.constant(f"add_{key}", np.array(value, np.int64)) for key, value in values.items()]
    return editor.node("match.arith::AddRequantI8", [a, b, *given], np.int8, a.shape, name="add", origin=("add",))


def normalised(editor: Editor, x: gs.Tensor) -> gs.Variable:
    """Layer normalisation to a spread of 20 to 40 around 5."""
    spread = np.linspace(20, 40, 64)
    multiplier = np.rint(spread * 2.0**16 * 8 * np.sqrt(64)).astype(np.int64)
    values = {"M": multiplier, "B": round(5.5 * 2**16), "D": 2**16, "E": 1, "lo": -128, "hi": 127}
    given = [editor.constant(f"norm_{key}", np.array(value, np.int64)) for key, value in values.items()]
    op = "match.arith::LayerNormRequantI8"
    return editor.node(op, [x, *given], np.int8, x.shape, name="norm", origin=("norm",))


@pytest.mark.parametrize("kind", ["linear", "table", "sum", "normalisation", "turned"])
def test_mean_and_spread(kind: str) -> None:
    editor, x = start((4000, 64))
    y = dense(editor, x, "first")
    if kind == "table":
        y = table(editor, y, np.maximum(np.arange(-128, 128), 0) - 100)
    elif kind == "sum":
        y = added(editor, y, dense(editor, x, "second"))
    elif kind == "normalisation":
        y = normalised(editor, y)
    elif kind == "turned":
        y = reshape(editor, y, (64000, 4), "r")
    model = finish(editor, y)
    values = results(model, {"x": random_int8((4000, 64), 3)})
    (output,) = model.graph.outputs
    found = expected(output, ()).per_channel(values.shape[1], -1)
    whole = found.merged()
    assert abs(float(whole.sd[0]) / values.std() - 1) < 0.1
    assert abs(float(whole.mean[0]) - values.mean()) < 2
    if kind in ("linear", "table"):  # the terms of a sum, and values around a row's mean, are not independent
        assert float(np.abs(found.sd / values.std(axis=0) - 1).max()) < 0.15
        assert float(np.abs(found.mean - values.mean(axis=0)).max()) < 4


def test_what_is_not_understood_is_uniform() -> None:
    _, x = start((4, 64))
    found = expected(x, ())
    assert float(found.sd[0]) == pytest.approx(73.9, abs=0.1)
