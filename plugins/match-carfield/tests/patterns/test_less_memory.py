"""Less home memory: programs get slower step by step, and units stay side by side while tensors can move to L3."""

from __future__ import annotations

from pathlib import Path

import pytest
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, VerifyResult, verify_model

from tests.conftest import SHARED_MODELS

from .half_models import HalfModel

#: With all of L2, the program of the block uses 119,040 bytes of it.
SIZES = (119_040, 71_424)


def test_units_stay_side_by_side_with_tensors_in_l3(tmp_path: Path) -> None:
    """The program that streams constants, one task after another, takes 1.6 times as long."""
    made = HalfModel(3, 1, 32, 16, 16).conv(32, 3).relu()
    shortcut = made.current
    model = made.conv(32, 3).add(shortcut).relu().save(tmp_path / "block.onnx")
    plugins = Plugins.load()

    def verified(size_bytes: int) -> VerifyResult:
        return verify_model(VerifyRequest(model=model, target="carfield", memory=(("l2", size_bytes),)), plugins)

    roomy, tight = map(verified, SIZES)
    assert roomy.ok and tight.ok
    programs = [result.compilation.program for result in (roomy, tight)]
    assert all(program.queues for program in programs)
    assert programs[0].predicted_cycles < programs[1].predicted_cycles < 1.1 * programs[0].predicted_cycles
    assert {buffer.memory for buffer in programs[1].buffers} >= {"l2", "l3"}


def test_more_memory_is_not_slower_where_one_tensor_more_in_l3_does_not_help(tmp_path: Path) -> None:
    """With 48,000 bytes, a program that streams constants gets better only when a second tensor moves: then it streams
    less. With 46,000 bytes, two tensors have to move."""
    made = HalfModel(3, 1, 16, 25, 5).conv(64, 3).relu()
    for _ in range(3):
        made.conv(64, 3, group=64).relu().conv(64, 1).relu()
    model, plugins = made.save(tmp_path / "chain.onnx"), Plugins.load()

    def cycles(size_bytes: int) -> int:
        memory = (("l2", size_bytes),)
        request = CompileRequest(model=model, target="carfield", memory=memory, execution="sequential", cache=False)
        return compile_model(request, plugins).compilation.program.predicted_cycles

    assert cycles(48_000) <= cycles(46_000)


@pytest.mark.slow
def test_where_tasks_wait_for_memory_one_more_tensor_moves() -> None:
    """With all tensors in L2, ResNet8's program takes 551,653 cycles, as its tasks wait for others to end."""
    model = SHARED_MODELS / "matcha_resnet8_f16" / "model.onnx"
    if not model.is_file():
        pytest.skip(f"{model} is not on this machine")
    request = CompileRequest(model=model, target="carfield", memory=(("l2", 265_872),), cache=False)
    program = compile_model(request, Plugins.load()).compilation.program
    assert program.predicted_cycles < 520_000
    assert "l3" in {buffer.memory for buffer in program.buffers}
