"""The mixed-precision model: digital array, analog array and host each take what they do fastest."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import pytest
from analog_networks import integer_graph
from make_mixed import mixed
from match_core.plugin.facade import Plugins
from match_verify.reference import ReferenceRunner
from match_verify.verify import VerifyRequest, VerifyResult, verify_model
from numpy.typing import NDArray

PICTURES = [
    np.clip(np.random.default_rng(seed).normal(0, 42, (1, 3, 32, 32)), -128, 127).astype(np.int8) for seed in range(16)
]


def verified(plugins: Plugins, directory: Path, **options: object) -> VerifyResult:
    """Any loss is accepted: untrained weights behind seven layers of converters are far from 20 dB (13 dB)."""
    path = mixed(directory / "mixed.onnx")
    request = VerifyRequest(path, "diana", cache=False, accept_loss=True, **options)  # type: ignore[arg-type]
    return verify_model(request, plugins)


def convolutions(result: VerifyResult) -> Counter[str]:
    """How many convolutions of the source each unit computes."""
    return Counter(node.unit for node in result.run.nodes if any(name.startswith("conv") for name in node.onnx_names))


def outputs(path: Path, *without: str) -> NDArray[np.float32]:
    """Probabilities of 16 pictures in ONNX Runtime, behind all passes but these."""
    runner = ReferenceRunner(integer_graph(path, *without, power_of_two=True))
    return np.concatenate([runner.run({"input": picture})["probabilities"] for picture in PICTURES])


def total(result: VerifyResult) -> int:
    return sum(node.cycles for node in result.run.nodes)


def test_all_three_units(plugins: Plugins, tmp_path: Path) -> None:
    result = verified(plugins, tmp_path, sanitize=True)
    assert result.ok
    assert convolutions(result)["analog"] == 5
    assert {node.unit for node in result.run.nodes} == {"host", "digital", "analog"}
    for node in result.run.nodes:
        assert node.predicted_cycles == node.cycles, node


def test_the_analog_array_gains(plugins: Plugins, tmp_path: Path) -> None:
    """Against the same network with ternary layers on the digital array."""
    both, digital = (verified(plugins, tmp_path, without_passes=without) for without in ((), ("diana_analog_scales",)))
    assert both.ok and digital.ok
    assert convolutions(digital) == Counter({"digital": 7})
    assert total(both) < total(digital)


@pytest.mark.parametrize("options", [{"mode": "lazy"}, {"memory": (("l1", 16 * 1024),)}], ids=["lazy", "small L1"])
def test_other_runs(options: dict[str, object], plugins: Plugins, tmp_path: Path) -> None:
    assert verified(plugins, tmp_path, **options).ok


def test_distance_to_the_original(tmp_path: Path) -> None:
    """7 bits cost little beside the converters; all of it stays well below what tells pictures apart."""
    path = mixed(tmp_path / "mixed.onnx")
    runner = ReferenceRunner(onnx.load(str(path)))
    original = np.concatenate([runner.run({"input": picture})["probabilities"] for picture in PICTURES])
    digital, narrow, analog = (
        np.sqrt(np.square(outputs(path, *without) - original).mean()) / original.std()
        for without in (("diana_analog_scales",), ("diana_analog",), ())
    )
    assert digital < 0.2 and narrow < 0.2 and analog < 0.4


def test_same_bytes_without_the_array(plugins: Plugins, tmp_path: Path) -> None:
    """Arithmetic does not depend on the units in use: the host computes the analog layers' bits."""
    with_array, without = (verified(plugins, tmp_path, without_units=units) for units in ((), ("analog",)))
    assert without.ok and "analog" not in convolutions(without)
    first, second = (result.run.outputs["probabilities"].tobytes() for result in (with_array, without))
    assert first == second
