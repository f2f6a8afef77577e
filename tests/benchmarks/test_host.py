"""The benchmark of the host on small parts of what it measures."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from match_core.plugin.facade import Plugins
from numpy.typing import NDArray

from benchmarks import host_measure, host_riscv, host_speed, host_tables
from benchmarks.host_builds import build
from benchmarks.host_measure import Measured, Wanted, measure
from benchmarks.host_programs import Ends, Tensor, ends
from benchmarks.runs import MODELS
from benchmarks.tables import PAGE

NAME = "mlperf_autoencoder_int8_qdq"
stored_models = pytest.mark.skipif(not MODELS.is_dir(), reason="../shared/models is not on this machine")
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
valgrind = pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
qemu = pytest.mark.skipif(
    shutil.which("riscv64-unknown-elf-gcc") is None or shutil.which("qemu-system-riscv32") is None,
    reason="gcc-riscv64-unknown-elf or qemu-system-misc is not installed",
)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    wanted = Wanted(("portable",), seconds=0.02, sizes=True, instructions=False, emx=False)
    return measure(NAME, tmp_path_factory.mktemp("host"), wanted)


@stored_models
@needs_gcc
def test_a_network_is_measured(measured: Measured) -> None:
    assert not measured.faults and measured.differences["match"] <= host_measure.STEPS_BOUND
    for times in measured.times.values():
        assert 0 < times.best <= times.median and times.runs >= host_measure.TURNS_MIN
    assert set(measured.times) == {("match", "portable"), ("onnxruntime", "native")}
    assert sum(node.share for node in measured.nodes) == pytest.approx(1.0) and len(measured.nodes) == 10
    size, stack = measured.sizes["match", "small"], measured.stacks["match", "small"]
    assert 500 < size.text_bytes < 20_000 and 264_192 <= size.constant_bytes < 300_000
    assert 0 < stack.size_bytes < 4096 and stack.path[0].endswith("_run")


@stored_models
@needs_gcc
def test_every_table_has_its_place_in_the_page(measured: Measured) -> None:
    tables = host_tables.tables([measured], Wanted(("portable", "small"), emx=False))
    assert len(tables) == 6
    for table in tables:
        assert table.is_in(PAGE) and table.rows[0][0] == NAME
    (nodes,) = host_tables.nodes([measured])
    assert len(nodes.rows) == len(measured.nodes)


class _Fixed:
    """A subject that gives the same whatever it gets."""

    def __init__(self, values: NDArray[np.generic]) -> None:
        self.values = values

    def run(self, inputs: Sequence[NDArray[np.generic]], about: Ends) -> list[NDArray[np.generic]]:
        return [self.values]

    def time(self, runs: int, inputs: Sequence[NDArray[np.generic]], about: Ends) -> list[float]:
        return [1.0] * runs


@pytest.mark.parametrize(
    ("values", "faults"),
    [
        (np.array([1, 2, 3, 4], np.int8), 0),
        (np.array([1, 2, 4, 4], np.int8), 1),  # near enough, but not the bits of the graph
        (np.array([9, 9, 9, 9], np.int8), 2),
        (np.array([1, 2, 3, 4.0001], np.float32), 0),
        (np.array([1, 2, 3, 4.1], np.float32), 1),
        (np.array([1, 2, 3, np.nan], np.float32), 1),
    ],
)
def test_outputs_that_are_far_off_are_failures(values: NDArray[np.generic], faults: int) -> None:
    stored = np.array([1, 2, 3, 4], values.dtype)
    about = Ends((), (Tensor("y", (4,), values.dtype.name),))
    exact = None if values.dtype.kind == "f" else [[stored]]
    found = host_measure.differences("net", {("match", "small"): _Fixed(values)}, [[]], [[stored]], about, exact)
    assert len(found[1]) == faults and set(found[0]) == {"match"}


@stored_models
@needs_gcc
@valgrind
def test_instructions_repeat(measured: Measured, tmp_path: Path) -> None:
    about = ends(MODELS / NAME / "model.onnx")
    built = build(measured.programs["match"], "small", tmp_path)
    inputs = [np.zeros(tensor.shape, tensor.dtype) for tensor in about.inputs]
    first, second = built.instructions(inputs, about), built.instructions(inputs, about)
    assert first == second > 264_192


def test_networks_are_chosen_by_parts_of_names() -> None:
    assert host_speed.chosen([]) == list(host_speed.MODEL_NAMES) and len(host_speed.MODEL_NAMES) == 14
    assert host_speed.chosen(["dscnn"]) == [f"mlperf_dscnn_{form}" for form in host_speed.FORMS]
    assert host_speed.chosen(["nothing"]) == []


@pytest.mark.slow
@stored_models
@qemu
def test_a_network_on_risc_v(plugins: Plugins, tmp_path: Path) -> None:
    runs = host_riscv.measure(host_riscv.network(NAME, tmp_path, plugins), (32,))
    assert [run.level for run in runs] == list(host_riscv.LEVELS) and not any(run.wrong for run in runs)
    assert all(run.instructions > 264_192 for run in runs)
    table = host_riscv.table(runs)
    assert table.is_in(PAGE) and table.rows[0][-1] == "yes"
    wrong = host_riscv.table([replace(run, wrong=("output",)) for run in runs])
    assert wrong.rows[0][-1] == "NO"
