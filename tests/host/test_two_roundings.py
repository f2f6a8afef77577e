"""Requantisation with two roundings in C, at the ends of all ranges and next to ties, against its definition."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from host_harness import Array, Case, expected, make_model
from match_host.kernels.elementwise.double_ops import DOUBLE_OPS
from match_host.operators import OPERATOR_TABLE

WORD = np.iinfo(np.int32)
ENDS = np.array([WORD.min, WORD.min + 1, -3, -2, -1, 0, 1, 2, 3, WORD.max - 1, WORD.max], np.int32)


def _case(kind: str, channels: int | None, seed: int) -> Case:
    random = np.random.default_rng(seed)
    shape = () if channels is None else (channels,)
    low, high = (-128, 127) if kind == "I8" else (0, 255)
    numbers = {
        "M": random.integers(1 << 30, 1 << 31, shape),
        "B": random.integers(WORD.min, WORD.max + 1, shape) >> (0 if seed % 2 else 12),
        "D": np.int64(1) << random.integers(0, 32, shape),
        "zero": np.array(random.integers(low, high + 1)),
        "lo": np.array(low),
        "hi": np.array(high),
    }
    rows = random.integers(WORD.min, WORD.max + 1, (60, channels or 7)) >> random.integers(0, 30, (60, 1))
    x = np.concatenate((rows, np.repeat(ENDS[:, None], rows.shape[1], axis=1))).astype(np.int32)
    node = onnx.helper.make_node(f"RequantDouble{kind}", ["x", *numbers], ["y"], domain="match.arith")
    model = make_model([node], {"x": x}, {name: np.asarray(value, np.int64) for name, value in numbers.items()})
    return Case(model, [{"x": x}], (OPERATOR_TABLE[f"match.arith::RequantDouble{kind}"].pattern,))


def test_c_is_the_definition(run_cases: Callable[..., list[list[dict[str, Array]]]]) -> None:
    cases = [_case(kind, channels, seed) for kind in ("I8", "U8") for channels in (None, 5) for seed in (1, 2)]
    for case, ((result,)) in zip(cases, run_cases(cases), strict=True):
        assert result["y"].tolist() == expected(case.model, case.samples[0])["y"].tolist()


@pytest.mark.parametrize(
    ("position", "value", "words"),
    [(1, 1 << 31, "the multiplier is"), (2, 1 << 31, "the addend is"), (3, 48, "the divisor is 48")],
)
def test_numbers_that_the_kernel_does_not_take(position: int, value: int, words: str) -> None:
    import onnx_graphsurgeon as gs

    numbers = [1 << 30, 5, 64, 0, -128, 127]
    numbers[position - 1] = value
    constants = [gs.Constant(f"c{n}", np.array(number, np.int64)) for n, number in enumerate(numbers)]
    x, y = gs.Variable("x", np.int32, (4,)), gs.Variable("y", np.int8, (4,))
    node = gs.Node("RequantDoubleI8", inputs=[x, *constants], outputs=[y], domain="match.arith")
    found = [rule.check(node) for rule in DOUBLE_OPS[0].rules]
    assert any(text is not None and text.startswith(words) for text in found)
