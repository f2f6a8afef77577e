"""The golden vectors of ITA's designers (../shared/data/ita, described there) as models, with their stored results."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx_graphsurgeon as gs
from match_core.contract.model import Model
from match_ita.arithmetic import GeluConstants, RequantStep
from numpy.typing import NDArray

from tests.end_to_end.ita_layers import Layers

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data" / "ita"
#: Rows and columns of a block.
SIDE = 64
#: Biases have 24 bits.
_BIAS = 1 << 23

Stored = dict[str, NDArray[Any]]


@dataclass
class Case:
    """A model, its inputs, and what is stored for its outputs; both with the sample as first axis."""

    model: Model
    inputs: Stored = field(default_factory=dict)
    stored: Stored = field(default_factory=dict)


def names(kind: str) -> list[str]:
    """Vector files that begin with ``kind``, sorted; empty where the folder is not on this machine."""
    return sorted(path.stem for path in FOLDER.glob(f"{kind}*.npz"))


def read(name: str) -> Stored:
    """All arrays of a file."""
    with np.load(FOLDER / f"{name}.npz") as archive:
        return {key: archive[key] for key in archive.files}


# ---- attention and feed-forward --------------------------------------------------------------------------------


def encoders(files: list[str]) -> Case:
    """All blocks of the files in one model: each head on its own, as in the vectors."""
    layers, inputs, stored = Layers(), {}, {}
    for name in files:
        data, prefix = read(name), name[:6]
        given = {key: layers.input(f"{prefix}_{key}", data[key].shape) for key in ("q_in", "kv_in", "ff_in")}
        inputs.update({tensor.name: data[key][None] for key, tensor in given.items()})
        for key, (tensor, values) in {**_heads(layers, data, given), **_feed_forward(layers, data, given)}.items():
            layers.output(f"{prefix}_{key}", tensor)
            stored[f"{prefix}_{key}"] = values[None]
    return Case(layers.model(), inputs, stored)


def _heads(
    layers: Layers, data: Stored, given: dict[str, gs.Variable]
) -> dict[str, tuple[gs.Variable, NDArray[np.int8]]]:
    """Projections, logits, results and the sum of all heads."""
    made, partial = {}, []
    for head in range(int(data["H"])):
        step = [_step(data, "rqs", index, head) for index in range(7)]
        q = layers.linear(given["q_in"], data["wq"][head], data["bq"][head], step[0])
        k = layers.linear(given["kv_in"], data["wk"][head], data["bk"][head], step[1])
        v = layers.linear(given["kv_in"], data["wv"][head], data["bv"][head], step[2])
        vt = layers.turned(v)
        av = layers.attention(q, k, vt, step[3], step[4])
        partial.append(layers.linear(av, data["wo"][head], data["bo"][head], step[5]))
        tensors = (q, k, vt, layers.product(q, k, step[3]), av, partial[-1])
        for key, tensor in zip(("qp", "kp", "vp", "qk", "av", "o_heads"), tensors, strict=True):
            values = data[key][head]
            made[f"{key}{head}"] = (tensor, values.T if key == "vp" else values)
    return {**made, "o_sum": (layers.total(partial, _step(data, "rqs", 6, 0)), data["o_sum"][0])}


def _feed_forward(
    layers: Layers, data: Stored, given: dict[str, gs.Variable]
) -> dict[str, tuple[gs.Variable, NDArray[np.int8]]]:
    """Two linear layers with the activation between."""
    act = RequantStep(*(int(data[f"act_rqs_{key}"]) for key in ("mult", "shift", "add")))
    hidden = layers.linear(given["ff_in"], data["wff1"][0], data["bff1"][0], _step(data, "rqs_ffn", 0, 0))
    if data["activation"] == "gelu":
        hidden = layers.gelu(hidden, GeluConstants(int(data["gelu_b"]), int(data["gelu_c"]), act))
    elif data["activation"] == "relu":
        hidden = layers.relu(hidden, act)
    result = layers.linear(hidden, data["wff2"][0], data["bff2"][0], _step(data, "rqs_ffn", 1, 0))
    return {"ff1": (hidden, data["ff1"][0]), "ff2": (result, data["ff2"][0])}


def _step(data: Stored, prefix: str, index: int, head: int) -> RequantStep:
    return RequantStep(*(int(data[f"{prefix}_{key}"][index, head]) for key in ("mult", "shift", "add")))


# ---- softmax ---------------------------------------------------------------------------------------------------


def softmaxes(size: int, preset: str) -> Case:
    """Rows of ``size`` logits to probabilities less 128. Each sample takes 64 rows through an attention whose queries
    are unit vectors and whose keys are the rows, so that logits are the rows themselves; its values are unit vectors
    too, and show 64 of the probabilities."""
    layers = Layers()
    q, k = layers.input("q", (SIDE, SIDE)), layers.input("k", (size, SIDE))
    vt = layers.input("vt", (SIDE, size))
    layers.output("y", layers.attention(q, k, vt, RequantStep(1, 0), RequantStep(1, 0, -128), preset=preset))
    golden = "y_stream" if preset == "rtl" else "y_stream_legacy_shift5"
    unit, rows, shown, results = np.eye(SIDE, dtype=np.int8), [], [], []
    for data in map(read, names(f"itamax_S{size}_")):
        for row in range(0, size, SIDE):
            for column in range(0, size, SIDE):
                rows.append(data["x"][row : row + SIDE].T)
                shown.append(np.roll(np.eye(SIDE, size, dtype=np.int8), column, axis=1))
                results.append(data[golden][row : row + SIDE, column : column + SIDE].astype(np.int16) - 128)
    inputs = {"q": np.repeat(unit[None], len(rows), axis=0), "k": np.array(rows), "vt": np.array(shown)}
    return Case(layers.model(), inputs, {"y": np.array(results).astype(np.int8)})


# ---- GELU ------------------------------------------------------------------------------------------------------


def gelus() -> Case:
    """All inputs through a unit matrix and every set of constants."""
    layers, data = Layers(), read("gelu_exhaustive")
    x = layers.input("x", (256 // SIDE, SIDE))
    stored = {}
    for key in sorted(name.removesuffix("_consts") for name in data if name.endswith("_consts")):
        _, b, c, *step = (int(value) for value in data[f"{key}_consts"])
        same = layers.linear(x, np.eye(SIDE), np.zeros(SIDE), RequantStep(1, 0))
        layers.output(key, layers.gelu(same, GeluConstants(b, c, RequantStep(*step))))
        stored[key] = data[f"{key}_y"].reshape(1, *x.shape)
    return Case(layers.model(), {"x": data["x"].astype(np.int8).reshape(1, *x.shape)}, stored)


# ---- requantisation --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Requantised:
    """One layer for each set of parameters; element ``columns[i]`` of row i of its output is that of the stored
    accumulator ``chosen[i]``. ``golden`` [sets, chosen]."""

    case: Case
    chosen: NDArray[np.int64]
    columns: NDArray[np.int64]
    golden: NDArray[np.int8]


def requantisations(inputs: int, least: int, limit: int, every: int) -> Requantised:
    """Accumulators of size ``least`` to below ``limit`` as sums of ``inputs`` products and a bias, with every
    ``every``-th set of parameters."""
    data = read("requant_unit")
    sums = data["acc"].astype(np.int64)
    chosen = np.flatnonzero((np.abs(sums) >= least) & (np.abs(sums) < limit))
    biases = np.rint(np.linspace(-_BIAS, _BIAS - 1, SIDE)).astype(np.int64)
    columns = np.argmin(np.abs(sums[chosen, None] - biases), axis=1)
    x = _inputs(sums[chosen] - biases[columns], inputs)
    rows = -(-len(x) // SIDE) * SIDE
    x = np.pad(x, ((0, rows - len(x)), (0, 0)))
    weight = np.full((inputs, SIDE), -128)
    weight[-1] = 1
    layers = Layers()
    tensor = layers.input("x", x.shape)
    for index, parameters in enumerate(data["params"][::every]):
        layers.output(f"y{index}", layers.linear(tensor, weight, biases, RequantStep(*map(int, parameters))))
    return Requantised(Case(layers.model(), {"x": x[None]}), chosen, columns, data["y"][::every][:, chosen])


def _inputs(values: NDArray[np.int64], count: int) -> NDArray[np.int8]:
    """Rows of ``count`` inputs whose products with -128, .., -128, 1 have these sums."""
    last = values % 128
    total = (last - values) // 128
    each, rest = np.divmod(total[:, None], count - 1)
    x = each + (np.arange(count - 1) < rest)
    if np.abs(x).max() > 127:
        raise ValueError(f"{count} inputs do not reach the largest sum")
    return np.concatenate([x, last[:, None]], axis=1).astype(np.int8)
