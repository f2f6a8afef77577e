"""The golden model against all vectors of PyITA."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from match_ita.arithmetic import GeluConstants, RequantStep, gelu, gelu_constants, requantise

from tests.ita_arithmetic import attention, itamax, linear, relu

_DATA = Path("/work/shared/data/ita")
Arrays = dict[str, np.ndarray]

pytestmark = pytest.mark.skipif(not _DATA.is_dir(), reason="vectors of PyITA are not on this machine")


def _load(name: str) -> Arrays:
    with np.load(_DATA / name) as file:
        return {key: file[key] for key in file.files}


def _names(pattern: str) -> list[str]:
    return sorted(path.name for path in _DATA.glob(pattern))


def _steps(data: Arrays, index: int) -> list[RequantStep]:
    columns = (data["rqs_mult"][index], data["rqs_shift"][index], data["rqs_add"][index])
    return [RequantStep(int(m), int(s), int(a)) for m, s, a in zip(*columns, strict=True)]


def test_requantise() -> None:
    data = _load("requant_unit.npz")
    for (multiplier, shift, add), expected in zip(data["params"], data["y"], strict=True):
        np.testing.assert_array_equal(
            requantise(data["acc"], RequantStep(int(multiplier), int(shift), int(add))), expected
        )


def test_half_rounds_up_as_in_the_hardware() -> None:
    # PyITA gives 1 here (its floats round up just below the half), the hardware 0.
    assert requantise(np.array([(1 << 22) - 1, 1 << 22, -(1 << 22)]), RequantStep(1, 23)).tolist() == [0, 1, 0]


@pytest.mark.parametrize("name", _names("itamax_*.npz"))
def test_itamax(name: str) -> None:
    data = _load(name)
    np.testing.assert_array_equal(itamax(data["x"], 0, 255 * 256), data["y_stream"])
    np.testing.assert_array_equal(itamax(data["x"], 5, 255 * 256), data["y_stream_legacy_shift5"])


def test_gelu_of_all_inputs() -> None:
    data = _load("gelu_exhaustive.npz")
    keys = [key.removesuffix("_consts") for key in data if key.endswith("_consts")]
    assert len(keys) >= 20
    for key in keys:
        _, b, c, multiplier, shift, add = (int(value) for value in data[f"{key}_consts"])
        constants = GeluConstants(b, c, RequantStep(multiplier, shift, add))
        np.testing.assert_array_equal(gelu(data["x"], constants), data[f"{key}_y"], err_msg=key)
        assert gelu_constants(float(data[f"{key}_scale"][0]), shift) == constants


@pytest.mark.parametrize("name", _names("mha_*.npz"))
def test_encoder_layer(name: str) -> None:
    data = _load(name)
    heads, (rows, _) = int(data["H"]), data["q_in"].shape
    step_q, step_k, step_v, step_qk, step_av, step_o, step_sum = (_steps(data, index) for index in range(7))
    mixed = np.empty((heads, rows, int(data["P"])), np.int8)
    parts = np.empty((heads, rows, int(data["E"])), np.int64)
    for h in range(heads):
        q = linear(data["q_in"], data["wq"][h], data["bq"][h], step_q[h])
        k = linear(data["kv_in"], data["wk"][h], data["bk"][h], step_k[h])
        v = linear(data["kv_in"], data["wv"][h], data["bv"][h], step_v[h])
        for got, key in ((q, "qp"), (k, "kp"), (v, "vp")):
            np.testing.assert_array_equal(got, data[key][h])
        vt = np.ascontiguousarray(v.T)
        mixed[h] = attention(q, k, vt, step_qk[h], step_av[h], 1, 0, 255 * 256)
        parts[h] = linear(mixed[h], data["wo"][h], data["bo"][h], step_o[h])
    np.testing.assert_array_equal(mixed, data["av"])
    np.testing.assert_array_equal(parts, data["o_heads"])
    np.testing.assert_array_equal(requantise(parts.sum(axis=0), step_sum[0]), data["o_sum"][0])


@pytest.mark.parametrize("name", _names("mha_*.npz"))
def test_feed_forward(name: str) -> None:
    data = _load(name)
    columns = (data["rqs_ffn_mult"], data["rqs_ffn_shift"], data["rqs_ffn_add"])
    first, second = (RequantStep(*(int(column[i, 0]) for column in columns)) for i in range(2))
    act = RequantStep(int(data["act_rqs_mult"]), int(data["act_rqs_shift"]), int(data["act_rqs_add"]))
    hidden = linear(data["ff_in"], data["wff1"][0], data["bff1"][0], first)
    np.testing.assert_array_equal(hidden, data["ff1_preact"][0])
    kind = str(data["activation"])
    if kind == "gelu":
        hidden = gelu(hidden, GeluConstants(int(data["gelu_b"]), int(data["gelu_c"]), act))
    elif kind == "relu":
        hidden = relu(hidden, act)
    np.testing.assert_array_equal(hidden, data["ff1"][0])
    np.testing.assert_array_equal(linear(hidden, data["wff2"][0], data["bff2"][0], second), data["ff2"][0])
