"""Transformers on ITA and its cluster: what the emitted programs compute on the twin, bit for bit.

Golden vectors of ITA's designers, encoders of ../shared/models with what they lose against their originals, integer
networks of QuantLib, and shapes that break naive lowering.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from match_core.plugin.facade import Plugins
from match_core.run.modes import queues_of
from match_ita.arithmetic import RequantStep
from match_verify.verify import VerifyRequest, VerifyResult, verify_model
from numpy.typing import NDArray

from tests.conftest import load_inputs
from tests.end_to_end import ita_vectors as vectors
from tests.end_to_end.ita_layers import Layers, patterns, random_int8, units, verify
from tests.end_to_end.qdq_encoders import Encoder, inputs, save
from tests.end_to_end.side_by_side import compiled, differences
from tests.program_files import program_files
from tests.twin.mutation import bench, run_mutants, summary, table

QUANTLIB = Path(__file__).resolve().parents[3] / "shared" / "data" / "quantlib"
#: Names the folder with the encoders at full size, made by ../shared/models/make/ita.py --full --out FOLDER.
FULL_MODELS = "MATCH_FULL_MODELS"
EXECUTIONS = ("sequential", "concurrent")

with_vectors = pytest.mark.skipif(
    not vectors.FOLDER.is_dir(), reason="../shared/data/ita is not on this machine (see ../shared/data/ita/README.md)"
)


# ---- golden vectors --------------------------------------------------------------------------------------------


def different(result: VerifyResult, stored: vectors.Stored) -> dict[str, int]:
    """How many values of which outputs are not the stored ones."""
    counts = {name: int(np.count_nonzero(result.run.outputs[name] != values)) for name, values in stored.items()}
    assert set(counts) == set(result.run.outputs)
    return {name: count for name, count in counts.items() if count}


@with_vectors
def test_all_encoders_of_the_vectors(plugins: Plugins, tmp_path: Path) -> None:
    files = vectors.names("mha_")
    assert len(files) == 14
    case = vectors.encoders(files)
    result = verify(case.model, case.inputs, plugins, tmp_path, execution="sequential")
    assert different(result, case.stored) == {}
    assert result.bit_exact
    heads = sum(int(vectors.read(name)["H"]) for name in files)
    counts = [patterns(result).count(f"ita_{name}") for name in ("attention", "linear_turned", "matmul", "linear")]
    assert counts == [heads, heads, heads, 3 * heads + 2 * len(files)]


@with_vectors
@pytest.mark.slow
@pytest.mark.parametrize("name", vectors.names("mha_"))
def test_encoders_of_the_vectors_side_by_side(name: str, plugins: Plugins, tmp_path: Path) -> None:
    case = vectors.encoders([name])
    result = verify(case.model, case.inputs, plugins, tmp_path, execution="concurrent", mode="lazy")
    assert different(result, case.stored) == {}


@with_vectors
@pytest.mark.parametrize(
    ("size", "preset"),
    [
        pytest.param(size, preset, marks=() if size == 512 else pytest.mark.slow)
        for size in (64, 128, 192, 256, 512)
        for preset in ("rtl", "islped")
    ],
)
def test_probabilities_of_the_vectors(size: int, preset: str, plugins: Plugins, tmp_path: Path) -> None:
    case = vectors.softmaxes(size, preset)
    result = verify(case.model, case.inputs, plugins, tmp_path, preset=preset, execution="sequential")
    assert patterns(result) == ["ita_attention"]
    assert different(result, case.stored) == {}


@with_vectors
def test_every_gelu_of_all_inputs(plugins: Plugins, tmp_path: Path) -> None:
    """-128 is among the inputs."""
    case = vectors.gelus()
    result = verify(case.model, case.inputs, plugins, tmp_path, execution="sequential")
    assert patterns(result) == ["ita_linear"] * 23
    assert different(result, case.stored) == {}


#: Sums that biases of 24 bits and 64 products reach, then those that take 512 products, the most that ITA may add.
_REACHED = ((64, 0, (1 << 23) + (1 << 19)), (512, (1 << 23) + (1 << 19), (1 << 23) + 511 * 127 * 128 - 128))


@with_vectors
@pytest.mark.parametrize("every", [16, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("inputs_", "least", "limit"), _REACHED)
def test_requantisation_of_the_vectors(
    inputs_: int, least: int, limit: int, every: int, plugins: Plugins, tmp_path: Path
) -> None:
    made = vectors.requantisations(inputs_, least, limit, every)
    result = verify(made.case.model, made.case.inputs, plugins, tmp_path, execution="sequential")
    assert set(patterns(result)) == {"ita_linear"}
    rows = np.arange(len(made.chosen))
    for index, golden in enumerate(made.golden):
        np.testing.assert_array_equal(result.run.outputs[f"y{index}"][0, rows, made.columns], golden)


# ---- encoders --------------------------------------------------------------------------------------------------

#: Least cosine similarity with the outputs of the quantised model: with ITAMax, with an integer softmax on the cores.
#: Measured: 0.9980 to 0.9994 and 0.9990 to 0.9995; Whisper-tiny, whose rows are nearly flat, 0.991 and 0.9975.
NETWORKS = {
    "ita_mobilebert_l1_int8_qdq": (0.9975, 0.999),
    "ita_mobilebert_l1_int8_pc_qdq": (0.9975, 0.999),
    "ita_dinov2_l1_int8_qdq": (0.9975, 0.9985),
    "ita_whisper_l1_int8_qdq": (0.997, 0.9985),
    "mobilebert_l1_int8_qdq": (0.999, 0.999),
    "dinov2_small_l1_int8_qdq": (0.996, 0.9975),
    "whisper_tiny_l1_int8_qdq": (0.988, 0.995),
}
#: How much further the float model may be from the program than the quantised one, as cosine. The quantised Whisper is
#: itself further from its float model than the others.
FLOAT_LOSS = 0.002
FLOAT_LOSS_OF = {"whisper_tiny_l1_int8_qdq": 0.006}
#: Networks that ``match verify`` must refuse, because ITA's softmax leaves less than 20 dB: 17.5 dB, 23.2 without.
LOSSY = ("whisper_tiny_l1_int8_qdq",)
#: Largest difference of a value, as share of the largest.
LARGEST_ERROR = 0.2


def real_output(result: VerifyResult) -> NDArray[np.float64]:
    """The output as the model gives it."""
    values = result.run.outputs["output"]
    quantised = result.compilation.model.quantised_ends.get("output")
    return (values if quantised is None else quantised.real(values)).astype(np.float64)


def cosine(a: NDArray[Any], b: NDArray[Any]) -> float:
    """Similarity of two arrays."""
    x, y = a.astype(np.float64).ravel(), b.astype(np.float64).ravel()
    return float(x @ y / np.sqrt((x @ x) * (y @ y)))


def check_distance(folder: Path, got: NDArray[np.float64], least: float) -> None:
    """Cosine similarity and largest error, against the quantised model and the float model where that is stored."""
    with np.load(folder / "outputs.npz") as archive:
        stored = {name: archive[name][: len(got)] for name in archive.files}
    assert cosine(got, stored["output"]) >= least
    assert np.abs(got - stored["output"]).max() <= LARGEST_ERROR * np.abs(stored["output"]).max()
    if "torch_f32__output" in stored:
        assert cosine(got, stored["torch_f32__output"]) >= least - FLOAT_LOSS_OF.get(folder.name, FLOAT_LOSS)


def run_encoder(folder: Path, plugins: Plugins, samples: int | None = 1, **options: Any) -> VerifyResult:
    """Verified on stored inputs, int8 at both ends."""
    request = VerifyRequest(
        folder / "model.onnx", "ita", arrays=load_inputs(folder, samples), quantized_io=True, **options
    )
    result = verify_model(request, plugins)
    exact_softmax = "ita_softmax" in options.get("without_passes", ())
    assert result.bit_exact and result.ok == (exact_softmax or folder.name not in LOSSY)
    return result


@pytest.mark.parametrize(
    ("name", "samples"),
    [("ita_mobilebert_l1_int8_qdq", None), *((name, 1) for name in list(NETWORKS)[1:])],
)
@pytest.mark.parametrize("execution", EXECUTIONS)
@pytest.mark.slow
def test_network(
    name: str, samples: int | None, execution: str, shared_model: Callable[[str], Path], plugins: Plugins
) -> None:
    folder = shared_model(name)
    result = run_encoder(folder, plugins, samples, execution=execution)
    assert units(result) == {"ita", "snitch"}
    check_distance(folder, real_output(result), NETWORKS[name][0])


def test_the_smallest_network_side_by_side(shared_model: Callable[[str], Path], plugins: Plugins) -> None:
    folder = shared_model("ita_mobilebert_l1_int8_qdq")
    result = run_encoder(folder, plugins, None, execution="concurrent", mode="lazy")
    assert result.compilation.program.queues and units(result) == {"ita", "snitch"}
    check_distance(folder, real_output(result), NETWORKS[folder.name][0])


@pytest.mark.parametrize(
    "name",
    [name if name == "ita_mobilebert_l1_int8_qdq" else pytest.param(name, marks=pytest.mark.slow) for name in NETWORKS],
)
def test_the_cores_alone_give_the_same(name: str, shared_model: Callable[[str], Path], plugins: Plugins) -> None:
    folder = shared_model(name)
    mixed, alone = (
        run_encoder(folder, plugins, execution="sequential", without_units=without) for without in ((), ("ita",))
    )
    assert units(alone) == {"snitch"}
    assert mixed.run.outputs["output"].tobytes() == alone.run.outputs["output"].tobytes()
    assert (alone.run.cycles_total or 0) > 5 * (mixed.run.cycles_total or 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_the_softmax_may_stay_on_the_cores(name: str, shared_model: Callable[[str], Path], plugins: Plugins) -> None:
    folder = shared_model(name)
    result = run_encoder(folder, plugins, execution="sequential", without_passes=("ita_softmax",))
    assert "softmax" in patterns(result) and "ita_attention" not in patterns(result)
    check_distance(folder, real_output(result), NETWORKS[name][1])


#: Full size: encoder, layers, least cosine similarity with the quantised model's output. Errors add up over layers.
#: Measured: 0.9786, 0.9789, 0.9893, 0.9967, 0.9826, 0.9718.
FULL = {
    "ita_mobilebert_l24_int8_qdq": 0.977,
    "ita_dinov2_l12_int8_qdq": 0.977,
    "ita_whisper_l4_int8_qdq": 0.988,
    "mobilebert_l24_int8_qdq": 0.996,
    "dinov2_small_l12_int8_qdq": 0.981,
    "whisper_tiny_l4_int8_qdq": 0.97,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FULL)
def test_full_network(name: str, plugins: Plugins) -> None:
    folder = Path(os.environ.get(FULL_MODELS, "")) / name
    if FULL_MODELS not in os.environ or not (folder / "model.onnx").is_file():
        pytest.skip(f"{FULL_MODELS} names no folder with {name} (../shared/models/make/ita.py --full --out FOLDER)")
    result = run_encoder(folder, plugins, execution="concurrent")
    with np.load(folder / "outputs.npz") as archive:
        assert cosine(real_output(result), archive["output"][:1]) >= FULL[name]


# ---- integer networks ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "on_ita"),
    [
        ("Models/CCT/Int/ICCT_ITA", {"ita_linear"}),
        ("Kernels/Integer/Attention", set()),
        pytest.param("Models/EEGFormer", set(), marks=pytest.mark.slow),
        pytest.param("Kernels/Integer/GEMM/Regular_RQPerColumn", set(), marks=pytest.mark.slow),
        pytest.param("Kernels/Integer/MatMul/Regular_RQ", set(), marks=pytest.mark.slow),
        pytest.param("Kernels/Integer/Softmax/Regular", set(), marks=pytest.mark.slow),
        pytest.param("Models/miniMobileNet", set(), marks=pytest.mark.slow),
    ],
)
def test_network_of_quantlib(name: str, on_ita: set[str], plugins: Plugins) -> None:
    """Stored outputs, bit for bit: what ITA cannot requantise as the network says stays on the cores."""
    folder = QUANTLIB / name
    if not (folder / "network.onnx").is_file():
        pytest.skip(f"../shared/data/quantlib/{name} is not on this machine (see ../shared/data/quantlib/README.md)")
    files = {"inputs": folder / "inputs.npz", "expected": folder / "outputs.npz"}
    request = VerifyRequest(folder / "network.onnx", "ita", preset="quantlib", execution="sequential", **files)
    result = verify_model(request, plugins)
    assert result.ok and result.bit_exact
    assert [stored.different for stored in result.stored] == [0] * len(result.stored)
    assert {name for name in patterns(result) if name.startswith("ita_")} == on_ita


# ---- shapes that break naive lowering --------------------------------------------------------------------------

#: With the mean error (LSB of the output) that ITAMax and 8-bit requantisation may cost.
SHAPES = {
    "241 rows, width 192, 3 heads, 768 inner": (Encoder(241, 192, 3, inner=768), 2.0),
    "100 rows, 1 head, 1536 inner": (Encoder(100, 64, 1, inner=1536), 2.0),
    "65 rows, 6 heads of 32": (Encoder(65, 192, 6, size=32), 2.0),
    "per column, ReLU": (Encoder(64, 128, 2, inner=256, activation="relu", per_column=True), 2.0),
}


def run_shape(encoder: Encoder, plugins: Plugins, folder: Path, **options: Any) -> VerifyResult:
    request = VerifyRequest(
        save(encoder, folder / "encoder.onnx"), "ita", arrays={"x": inputs(encoder)}, quantized_io=True, **options
    )
    result = verify_model(request, plugins)
    assert result.ok and result.bit_exact
    return result


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if index > 1 else ()) for index, name in enumerate(SHAPES)]
)
def test_shape(name: str, plugins: Plugins, tmp_path: Path) -> None:
    encoder, error = SHAPES[name]
    result = run_shape(encoder, plugins, tmp_path, execution="sequential")
    assert {"ita_attention", "ita_linear", "ita_linear_turned"} <= set(patterns(result))
    assert result.outputs[0].mean_abs_lsb <= error


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_shape_side_by_side_and_on_the_cores(name: str, plugins: Plugins, tmp_path: Path) -> None:
    encoder, _ = SHAPES[name]
    found = [
        run_shape(encoder, plugins, tmp_path, **options).run.outputs["y"].tobytes()
        for options in (
            {"execution": "sequential"},
            {"execution": "concurrent", "mode": "lazy"},
            {"execution": "sequential", "without_units": ("ita",)},
        )
    ]
    assert found == found[:1] * 3


def test_flat_logits_of_many_keys_take_no_weight(plugins: Plugins, tmp_path: Path) -> None:
    """ITAMax gives 256 equal logits no weights at all, which the user is told; the softmax on the cores does."""
    encoder = Encoder(256, 64, 1, sharp=0.02)
    itamax = run_shape(encoder, plugins, tmp_path, execution="sequential", accept_loss=True)
    assert "ita_attention" in patterns(itamax)
    assert itamax.accuracy.outputs[0].failed, "what the note warns of is judged too"
    assert any("256 logits are nearly equal" in note for note in itamax.compilation.notes)
    # 14.8 dB: attention that is nearly uniform leaves small values, which 8-bit layers round
    exact = run_shape(
        encoder, plugins, tmp_path, execution="sequential", without_passes=("ita_softmax",), accept_loss=True
    )
    assert exact.outputs[0].mean_abs_lsb < itamax.outputs[0].mean_abs_lsb


def _odd_requantisations() -> Layers:
    """A layer with ITA's own constants, and others beyond each of its registers."""
    layers, random = Layers(), np.random.default_rng(7)
    x = layers.input("x", (70, 64))
    weight = random.integers(-40, 41, (64, 64))
    layers.output("same", layers.linear(x, weight, random.integers(-9999, 9999, 64), RequantStep(100, 14, -5)))
    half = 1 << 15
    for name, multiplier, addend, divisor in (
        ("nine_bits", 301, half, 1 << 16),
        ("negative", -77, half, 1 << 14),
        ("per_column", random.integers(50, 256, 64), half, 1 << 15),
        ("no_power_of_two", 3, 700, 1001),
        ("no_rounding", 255, 12345, 1 << 16),
        ("far_offset", 200, half - (1070 << 16), 1 << 16),
    ):
        sums = layers.node("MatMulInteger", [x, layers.constant(weight.astype(np.int8))], (70, 64), np.int32)
        layers.output(name, layers.requant(sums, multiplier, addend, divisor))
    return layers


@pytest.mark.parametrize("integers", [True, False])
def test_requantisation_that_ita_cannot_represent(integers: bool, plugins: Plugins, tmp_path: Path) -> None:
    """A network of integers keeps every value, on the cores; a quantised one may get the nearest that ITA has."""
    model = replace(_odd_requantisations().model(), integer_source=integers)
    arrays = {"x": random_int8(3, 1, 70, 64)}
    result = verify(model, arrays, plugins, tmp_path, execution="sequential")
    assert result.bit_exact and {"snitch", "ita"} <= units(result)
    errors = {output.name: output.max_abs_lsb for output in result.outputs}
    assert errors["same"] == errors["negative"] == errors["no_power_of_two"] == 0
    assert max(errors.values()) == 0 if integers else 1 <= max(errors.values()) <= 2
    on_ita = {
        task.assignment.candidate.match.output.name
        for task in result.compilation.program.tasks
        if task.assignment.candidate.pattern.name == "ita_linear"
    }
    # Other roundings and offsets go into the biases, with the same results for all sums that the weights allow.
    assert on_ita == {"same", "no_rounding", "far_offset"} | (set() if integers else {"nine_bits", "per_column"})


# ---- ways of running -------------------------------------------------------------------------------------------

#: One attention layer, one feed-forward block.
SMALL = {"attention": Encoder(100, 64, 2), "feed-forward": Encoder(70, 64, inner=192)}


@pytest.mark.parametrize("name", ["attention", pytest.param("feed-forward", marks=pytest.mark.slow)])
def test_all_modes_agree_with_sanitizers(name: str, plugins: Plugins, tmp_path: Path) -> None:
    program = compiled(save(SMALL[name], tmp_path / "small.onnx"), tmp_path, plugins, "ita", samples=2)
    assert {"ita", "snitch"} <= set(queues_of(program.document))
    assert [(mode, what) for mode, _, what in differences(program.runs(tmp_path, sanitize=True)) if what] == []


def test_a_sample_of_missing_waits_is_caught(plugins: Plugins, tmp_path: Path) -> None:
    program = compiled(save(SMALL["attention"], tmp_path / "small.onnx"), tmp_path, plugins, "ita")
    made = bench(program.program, tmp_path / "work", program.document, program.apis, program.host, program.inputs)
    outcomes = run_mutants(made, program.apis, 10)
    assert outcomes
    assert summary(outcomes)[2] == "0", table(outcomes)


def test_two_processes_give_the_same_bytes(
    tmp_path: Path, match_command: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    model, trees = save(SMALL["attention"], tmp_path / "small.onnx"), []
    for seed in ("1", "4711"):
        output = tmp_path / f"out{seed}"
        done = match_command("compile", model, "-t", "ita", "-o", output, "--no-cache", PYTHONHASHSEED=seed)
        assert done.returncode == 0, done.stderr
        trees.append(program_files(output))
    assert trees[0] == trees[1]
