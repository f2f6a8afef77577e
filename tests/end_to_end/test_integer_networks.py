"""Networks that hold integers in floats, from the file to the twin: every bit of their stored outputs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx_graphsurgeon as gs
import pytest
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, VerifyResult, verify_model

from tests.end_to_end.integer_models import nemo_network, requant_network, transformer_network
from tests.tiers import in_ci

QUANTLIB = Path(__file__).resolve().parents[3] / "shared" / "data" / "quantlib"
STORED = (
    "Kernels/Integer/Attention",
    "Kernels/Integer/Conv/DW_2D_RQ",
    "Kernels/Integer/Conv/PW_2D_RQ/Regular_RQ",
    "Kernels/Integer/GEMM/Regular_RQPerColumn",
    "Kernels/Integer/MatMul/Regular_RQ",
    "Kernels/Integer/Softmax/Regular",
    "Models/CCT/Int/ICCT_ITA",
    "Models/EEGFormer",
    "Models/MLPerf/KeywordSpotting",
    "Models/miniMobileNet",
)
#: These take 10 to 40 s each. Layers of all their kinds are in the kernels, in EEGFormer and in the networks made here.
LARGE = {"Models/CCT/Int/ICCT_ITA", "Models/MLPerf/KeywordSpotting", "Models/miniMobileNet"}
#: A depthwise layer that reads a graph input has two channels per group, which only the host does.
ON_HOST = ("Kernels/Integer/Conv/DW_2D_RQ",)
#: Multiply-accumulates from which a layer is cheaper on an accelerator, whatever the other layers are.
LARGE_MACS = 20_000
MADE: dict[str, Callable[[Path], Path]] = {
    "requant": requant_network,
    "requant of uint8": lambda folder: requant_network(folder, signed_input=False),
    "nemo": nemo_network,
    "attention, ITA": lambda folder: transformer_network(folder, partial=True),
    "attention, I-BERT": lambda folder: transformer_network(folder, partial=False),
}


def verify(folder: Path, plugins: Plugins, **options: object) -> VerifyResult:
    files = {"inputs": folder / "inputs.npz", "expected": folder / "outputs.npz"}
    return verify_model(VerifyRequest(folder / "network.onnx", "gap9", **files, **options), plugins)  # type: ignore[arg-type]


def large_layers_on_the_host(result: VerifyResult) -> list[str]:
    """Convolutions and products with constant weights that an accelerator should run."""
    return [
        node.name
        for assignment in result.compilation.mapping.assignments
        for node in assignment.candidate.match.nodes
        if node.op in ("ConvInteger", "MatMulInteger") and isinstance(node.inputs[1], gs.Constant)
        if assignment.candidate.unit == "host" and assignment.candidate.workload.macs >= LARGE_MACS
    ]


def check(result: VerifyResult, on_host: int = 0) -> None:
    assert result.ok and result.bit_exact
    for stored in result.stored:
        assert (stored.different, stored.ok) == (0, True)
    assert [output.max_abs_lsb for output in result.outputs] == [0.0] * len(result.outputs)
    assert len(large_layers_on_the_host(result)) == on_host


@pytest.mark.parametrize("name", in_ci(STORED, lambda name: name not in LARGE))
def test_stored_network(name: str, plugins: Plugins) -> None:
    folder = QUANTLIB / name
    if not (folder / "network.onnx").is_file():
        pytest.skip(f"../shared/data/quantlib/{name} is not on this machine (see ../shared/data/quantlib/README.md)")
    check(verify(folder, plugins), int(name in ON_HOST))


@pytest.mark.parametrize("name", MADE)
def test_made_network(name: str, plugins: Plugins, tmp_path: Path) -> None:
    MADE[name](tmp_path)
    check(verify(tmp_path, plugins))


def test_without_accelerators_the_host_gives_the_same(plugins: Plugins, tmp_path: Path) -> None:
    transformer_network(tmp_path, partial=True)
    result = verify(tmp_path, plugins, only_units=("host",), sanitize=True)
    assert result.ok
    assert {node.unit for node in result.run.nodes} == {"host"}


def test_outputs_that_differ_fail(plugins: Plugins, tmp_path: Path) -> None:
    nemo_network(tmp_path)
    with np.load(tmp_path / "outputs.npz") as archive:
        values = archive["output_0"]
    values[0, 0, 0, 0] += 3
    np.savez(tmp_path / "outputs.npz", output_0=values)
    result = verify(tmp_path, plugins)
    assert result.bit_exact and not result.ok
    (stored,) = result.stored
    assert (stored.different, stored.max_abs, stored.ok) == (1, 3.0, False)


def test_made_up_inputs_are_integers(plugins: Plugins, tmp_path: Path) -> None:
    """Without stored inputs the program is still equal to the file's arithmetic, which integers tell."""
    path = requant_network(tmp_path)
    result = verify_model(VerifyRequest(path, "gap9"), plugins)
    assert result.ok and result.outputs[0].max_abs_lsb == 0.0
