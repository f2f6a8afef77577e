"""Programs that fit because some nodes get candidates with smaller constants or operands."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from match_core.contract.errors import InfeasibleError
from match_core.contract.observe import NullObserver
from match_core.contract.program import Program
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, verify_model

from benchmarks.large_networks import NetworkBuilder
from tests.conftest import SHARED_MODELS

#: DIANA's digital core stores 16 filters at least, so that 4 need as much as 16. The image is small beside the weights.
CHANNELS = 4


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    builder = NetworkBuilder(3, (CHANNELS, 4, 4))
    x = builder.input
    for outputs in (64, CHANNELS, 64, CHANNELS):
        x = builder.conv(x, outputs, 3)
    return builder.save(tmp_path_factory.mktemp("wide") / "wide.onnx", x)


def _program(model: Path, size: int | None = None) -> Program:
    memory = () if size is None else (("l2", size),)
    return compile_model(
        CompileRequest(model, "diana", memory=memory), Plugins.load(), NullObserver()
    ).compilation.program


def _used(program: Program) -> int:
    return next(use.used_bytes for use in program.memory if use.memory == "l2")


def test_less_memory_gives_slower_programs_that_fit(model: Path) -> None:
    """Each a few bytes below the one before, down to one that no choice fits below."""
    programs = [_program(model)]
    with pytest.raises(InfeasibleError, match="MATCH-M001"):
        while True:
            programs.append(_program(model, _used(programs[-1]) - 16))
    assert len(programs) > 2
    assert all(_used(less) < _used(more) for more, less in pairwise(programs))
    assert all(less.predicted_cycles >= more.predicted_cycles for more, less in pairwise(programs))


def test_a_program_of_lighter_candidates_is_right(model: Path) -> None:
    size = _used(_program(model)) - 16
    result = verify_model(VerifyRequest(model, "diana", memory=(("l2", size),)), Plugins.load())
    assert result.bit_exact
    assert _used(result.compilation.program) <= size


@pytest.mark.parametrize("sizes", [(392_608, 412_320), (333_440, 353_152)])
def test_programs_that_left_out_more_by_themselves_do_not_end_the_search(sizes: tuple[int, int]) -> None:
    """With some exchanges, MobileNet fits only because the sequential search leaves out dearer candidates: with more
    exchanges, it takes a third of the cycles."""
    mobilenet = SHARED_MODELS / "mlperf_mobilenetv1_025_int8_qdq" / "model.onnx"
    if not mobilenet.is_file():
        pytest.skip(f"{mobilenet} is not on this machine")
    less, more = (_program(mobilenet, size).predicted_cycles for size in sizes)
    assert more <= less
