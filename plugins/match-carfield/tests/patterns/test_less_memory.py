"""Less home memory: programs get slower step by step, and units stay side by side while tensors can move to L3."""

from __future__ import annotations

from pathlib import Path

from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, VerifyResult, verify_model

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
