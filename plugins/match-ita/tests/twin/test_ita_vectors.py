"""ITA from its register words against the golden vectors of its designers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from ita_jobs import SINGLE_ATTENTION, Job, Jobs
from ita_twin_harness import (
    FAST,
    SIDE,
    Driver,
    Ints,
    Script,
    attention,
    blocks,
    from_blocks,
    from_columns,
    linear,
    parse,
    turned,
)
from match_ita.arithmetic import RequantStep
from numpy.typing import NDArray

from .conftest import vector_names

Vectors = Callable[[str], dict[str, NDArray[np.generic]]]

#: Rows and columns of a tile that always fits L1.
_ROWS, _COLUMNS = 128, 64


def _step(data: dict[str, NDArray[np.generic]], prefix: str, index: int, head: int) -> RequantStep:
    return RequantStep(*(int(data[f"{prefix}_{name}"][index, head]) for name in ("mult", "shift", "add")))


def _linear(
    driver: Driver, x: Ints, w: Ints, bias: Ints, step: RequantStep, activation: tuple[int, ...] = (0,) * 6
) -> NDArray[np.int8]:
    """A whole layer, in tiles of 128 rows by 64 columns."""
    script = Script()
    tiles = [(r, c) for r in range(0, len(x), _ROWS) for c in range(0, w.shape[1], _COLUMNS)]
    for r, c in tiles:
        linear(script, x[r : r + _ROWS], w[:, c : c + _COLUMNS], bias[c : c + _COLUMNS], step, activation)
    lines = driver.run(script.text())[::2]
    result = np.zeros((len(x), w.shape[1]), np.int8)
    for (r, c), line in zip(tiles, lines, strict=True):
        tile = result[r : r + _ROWS, c : c + _COLUMNS]
        tile[:] = from_columns(parse(line), *tile.shape)
    return result


def _head(driver: Driver, data: dict[str, NDArray[np.generic]], head: int) -> None:
    def step(index: int) -> RequantStep:
        return _step(data, "rqs", index, head)

    for source, weight, bias, index, golden in (("q_in", "wq", "bq", 0, "qp"), ("kv_in", "wk", "bk", 1, "kp")):
        found = _linear(driver, data[source], data[weight][head], data[bias][head], step(index))
        np.testing.assert_array_equal(found, data[golden][head])
    rows, depth = data["vp"][head].shape
    script = Script()
    turned(script, data["kv_in"], data["wv"][head], data["bv"][head], step(2))
    found = from_blocks(parse(driver.run(script.text())[0]), depth, rows)
    np.testing.assert_array_equal(found, data["vp"][head].T)
    _attention(driver, data, head, step(3), step(4))
    found = _linear(driver, data["av"][head], data["wo"][head], data["bo"][head], step(5))
    np.testing.assert_array_equal(found, data["o_heads"][head])


def _attention(
    driver: Driver, data: dict[str, NDArray[np.generic]], head: int, qk: RequantStep, av: RequantStep
) -> None:
    """In tiles of 64 rows, so that a layer of ITA goes on from call to call."""
    script = Script()
    q, k, v = (data[name][head] for name in ("qp", "kp", "vp"))
    rows, depth = q.shape
    for r in range(0, rows, SIDE):
        attention(script, q[None, r : r + SIDE], k[None], v.T[None], qk, av, dump_logits=True)
    lines = driver.run(script.text())
    for r, result, logits in zip(range(0, rows, SIDE), lines[::3], lines[2::3], strict=True):
        np.testing.assert_array_equal(from_columns(parse(logits), SIDE, rows), data["qk"][head, r : r + SIDE])
        np.testing.assert_array_equal(from_columns(parse(result), SIDE, depth), data["av"][head, r : r + SIDE])


@pytest.mark.parametrize("name", vector_names("mha_"))
def test_attention_and_feedforward(driver: Driver, vectors: Vectors, name: str) -> None:
    data = vectors(name)
    for head in range(int(data["H"])):
        _head(driver, data, head)
    kind = {"identity": 0, "gelu": 1, "relu": 2}[str(data["activation"])]
    constants = ("gelu_b", "gelu_c", "act_rqs_mult", "act_rqs_shift", "act_rqs_add")
    activation = (kind, *(int(data[key]) for key in constants))
    first = _linear(driver, data["ff_in"], data["wff1"][0], data["bff1"][0], _step(data, "rqs_ffn", 0, 0), activation)
    np.testing.assert_array_equal(first, data["ff1"][0])
    second = _linear(driver, first, data["wff2"][0], data["bff2"][0], _step(data, "rqs_ffn", 1, 0))
    np.testing.assert_array_equal(second, data["ff2"][0])


def _probabilities(x: Ints) -> Jobs:
    """Jobs that take logits ``x`` through QK with unit weights, and read the probabilities in AV in the same way."""
    count = len(x) // SIDE
    jobs = Jobs()
    unit = jobs.script.place(np.eye(SIDE, dtype=np.int8))
    zero = jobs.script.place(np.zeros((SIDE, SIDE), np.int8))
    logits, output = jobs.script.reserve(count * 4096), jobs.script.reserve(count * 4096)
    source = jobs.script.reserve(count * 4096)
    jobs.setup(
        tiles=(count, 1, count), layer=SINGLE_ATTENTION, slots={3: RequantStep(1, 0), 4: RequantStep(1, 0, -128)}
    )
    for group in range(count):
        rows = blocks(x[group * SIDE : group * SIDE + SIDE])
        jobs.script.add("write", source, rows.tobytes().hex())
        for base, target in ((source, logits), (logits, output)):
            for block in range(count):
                for inner in range(count):
                    weight = unit if inner == block else zero
                    jobs.add(Job(base + inner * 4096, weight, target + block * 4096, inner + 1 == count))
            jobs.finish()
        jobs.script.dump(output, count * 4096)
    return jobs


@pytest.mark.parametrize("preset, golden", [("rtl", "y_stream"), ("islped", "y_stream_legacy_shift5")])
@pytest.mark.parametrize("name", vector_names("itamax_"))
def test_itamax(build: Callable[..., Driver], vectors: Vectors, name: str, preset: str, golden: str) -> None:
    data = vectors(name)
    lines = build(preset, FAST).run(_probabilities(data["x"]).script.text())
    size = len(data["x"])
    found = np.concatenate([from_columns(parse(line), SIDE, size) for line in lines])
    np.testing.assert_array_equal(found.astype(np.int16) + 128, data[golden])


def test_gelu_of_all_inputs(driver: Driver, vectors: Vectors) -> None:
    data = vectors("gelu_exhaustive")
    keys = sorted(key.removesuffix("_consts") for key in data if key.endswith("_consts"))
    script = Script()
    unit, nothing = np.eye(SIDE, dtype=np.int8), np.zeros(SIDE, np.int64)
    for key in keys:
        _, b, c, *step = (int(value) for value in data[f"{key}_consts"])
        linear(script, data["x"].astype(np.int8).reshape(4, SIDE), unit, nothing, RequantStep(1, 0), (1, b, c, *step))
    for key, line in zip(keys, driver.run(script.text())[::2], strict=True):
        np.testing.assert_array_equal(parse(line), data[f"{key}_y"], err_msg=key)


def _sums(values: Ints, width: int) -> tuple[Ints, Ints, Ints]:
    """x [1, width], w and bias whose sums are ``values``."""
    x = np.full((1, width), -128, np.int8)
    total = np.clip(-np.rint(values / 128).astype(np.int64), -128 * width, 127 * width)
    each = total // width
    w = np.repeat(each[None], width, axis=0) + (np.arange(width)[:, None] < total - each * width)
    return x, w.astype(np.int8), values + 128 * total


def test_requantisation(build: Callable[..., Driver], vectors: Vectors) -> None:
    """Sums of 24 bits from the bias alone, larger ones with as many products as ITA can add."""
    data = vectors("requant_unit")
    sums, fast = data["acc"].astype(np.int64), build("rtl", FAST)
    by_bias = np.flatnonzero(np.abs(sums) < 1 << 23)
    large = np.flatnonzero((np.abs(sums) >= 1 << 23) & (np.abs(sums) < 23 << 20))
    by_bias = by_bias[: len(by_bias) // SIDE * SIDE]
    cases = [(by_bias[at : at + 512], SIDE) for at in range(0, len(by_bias), 512)] + [(large[:SIDE], 15 * SIDE)]
    for parameters, golden in zip(data["params"], data["y"], strict=True):
        script = Script()
        for chosen, width in cases:
            values = sums[chosen]
            if width == SIDE:
                x, w, bias = np.zeros((1, SIDE), np.int8), np.zeros((SIDE, len(values)), np.int8), values
            else:
                x, w, bias = _sums(values, width)
            linear(script, x, w, bias, RequantStep(*(int(value) for value in parameters)))
        lines = fast.run(script.text())[::2]
        for (chosen, _), line in zip(cases, lines, strict=True):
            np.testing.assert_array_equal(parse(line), golden[chosen])
