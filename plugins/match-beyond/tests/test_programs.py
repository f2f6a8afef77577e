"""Programs of a network that exceeds L2: bit exact where copies arrive late, and no wrong copy passes the validator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from match_core import hookimpl
from match_core.contract.compilation import Compilation
from match_core.contract.errors import InfeasibleError
from match_core.contract.fitting import Fit, FitRequest
from match_core.contract.observe import NullObserver
from match_core.contract.program import Program
from match_core.map.dataflow import tensor_bytes, tensors_of
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.discovery import Found
from match_core.plugin.facade import Plugins
from match_core.validate.contents import content_faults
from match_core.validate.sequential_program import program_faults
from match_verify.verify import VerifyRequest, verify_model

from benchmarks.large_networks import NetworkBuilder, unet

#: Less than half of what the network needs without stripes and copies.
L2_BYTES = 20_000
#: Rows and columns of a picture.
SIDE = 64


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unet(tmp_path_factory.mktemp("unet") / "unet.onnx", size=32, width=8, levels=1)


@pytest.fixture(scope="module")
def compilation(model: Path, spy: Any) -> Compilation:
    request = CompileRequest(model, "gap9", memory=(("l2", L2_BYTES),))
    return compile_model(request, spy.plugins(), NullObserver()).compilation


def test_copies_that_arrive_late_change_no_bit(model: Path) -> None:
    request = VerifyRequest(model, "gap9", memory=(("l2", L2_BYTES),), mode="lazy", sanitize=True)
    result = verify_model(request, Plugins.load())
    program = result.compilation.program
    assert result.bit_exact
    assert program.swaps and {use.memory: use.used_bytes for use in program.memory}["l2"] <= L2_BYTES
    assert abs(program.predicted_cycles / result.run.cycles_total - 1) < 0.02


def test_stripes_of_an_upsampling_stay_within_their_parts(model: Path) -> None:
    """An upsampling by two makes even numbers of rows. With this memory, a choice copied odd rows of a stripe, which
    the validator refused."""
    result = verify_model(VerifyRequest(model, "gap9", memory=(("l2", 24_000),), mode="lazy"), Plugins.load())
    assert result.compilation.program.swaps
    assert result.bit_exact


def test_leaner_choices_are_tried_before_a_model_is_refused(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    request = VerifyRequest(model, "gap9", memory=(("l2", 10_000),), cache=False)
    assert verify_model(request, Plugins.load()).bit_exact
    monkeypatch.setattr("match_beyond.search.FINE", ())
    with pytest.raises(InfeasibleError):
        verify_model(request, Plugins.load())


def test_forced_concurrency_names_the_sequential_program(model: Path) -> None:
    request = CompileRequest(model, "gap9", memory=(("l2", 45_000),), execution="concurrent")
    with pytest.raises(InfeasibleError) as caught:
        compile_model(request, Plugins.load(), NullObserver())
    assert caught.value.help[0] == "leave out --concurrent: a sequential program fits"
    assert compile_model(replace(request, execution="sequential"), Plugins.load(), NullObserver()).compilation.program


class Whole:
    """Fits no model, so that the compiler keeps what it has."""

    match_contract = 1

    @hookimpl(tryfirst=True)
    def match_fit(self, request: FitRequest) -> Fit:
        """No answer of another package is heard."""
        return Fit(None, "")


def test_stripes_replace_a_program_that_streams_through_little_memory(tmp_path: Path) -> None:
    builder = NetworkBuilder(5, (16, 20, 12))
    x = builder.input
    for kernel in (1, 3, 1, 3):
        x = builder.conv(x, 48, kernel)
    path = builder.save(tmp_path / "model.onnx", builder.classify(x, 10))
    given = CompileRequest(path, "gap9", memory=(("l2", 48_000),))
    whole = compile_model(given, Plugins.load((Found("whole", "whole", "0", Whole),)), NullObserver()).compilation
    result = verify_model(VerifyRequest(path, "gap9", memory=given.memory), Plugins.load())
    assert whole.program.predicted_cycles > 1.05 * result.run.cycles_total and not whole.model.parts
    assert result.bit_exact and result.compilation.model.parts
    assert result.compilation.program.predicted_cycles < whole.program.predicted_cycles


def test_the_program_is_valid_and_uses_stripes(compilation: Compilation, spy: Any) -> None:
    program = compilation.program
    assert program_faults(compilation.model.graph, program, (), spy.places(program)) == ()
    assert compilation.model.parts and compilation.model.away
    assert any(buffer.starts for buffer in program.buffers)


def mutants(program: Program) -> Iterator[tuple[str, Program]]:
    """Programs with one mistake each: a missing wait, a copy from or to wrong rows, a copy that starts before its
    bytes are there, a part at a wrong place, memory that is used again too early."""
    for position, task in enumerate(program.tasks):
        if task.needs:
            tasks = (*program.tasks[:position], replace(task, needs=()), *program.tasks[position + 1 :])
            yield f"no wait before task {position}", replace(program, tasks=tasks)
    for number, swap in enumerate(program.swaps):
        row = 16

        def changed(number: int = number, **fields: object) -> Program:
            other = replace(program.swaps[number], **fields)  # type: ignore[arg-type]
            return replace(program, swaps=(*program.swaps[:number], other, *program.swaps[number + 1 :]))

        yield f"copy {number} from wrong rows", changed(source_start=swap.source_start + row)
        yield f"copy {number} to wrong rows", changed(target_start=swap.target_start + row)
        yield f"copy {number} is short", changed(size_bytes=swap.size_bytes - row)
        if swap.target.startswith("activation") and dict(swap.needs)["host"] > 1 and number:
            yield f"copy {number} starts at once", changed(needs=(("host", 0),))
    for number, buffer in enumerate(program.buffers):
        if buffer.starts:
            name, start = buffer.starts[0]
            moved = replace(buffer, starts=((name, start + 8), *buffer.starts[1:]))
            buffers = (*program.buffers[:number], moved, *program.buffers[number + 1 :])
            yield f"{name} at a wrong place", replace(program, buffers=buffers)


def test_every_mutant_is_caught(compilation: Compilation, spy: Any) -> None:
    graph, program = compilation.model.graph, compilation.program
    found, places = list(mutants(program)), spy.places(program)
    sizes = {name: tensor_bytes(tensor) for name, tensor in tensors_of(graph).items()}
    missed = [name for name, mutant in found if not any(content_faults(graph, mutant, sizes, places))]
    assert len(found) > 40
    assert not [name for name in missed if "starts at once" not in name and "no wait" not in name], missed
    # A later wait, or memory that nothing else used before, can make such a mistake harmless.
    assert len(missed) < len(found) // 8, missed


def test_what_cannot_fit_is_refused_with_a_lower_bound(model: Path) -> None:
    with pytest.raises(InfeasibleError) as caught:
        compile_model(CompileRequest(model, "gap9", memory=(("l2", 4096),)), Plugins.load(), NullObserver())
    assert caught.value.code == "MATCH-M001"
    assert "alone needs" in caught.value.why


def test_a_chip_that_cannot_divide_layers_also_states_a_lower_bound(tmp_path: Path) -> None:
    builder = NetworkBuilder(9, (8, 16, 16))
    model = builder.save(tmp_path / "model.onnx", builder.conv(builder.conv(builder.input, 16, 3), 8, 3))
    with pytest.raises(InfeasibleError) as caught:
        compile_model(CompileRequest(model, "diana", memory=(("l2", 2048),)), Plugins.load(), NullObserver())
    assert caught.value.code == "MATCH-M001"
    tensor = 16 * 16 * 16
    assert "in any program: 'conv" in caught.value.why and f"alone needs {tensor} bytes" in caught.value.why


def test_a_picture_whose_other_layout_does_not_fit_is_turned_in_stripes(tmp_path: Path) -> None:
    builder = NetworkBuilder(24, (3, SIDE, SIDE))
    x = builder.conv(builder.conv(builder.input, 8, 3, 2), 16, 3, 2)
    model = builder.save(tmp_path / "model.onnx", builder.classify(builder.max_pool(x, 4, 4), 4))
    request = VerifyRequest(model, "gap9", memory=(("l2", 2 * 3 * SIDE**2 - 1),), mode="lazy", sanitize=True)
    result = verify_model(request, Plugins.load())
    assert result.bit_exact
    assignments = [task.assignment.candidate for task in result.compilation.program.tasks]
    turned = [found.workload for found in assignments if found.pattern.name == "transpose_part"]
    assert len(turned) > 1
    for workload in turned:
        planes, rows = workload.operand("input").axes
        assert planes.stride == SIDE**2 > rows.size, "it reads rows of all planes of the picture where they are"


def test_a_view_of_the_tensor_that_a_task_wrote_leaves_the_home_memory(tmp_path: Path) -> None:
    """With one channel, NCHW is NHWC: the picture is a view of the converted input, and is read again at the end."""
    builder = NetworkBuilder(3, (1, 32, 32))
    x = builder.conv(builder.conv(builder.conv(builder.input, 8, 3), 8, 3), 1, 3, relu="")
    model = builder.save(tmp_path / "model.onnx", builder.add(builder.input, x))
    result = verify_model(VerifyRequest(model, "gap9", memory=(("l2", 18_000),), mode="lazy"), Plugins.load())
    assert "input_stored_nhwc" in result.compilation.model.away
    assert result.bit_exact


def test_every_mutant_of_kept_rows_is_caught(tmp_path: Path) -> None:
    builder = NetworkBuilder(7, (4, 24, 24))
    x = builder.conv(builder.conv(builder.input, 16, 3), 16, 3)
    model = builder.save(tmp_path / "model.onnx", builder.conv(x, 8, 3, 2))
    request = VerifyRequest(model, "stm32l4r5", memory=(("ram", 12_000),), sanitize=True)
    result = verify_model(request, Plugins.load())
    graph, program = result.compilation.model.graph, result.compilation.program
    assert result.bit_exact
    assert any("_kept" in node.name for node in graph.nodes)
    sizes = {name: tensor_bytes(tensor) for name, tensor in tensors_of(graph).items()}
    assert not list(content_faults(graph, program, sizes, {}))
    found = list(mutants(program))
    assert len(found) > 4
    assert [name for name, mutant in found if not any(content_faults(graph, mutant, sizes, {}))] == []
