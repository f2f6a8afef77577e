"""Programs whose workers requantise NE16's sums: both units are busy, tasks of others wait, the bytes are right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from match_core.contract.observe import NullObserver
from match_core.contract.program import Program
from match_core.pipeline import CompileRequest, build_program, compile_model
from match_core.plugin.facade import Plugins
from match_core.run.compiled_program import read_manifest, units_of_program
from match_core.validate.concurrent_program import concurrent_faults
from match_core.validate.program_static import part_faults
from match_gap9.cost import cost_model
from match_verify.verify import VerifyRequest, verify_model
from onnx import helper

from tests.end_to_end.models import QdqBuilder
from tests.twin.mutants import mutants_of
from tests.twin.mutation import bench, summary, table


@pytest.fixture(scope="module")
def plugins() -> Plugins:
    return Plugins.load()


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An image, whose layers take both units, beside a vector, whose few sums the controller requantises alone."""
    folder = tmp_path_factory.mktemp("joint")
    builders = {
        "image": QdqBuilder(1, 16, 8, 8).conv(32, 3).conv(32, 1),
        "vector": QdqBuilder(2, 128, 1, 1).conv(128, 1).conv(96, 1).conv(64, 1),
    }
    graphs = [
        onnx.compose.add_prefix(onnx.load(builder.save(folder / "part.onnx")), f"{name}_").graph
        for name, builder in builders.items()
    ]
    fields = [[entry for graph in graphs for entry in getattr(graph, f)] for f in ("node", "input", "output")]
    constants = [entry for graph in graphs for entry in graph.initializer]
    model = helper.make_model(
        helper.make_graph(fields[0], "joint", fields[1], fields[2], constants),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=9,
    )
    onnx.save(model, folder / "joint.onnx")
    return folder / "joint.onnx"


def joint(program: Program) -> Iterator[int]:
    """Indices of the tasks that keep both units busy."""
    return (task.index for task in program.tasks if task.assignment.candidate.pattern.occupies)


@pytest.mark.parametrize("mode", ["eager", "lazy:ne16", "threads:3"])
def test_bytes_are_right_in_every_mode(plugins: Plugins, network: Path, mode: str) -> None:
    request = VerifyRequest(network, "gap9", execution="concurrent", mode=mode, sanitize=mode == "eager")
    result = verify_model(request, plugins)
    assert result.bit_exact
    program = result.compilation.program
    alone = {task.index for task in program.tasks if task.queue == "ne16"}
    assert set(joint(program)) and alone
    assert all(program.tasks[index].queue == "cluster" for index in joint(program))


def test_it_is_faster_than_one_task_after_another_and_as_predicted(plugins: Plugins, network: Path) -> None:
    found = {}
    for execution in ("sequential", "concurrent"):
        request = VerifyRequest(network, "gap9", execution=execution)  # type: ignore[arg-type]
        found[execution] = verify_model(request, plugins)
    assert found["concurrent"].run.cycles_total < found["sequential"].run.cycles_total
    predicted = found["concurrent"].compilation.program.predicted_cycles
    assert 0.95 * predicted < found["concurrent"].run.cycles_total < 1.05 * predicted


def test_a_missing_wait_is_found(plugins: Plugins, network: Path) -> None:
    """Each wait between a task on both units and its neighbours on NE16, dropped from the plan."""
    compilation = build_program(CompileRequest(network, "gap9", execution="concurrent"), plugins, NullObserver())
    graph, program = compilation.model.graph, compilation.program
    assert concurrent_faults(graph, program) == ()
    dropped = 0
    for task in program.tasks:
        for need in task.needs:
            changed = replace(task, needs=tuple(other for other in task.needs if other != need))
            tasks = (*program.tasks[: task.index], changed, *program.tasks[task.index + 1 :])
            faults = concurrent_faults(graph, replace(program, tasks=tasks))
            assert any("no order" in fault or "not there" in fault for fault in faults), (task.index, need, faults)
            dropped += any("ne16" in fault or "cluster" in fault for fault in faults)
    assert dropped
    # Both parts of L1 belong to a task on both units, and to no other.
    index = next(joint(program))
    task = program.tasks[index]
    schedule = replace(task.assignment.schedule, working_bytes=(("l1", program.soc.parts[0].size_bytes + 16),))
    for occupies, faults in ((task.assignment.candidate.pattern.occupies, 0), ((), 1)):
        pattern = replace(task.assignment.candidate.pattern, occupies=occupies)
        candidate = replace(task.assignment.candidate, pattern=pattern)
        large = replace(task, assignment=replace(task.assignment, candidate=candidate, schedule=schedule))
        uses = tuple(replace(use, arena_bytes=use.available_bytes) for use in program.memory)
        tasks = (*program.tasks[:index], large, *program.tasks[index + 1 :])
        assert len(list(part_faults(replace(program, tasks=tasks, memory=uses)))) == faults


def test_the_twin_catches_every_missing_wait(plugins: Plugins, network: Path, tmp_path: Path) -> None:
    compile_model(CompileRequest(network, "gap9", tmp_path / "program", execution="concurrent"), plugins)
    document = read_manifest(tmp_path / "program")
    host, apis = units_of_program(document, plugins)
    random = np.random.default_rng(1)
    inputs = {t["name"]: random.integers(-128, 128, (1, *t["shape"]), np.int8) for t in document["inputs"]}
    made = bench(tmp_path / "program", tmp_path / "work", document, apis, host, inputs, threads=False)
    mutants = mutants_of(tmp_path / "program", document, apis)
    outcomes = tuple(made.outcome(mutant) for mutant in mutants if mutant.kind == "need")
    assert outcomes
    assert summary(outcomes)[2] == "0", table(outcomes)


def test_layers_on_both_units_cost_what_they_cost_in_a_sequential_program() -> None:
    """But for the hand-over of the layer, and for core 0, which leads the workers instead of the controller."""
    alone, both = cost_model("ne16", "conv3x3_wide"), cost_model("cluster", "with_conv3x3_wide", mode="concurrent")
    assert both.name != alone.name and both.overlap == "data"
    lonely = cost_model("ne16", "conv3x3_wide", mode="concurrent", shares_dma=True)
    assert lonely.shares_dma and not both.shares_dma
