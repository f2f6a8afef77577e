"""The stored models for ``-t host``: some of every kind here, all of them behind the slow marker."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, VerifyResult, verify_model

from benchmarks.host_checks import HostRun, Seconds, judged
from benchmarks.host_models import faults, names, run, run_all, summary
from benchmarks.live_tensors import largest_live_set
from benchmarks.runs import MODELS

pytestmark = pytest.mark.skipif(not MODELS.is_dir(), reason="../shared/models is not on this machine")

SAMPLE = (
    "ita_mobilebert_l1_int8_qdq",
    "matcha_resnet8_f16",
    "micro_conv_dw_8x8_c16_int",
    "mlperf_autoencoder_int8_qop",
    "mlperf_dscnn_int8_int",
    "mlperf_resnet8_f32",
    "mlperf_streaming_wakeword_int8_qdq",
)


@pytest.mark.parametrize("name", SAMPLE)
def test_a_model_is_right_and_needs_no_more_memory_than_it_must(name: str) -> None:
    one = run(name)
    assert not one.failure
    assert one.at_bound, f"{one.peak_bytes} bytes, the bound is {one.bound_bytes}"


@pytest.mark.slow
def test_all_models() -> None:
    runs = list(run_all(names(), jobs=2))
    assert len(runs) >= 117
    assert not faults(runs)


@pytest.fixture(scope="module")
def resnet8() -> VerifyResult:
    folder = MODELS / "mlperf_resnet8_f32"
    with np.load(folder / "inputs.npz") as archive:
        arrays = {name: archive[name] for name in archive.files}
    return verify_model(VerifyRequest(folder / "model.onnx", "host", arrays=arrays), Plugins.load())


def test_the_bound_is_what_the_definition_says(resnet8: VerifyResult) -> None:
    """Three feature maps of the first block: the shortcut, and before and behind a convolution."""
    graph, program = resnet8.compilation.model.graph, resnet8.compilation.program
    first = int(np.prod([1, 16, 32, 32])) * 4
    live = largest_live_set(graph, program)
    assert live.bytes >= 2 * first and live.bytes % first == 0
    task = program.tasks[live.task]
    alive = [b for b in program.buffers if b.first_task <= task.index <= b.last_task and b.kind == "activation"]
    assert sum(buffer.size_bytes for buffer in alive) == live.bytes
    moved = replace(program, tasks=program.tasks[:1])
    assert largest_live_set(graph, moved).bytes < live.bytes


def test_wrong_outputs_are_failures(resnet8: VerifyResult) -> None:
    name, folder, seconds = "mlperf_resnet8_f32", MODELS / "mlperf_resnet8_f32", Seconds({"load": 1.0}, 2.0)
    right = judged(name, folder, resnet8, seconds)
    assert not right.failure and right.of_largest is not None and right.of_largest < 1e-4
    (output,) = resnet8.run.outputs
    values = resnet8.run.outputs[output].copy()
    values[3, 0, 5] += np.float32(2e-4) * np.abs(values[3]).max()
    wrong = judged(name, folder, replace(resnet8, run=replace(resnet8.run, outputs={output: values})), seconds)
    assert wrong.failure.startswith(f"{output}: ") and "of 200 by 2.0e-04 at most" in wrong.failure


def test_what_makes_the_command_fail() -> None:
    def made(number: int, peak: int, failure: str = "") -> HostRun:
        return HostRun(f"m{number}_f32", failure, Seconds({}, 0.0), peak_bytes=peak, bound_bytes=64)

    at_bound = [made(n, 64) for n in range(38)]
    assert faults([*at_bound, made(38, 96), made(39, 80)]) == []
    (larger,) = faults([*at_bound[:-1], made(37, 96), made(38, 96), made(39, 80)])
    assert "3 of 40 arenas" in larger and "m39_f32 1.250" in larger
    (failed,) = faults([*at_bound, made(38, 64, "MATCH-P001: no unit takes a node")])
    assert "m38_f32: MATCH-P001" in failed
    assert summary([made(0, 64), made(1, 0, "x")]).rows[-1][1:3] == (2, 1)
