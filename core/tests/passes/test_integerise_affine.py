"""Multiplication by and addition of constant tensors: one Requant on the 8-bit tensor, chains as one where only
roundings inside are left out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from match_core.contract.hardware import RequantSpec, Unit
from match_core.contract.model import Model
from match_core.contract.passes import PassContext
from match_verify.reference import ReferenceRunner
from numpy.typing import NDArray
from quantised import FLOAT_FORM, compare, count, lower, ops, parameters

from tests.examples import examples

INT8 = np.dtype(np.int8)
Make = Callable[..., Model]
Context = Callable[..., PassContext]


def requants(model: Model) -> int:
    return count(model, "RequantU8") + count(model, "RequantI8")


@pytest.fixture
def signed(soc_of: Context) -> PassContext:
    """int8 activations, wide products, multipliers of both signs."""
    return soc_of(Unit("core", "", "L2", None, RequantSpec(32, True, 63, 0, 62, activation_type="int8")))


def constants_of(
    seed: int, shape: tuple[int, ...] = (1, 7, 12), scale: float = 0.01234
) -> dict[str, NDArray[np.generic]]:
    """``x`` with the parameters xs, xz; ``v``: a stored vector with factors of both signs, and a float one of the
    last axis; ``t``: a tensor of the shape."""
    generator = np.random.default_rng(seed)
    vector = generator.integers(-128, 128, 12).astype(np.int8)
    vector[3] = 0
    return {
        **parameters("x", 0.0307, -9, INT8),
        **parameters("y", 0.04, 5, INT8),
        **parameters("v", scale, 0, INT8),
        "v": vector,
        "f": generator.uniform(0.3, 1.4, 12).astype(np.float32),
        "t": generator.normal(0, 1, shape).astype(np.float32),
        "c": np.array(0.7, np.float32),
    }


SINGLE = (
    "r = Mul (xf, vf)",
    "r = Mul (vf, xf)",
    "r = Add (xf, vf)",
    "r = Sub (xf, vf)",
    "r = Sub (vf, xf)",
    "r = Div (xf, f)",
    "r = Add (xf, t)",
    "m = Mul (xf, vf)  r = Add (m, t)",
    "m = Mul (xf, c)  r = Add (m, vf)",
    "m = Add (xf, vf)  n = Mul (m, f)  r = Relu (n)",
)


@pytest.mark.parametrize("nodes", SINGLE)
@pytest.mark.parametrize("soc", ["accelerated", "signed"])
def test_one_requant_without_an_accumulator(
    model_of: Make, request: pytest.FixtureRequest, soc: str, nodes: str
) -> None:
    text = f"""g (int8[1,7,12] x) => (int8[1,7,12] y) {{
        xf = DequantizeLinear (x, xs, xz)  vf = DequantizeLinear (v, vs, vz)
        {nodes}  y = QuantizeLinear (r, ys, yz) }}"""
    model = model_of(text, constants_of(1))
    lowered = lower(model, request.getfixturevalue(soc))
    assert not ops(lowered) & FLOAT_FORM
    assert requants(lowered) == 1
    compare(model, lowered)


@pytest.mark.parametrize("layout", ["accelerated", "signed"])
def test_per_channel_of_an_image(model_of: Make, request: pytest.FixtureRequest, layout: str) -> None:
    """Constants along another axis than the last, next to a convolution whose layout changes."""
    generator = np.random.default_rng(6)
    constants = {
        **constants_of(2),
        **parameters("w", 0.01, 0, INT8),
        "w": generator.integers(-127, 128, (6, 4, 3, 3)).astype(np.int8),
        "k": generator.uniform(-1.5, 1.5, (1, 6, 1, 1)).astype(np.float32),
        "b": generator.normal(0, 1, (6, 1, 1)).astype(np.float32),
    }
    text = """g (int8[1,4,6,5] x) => (int8[1,6,4,3] y, int8[1,6,4,3] z) {
        xf = DequantizeLinear (x, xs, xz)  wf = DequantizeLinear (w, ws, wz)  c0 = Conv (xf, wf)
        z = QuantizeLinear (c0, ys, yz)  cf = DequantizeLinear (z, ys, yz)
        m = Mul (cf, k)  r = Add (m, b)  y = QuantizeLinear (r, ys, yz) }"""
    model = model_of(text, constants)
    lowered = lower(model, request.getfixturevalue(layout))
    assert not ops(lowered) & FLOAT_FORM
    assert requants(lowered) == 2
    before, after = ReferenceRunner(model), ReferenceRunner(lowered)
    x = generator.integers(-128, 128, (1, 4, 6, 5)).astype(np.int8)
    expected, got = before.run({"x": x}), after.run({"x": x})
    for name, values in expected.items():
        assert np.abs(values.astype(np.int64) - got[name].astype(np.int64)).max() <= 2  # 1 of each operator


def test_unsigned_multipliers_are_left_to_others(model_of: Make, soc_of: Context) -> None:
    """A unit whose multipliers have no sign does not do negative factors; the choice says so."""
    unit = Unit("core", "", "L2", None, RequantSpec(31, False, 63, 0, 62, activation_type="int8"))
    text = """g (int8[1,7,12] x) => (int8[1,7,12] y) {
        xf = DequantizeLinear (x, xs, xz)  vf = DequantizeLinear (v, vs, vz)
        r = Mul (xf, vf)  y = QuantizeLinear (r, ys, yz) }"""
    model = model_of(text, constants_of(3))
    lowered = lower(model, soc_of(unit))
    assert requants(lowered) == 1
    assert len(lowered.notes) == 1
    compare(model, lowered)
    positive = model_of(
        text, {**constants_of(3), "v": np.abs(constants_of(3)["v"].astype(int)).clip(0, 127).astype(INT8)}
    )
    assert lower(positive, soc_of(unit)).notes == ()


CHAIN = """g (int8[1,7,12] x) => (int8[1,7,12] y) {
    xf = DequantizeLinear (x, xs, xz)  m = Mul (xf, f)  q = QuantizeLinear (m, qs, qz)
    qf = DequantizeLinear (q, qs, qz)  b = DequantizeLinear (v, vs, vz)
    r = Add (qf, b)  y = QuantizeLinear (r, ys, yz) }"""


def chain(zero: int = -9, scale: float = 0.045, bias: float = 0.00207) -> dict[str, NDArray[np.generic]]:
    """x * f + v with a quantisation between whose range holds all products where ``scale`` is large enough."""
    return {**constants_of(4, scale=bias), **parameters("q", scale, zero, INT8), **parameters("y", 0.0513, 3, INT8)}


def test_a_chain_is_one_requant(model_of: Make, signed: PassContext) -> None:
    """Within 1 LSB of both roundings: the one left out moves the sum by half a step of 0.045, and a step is 0.0513."""
    model = model_of(CHAIN, chain())
    lowered = lower(model, signed)
    assert ops(lowered) == {"match.arith::RequantI8"}
    assert requants(lowered) == 1
    compare(model, lowered, share=0.5)
    (node,) = lowered.graph.nodes
    assert len(lowered.provenance[node.name]) == 6


def test_a_chain_whose_middle_is_read_elsewhere_stays_in_parts(model_of: Make, signed: PassContext) -> None:
    text = CHAIN.replace("=> (", "=> (int8[1,7,12] q, ")
    model = model_of(text, chain())
    lowered = lower(model, signed)
    assert requants(lowered) == 2
    compare(model, lowered, share=0.01)


def test_a_coarse_quantisation_between_stays(model_of: Make, signed: PassContext) -> None:
    """Rounding to steps of 0.3 moves results by 3 LSB, which one rounding cannot stand for."""
    model = model_of(CHAIN, chain(scale=0.3))
    lowered = lower(model, signed)
    assert requants(lowered) == 2
    compare(model, lowered, share=0.01)


@pytest.mark.parametrize("clamp", ["range", "relu"])
def test_a_saturation_that_is_meant_stays(model_of: Make, signed: PassContext, clamp: str) -> None:
    """A Relu between, or a range that starts at zero: negative products are cut off before the addition."""
    constants = chain(zero=-128 if clamp == "range" else -9)
    text = (
        CHAIN if clamp == "range" else CHAIN.replace("q = QuantizeLinear (m,", "p = Relu (m)  q = QuantizeLinear (p,")
    )
    model = model_of(text, constants)
    lowered = lower(model, signed)
    assert requants(lowered) == 2
    compare(model, lowered, share=0.01)


def test_a_range_too_small_for_a_few_inputs_does_not_split_the_chain(model_of: Make, signed: PassContext) -> None:
    """The ends of channels with large factors saturate between in the original, and only where it does are results
    more than 1 LSB apart: the one Requant then is nearer to x * f + v."""
    constants = chain(scale=0.035, bias=0.004)
    model = model_of(CHAIN, constants)
    lowered = lower(model, signed)
    assert requants(lowered) == 1
    x = np.broadcast_to(np.arange(-128, 124, 36, dtype=np.int8)[None, :, None], (1, 7, 12))
    x = (x + np.arange(12)).astype(np.int8)
    middle = np.rint((x.astype(np.float64) + 9) * 0.0307 * constants["f"] / 0.035) - 9
    saturated = np.abs(middle + 0.5) > 127.5
    exact = (
        (x.astype(np.float64) + 9) * 0.0307 * constants["f"] + constants["v"].astype(np.float64) * 0.004
    ) / 0.0513 + 3
    exact = np.clip(exact, -128, 127)
    before = ReferenceRunner(model).run({"x": x})["y"].astype(np.int64)
    after = ReferenceRunner(lowered).run({"x": x})["y"].astype(np.int64)
    assert np.any(saturated)
    assert np.abs(before - after)[~saturated].max() <= 1
    assert np.abs(after - exact).max() <= 0.51


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 10**6),
    zero=st.integers(-100, 100),
    between=st.floats(0.01, 0.2),
    result=st.floats(0.01, 0.2),
    bias=st.floats(0.0, 0.03),
)
def test_chains_are_within_one_wherever_nothing_saturates_between(
    model_of: Make, signed: PassContext, seed: int, zero: int, between: float, result: float, bias: float
) -> None:
    """Over all inputs and channels, whether it became one Requant or two."""
    constants = {
        **constants_of(seed, scale=max(bias, 1e-6)),
        **parameters("q", between, zero, INT8),
        **parameters("y", result, 0, INT8),
    }
    model = model_of(CHAIN.replace("[1,7,12]", "[1,256,12]"), constants)
    lowered = lower(model, signed)
    assert not ops(lowered) & FLOAT_FORM
    x = np.repeat(np.arange(-128, 128, dtype=np.int8)[None, :, None], 12, axis=2)
    before = ReferenceRunner(model).run({"x": x})["y"].astype(np.int64)
    after = ReferenceRunner(lowered).run({"x": x})["y"].astype(np.int64)
    middle = (x.astype(np.float64) + 9) * 0.0307 * constants["f"] / np.float32(between) + zero
    inside = (middle > -128.5) & (middle < 127.5)
    steps = 1 if requants(lowered) == 1 else 1 + int(np.ceil(between / result))
    assert np.abs(before - after)[inside].max(initial=0) <= steps
