"""Tasks with several results: planner, validators and emitted bytes do not take the last node's output for all."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from match_core.contract.observe import NullObserver
from match_core.ir.topology import Topology
from match_core.map.dataflow import flow_of
from match_core.map.forms import forms_made
from match_core.pipeline import CompileRequest, build_program
from match_core.validate.concurrent_program import concurrent_faults
from match_core.validate.sequential_program import program_faults

from core.tests.regions.engine_plugin import plugin
from core.tests.regions.test_emit_formats import compiled, loaded, model
from tests.program_files import program_files

if TYPE_CHECKING:
    from pathlib import Path

    from match_core.contract.program import Program, Task

    from core.tests.plugin.distributions import Site


def _changed(program: Program, number: int, **match: object) -> Program:
    """The program with other fields in the match of a task."""
    tasks: list[Task] = list(program.tasks)
    assignment = tasks[number].assignment
    candidate = replace(assignment.candidate, match=replace(assignment.candidate.match, **match))  # type: ignore[arg-type]  # any field
    tasks[number] = replace(tasks[number], assignment=replace(assignment, candidate=candidate))
    return replace(program, tasks=tuple(tasks))


def _of_region(program: Program) -> int:
    return next(task.index for task in program.tasks if len(task.assignment.candidate.match.results) == 3)


def test_what_a_region_makes(site: Site, tmp_path: Path) -> None:
    compilation = compiled(model(tmp_path), loaded(site, "json"))
    assignment = compilation.program.tasks[_of_region(compilation.program)].assignment
    candidate = assignment.candidate
    results = [tensor.name for tensor in candidate.match.results]
    assert flow_of(Topology.of(compilation.model.graph), assignment).makes == tuple(results)
    assert [candidate.result(f"out{number}").name for number in range(3)] == results
    assert set(results) <= forms_made(candidate).keys()
    assert results[0] == "early"
    assert candidate.match.nodes[-1].outputs[0].name == results[-1]


def test_the_validator_misses_a_result(site: Site, tmp_path: Path) -> None:
    compilation = compiled(model(tmp_path), loaded(site, "json"))
    program, graph = compilation.program, compilation.model.graph
    assert program_faults(graph, program) == ()
    number = _of_region(program)
    results = program.tasks[number].assignment.candidate.match.results
    for left_out in results:
        kept = tuple(tensor for tensor in results if tensor is not left_out)
        told = f"task {number} does not list {left_out.name!r}, which other tasks read"
        assert told in program_faults(graph, _changed(program, number, results=kept))


def test_the_validator_of_programs_with_queues_misses_a_result(site: Site, tmp_path: Path) -> None:
    request = CompileRequest(model(tmp_path), "beside_chip", execution="concurrent")
    compilation = build_program(request, loaded(site, "json"), NullObserver())
    program, graph = compilation.program, compilation.model.graph
    assert concurrent_faults(graph, program) == ()
    number = _of_region(program)
    results = program.tasks[number].assignment.candidate.match.results
    faults = concurrent_faults(graph, _changed(program, number, results=results[1:]))
    assert f"task {number} does not list {results[0].name!r}, which other tasks read" in faults


@pytest.mark.parametrize("form", ["json", "binary"])
def test_the_same_bytes_with_any_hash_seed(site: Site, tmp_path: Path, form: str) -> None:
    site.plugin("engine", plugin(form))
    path, digests = model(tmp_path), set()
    for seed in ("1", "2"):
        out = tmp_path / f"out{seed}"
        environment = {**os.environ, **site.environment, "PYTHONPATH": str(site.path), "PYTHONHASHSEED": seed}
        command = [sys.executable, "-m", "match_core.cli.main", "compile", path, "-t", "engine_chip", "-o", out, "-q"]
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        content = b"".join(program_files(out).values())
        digests.add(hashlib.sha256(content).hexdigest())
    assert len(digests) == 1
