"""Networks on target ``diana``: what emitted programs compute on the twin, bit for bit, on both arrays and the host."""

from __future__ import annotations

import re
import runpy
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from match_core.contract.errors import InfeasibleError
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, VerifyResult, verify_model

from tests.conftest import ROOT
from tests.end_to_end import diana_models as models
from tests.end_to_end.diana_models import Program, Step, check, compiled
from tests.program_files import program_files

MAKE_MIXED = ROOT / "plugins" / "match-diana" / "tests" / "models" / "make_mixed.py"
#: Set to a number, it switches the noise of the analog array's converters on (docs/diana.md).
NOISE_SEED = "MATCH_DIANA_NOISE_SEED"
CLASSIFIERS = ("resnet8", "dscnn", "mobilenetv1_025")


# ---- kinds of layers -------------------------------------------------------------------------------------------

_CONV, _DEPTHWISE = "digital_conv", "digital_depthwise_blocks"
#: Patterns of the digital array that a model is made for, and the mean error (LSB of any output) that it may have:
#: about 1.2 times what is measured. Sums and depthwise layers add that of several layers.
LAYERS = {
    "convolutions": ({_CONV}, 1.5),
    "paddings": ({_CONV, _DEPTHWISE}, 1.0),
    "sums": ({_CONV, "digital_add", "digital_add_relu"}, 2.5),
    "depthwise": ({_CONV, _DEPTHWISE}, 2.3),
    "classifier": ({_CONV, "digital_dense"}, 1.0),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name: str, plugins: Plugins, tmp_path: Path) -> None:
    patterns, error = LAYERS[name]
    program = compiled(getattr(models, name)(tmp_path / f"{name}.onnx"), tmp_path, plugins)
    assert check(program) == {"digital", "host"}
    assert patterns <= program.patterns
    assert max(program.mean_lsb().values()) <= error


def test_powers_of_two_pass_unchanged(plugins: Plugins, tmp_path: Path) -> None:
    """The only difference is how ties are rounded: to even in ONNX, up by an adding and shifting array."""
    program = compiled(models.powers(tmp_path / "powers.onnx"), tmp_path, plugins)
    assert check(program) == {"digital", "host"}
    assert not [note for note in program.compilation.notes if "rounding of the weights" in note]
    assert not [
        name for name in program.patterns if name.startswith("host") and name not in ("host_convert", "host_view")
    ]
    assert max(program.mean_lsb().values()) <= 0.2


# ---- both arrays -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The mixed model, of which the integers before the softmax are an output too."""
    path: Path = runpy.run_path(str(MAKE_MIXED))["mixed"](tmp_path_factory.mktemp("mixed") / "mixed.onnx")
    model = onnx.load(path)
    reader = next(node for node in model.graph.node if node.op_type == "Softmax").input[0]
    logits = next(node for node in model.graph.node if reader in node.output).input[0]
    shape = [1, model.graph.output[0].type.tensor_type.shape.dim[1].dim_value]
    model.graph.output.append(onnx.helper.make_tensor_value_info(logits, onnx.TensorProto.INT8, shape))
    onnx.save(model, path)
    return path


@pytest.fixture(scope="module")
def mixed_program(mixed: Path, tmp_path_factory: pytest.TempPathFactory) -> Program:
    return compiled(mixed, tmp_path_factory.mktemp("program"), Plugins.load(), samples=4)


def test_the_mixed_model_uses_all_units(mixed_program: Program) -> None:
    assert check(mixed_program) == {"digital", "analog", "host"}
    ternary = [task for task in mixed_program.compilation.program.tasks if task.assignment.candidate.unit == "analog"]
    assert len(ternary) == 5


def test_what_the_analog_array_loses_is_bounded(mixed_program: Program) -> None:
    """Mean error of the integers before the softmax, which have a standard deviation of 72: 14.6 on 40 samples. Powers
    of two make 4.8 of that; the rest comes from inputs of 7 bits and converters of 6."""
    (logits,) = [name for name, values in mixed_program.expected.items() if values.dtype == np.int8]
    assert mixed_program.mean_lsb()[logits] <= 18


def test_noise_is_off_unless_a_seed_is_set(mixed_program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    assert mixed_program.different(mixed_program.run()) == {}
    monkeypatch.setenv(NOISE_SEED, "3")
    noisy, again = (mixed_program.run() for _ in range(2))
    assert mixed_program.different(noisy)
    assert {name: values.tobytes() for name, values in noisy.outputs.items()} == {
        name: values.tobytes() for name, values in again.outputs.items()
    }
    monkeypatch.setenv(NOISE_SEED, "4")
    assert any(
        noisy.outputs[name].tobytes() != values.tobytes() for name, values in mixed_program.run().outputs.items()
    )


@pytest.mark.parametrize(
    "without", [("analog",), pytest.param(("digital",), marks=pytest.mark.slow), ("digital", "analog")], ids="+".join
)
def test_without_a_unit_values_stay(
    without: tuple[str, ...], mixed: Path, mixed_program: Program, plugins: Plugins, tmp_path: Path
) -> None:
    part = compiled(mixed, tmp_path, plugins, samples=4, sanitize=False, without_units=without)
    whole, run = mixed_program.run(), part.run()
    assert part.different(run) == {}
    assert {node.unit for node in run.nodes if node.cycles} == {"digital", "analog", "host"} - set(without)
    assert run.cycles_total > whole.cycles_total
    for name, values in whole.outputs.items():
        assert run.outputs[name].tobytes() == values.tobytes()


def test_without_analog_arithmetic_ternary_layers_are_digital(mixed: Path, plugins: Plugins, tmp_path: Path) -> None:
    program = compiled(mixed, tmp_path, plugins, without_passes=("diana_analog_scales",))
    assert check(program) == {"digital", "host"}
    assert not [name for name in program.patterns if name.startswith("analog")]


def test_a_small_l1_cuts_layers_into_tiles(mixed: Path, plugins: Plugins, tmp_path: Path) -> None:
    program = compiled(mixed, tmp_path, plugins, memory=(("l1", 16_000),))
    assert check(program) == {"digital", "analog", "host"}
    (use,) = [use for use in program.compilation.program.memory if use.memory == "l1"]
    assert use.used_bytes <= 16_000
    assert any(task.assignment.schedule.loops for task in program.compilation.program.tasks)


def test_two_processes_give_the_same_bytes(
    mixed: Path, tmp_path: Path, match_command: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    trees = []
    for seed in ("1", "4711"):
        output = tmp_path / f"out{seed}"
        done = match_command("compile", mixed, "-t", "diana", "-o", output, "--no-cache", PYTHONHASHSEED=seed)
        assert done.returncode == 0, done.stderr
        trees.append(program_files(output))
    assert trees[0] == trees[1]


# ---- too little memory -----------------------------------------------------------------------------------------


def test_too_little_l2_is_told_with_what_helps(mixed: Path, plugins: Plugins, tmp_path: Path) -> None:
    """The size that the report asks for is enough, one below its lower bound is not."""
    with pytest.raises(InfeasibleError) as caught:
        compiled(mixed, tmp_path / "small", plugins, memory=(("l2", 100_000),))
    error = caught.value
    assert error.code == "MATCH-M001"
    assert re.match(r"needs \d+ bytes of 100000: \d+ for activations, \d+ for constants", error.why)
    (enough,) = [int(found[1]) for line in error.help if (found := re.search(r"l2 has at least (\d+) bytes", line))]
    assert error.what == f"the program does not fit memory l2: {enough - 100_000} bytes too many"
    parts = re.findall(r"needs? (?:at least )?(\d+) bytes", error.why.partition("in any program: ")[2])
    bound = sum(map(int, parts))
    assert len(parts) == 3 and 0.97 * enough < bound <= enough
    with pytest.raises(InfeasibleError):
        compiled(mixed, tmp_path / "less", plugins, memory=(("l2", bound - 16),))
    program = compiled(mixed, tmp_path / "enough", plugins, sanitize=False, memory=(("l2", enough),))
    assert program.different(program.run()) == {}


# ---- networks --------------------------------------------------------------------------------------------------


#: The least share of the stored samples whose class is the original's (docs/diana.md, Accuracy).
TOP1_LEAST = 0.95


def verified(folder: Path, plugins: Plugins) -> VerifyResult:
    return verify_model(VerifyRequest(folder / "model.onnx", "diana", folder / "inputs.npz"), plugins)


@pytest.mark.parametrize(
    "network",
    ["resnet8", "autoencoder", *(pytest.param(name, marks=pytest.mark.slow) for name in ("dscnn", "mobilenetv1_025"))],
)
def test_network(network: str, shared_model: Callable[[str], Path], plugins: Plugins) -> None:
    """512 KiB of L2 are enough for all four; the classifiers keep their classes."""
    result = verified(shared_model(f"mlperf_{network}_int8_qdq"), plugins)
    assert result.bit_exact
    assert "digital" in {node.unit for node in result.run.nodes if node.cycles}
    assert result.run.cycles_total == result.compilation.program.predicted_cycles
    if network in CLASSIFIERS:
        (output,) = result.outputs
        assert output.top1_agreement is not None and output.top1_agreement >= TOP1_LEAST


# ---- random networks -------------------------------------------------------------------------------------------

_side = st.integers(3, 13)
_pad = st.integers(0, 3)
_steps = st.builds(
    Step,
    kind=st.sampled_from(("conv", "conv", "depthwise", "sum", "pool", "ternary")),
    channels=st.sampled_from((3, 10, 16, 33, 64)),
    kernel=st.tuples(st.sampled_from((1, 3, 3, 5)), st.sampled_from((1, 2, 3, 3, 7))),
    stride=st.sampled_from((1, 1, 2)),
    pads=st.tuples(_pad, _pad, _pad, _pad),
    relu=st.booleans(),
)
_networks = st.tuples(
    st.integers(0, 99),
    st.tuples(st.integers(1, 20), _side, _side),
    st.integers(-128, 127),
    st.lists(_steps, min_size=1, max_size=4),
)
#: Bytes of L1: so few that nearly all layers are cut, or do not fit at all; some are; none is.
_l1 = st.sampled_from((2_000, 6_000, 262_144))
_RELAXED = settings(deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
Drawn = tuple[int, tuple[int, int, int], int, list[Step]]


def _check_random(drawn: Drawn, l1_bytes: int, plugins: Plugins) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        model = models.network(folder / "random.onnx", *drawn)
        check(compiled(model, folder, plugins, samples=1, memory=(("l1", l1_bytes),)))


@settings(_RELAXED, max_examples=3)
@given(drawn=_networks, l1_bytes=_l1)
def test_random_networks(drawn: Drawn, l1_bytes: int, plugins: Plugins) -> None:
    _check_random(drawn, l1_bytes, plugins)


@pytest.mark.slow
@settings(_RELAXED, derandomize=False, max_examples=100)
@given(drawn=_networks, l1_bytes=_l1)
def test_many_random_networks(drawn: Drawn, l1_bytes: int, plugins: Plugins) -> None:
    _check_random(drawn, l1_bytes, plugins)
