"""Units that want other bytes than dense ones: conversions are chosen with the mapping, and programs stay right."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import onnx
import onnx.parser
import onnx_graphsurgeon as gs
import pytest
from match_core.contract.observe import NullObserver
from match_core.map.convert import Conversions
from match_core.map.forms import form_fault, forms_made, forms_read
from match_core.pipeline import CompileRequest, build_program
from match_core.validate.mapping import mapping_faults
from match_map.mapper import choose
from match_verify.verify import VerifyRequest, verify_model

sys.path.insert(0, str(Path(__file__).parent))
from forms_plugin import PLUGIN

if TYPE_CHECKING:
    from match_core.contract.compilation import Compilation
    from match_core.contract.mapping import Mapping
    from match_core.plugin.facade import Plugins

    from core.tests.plugin.distributions import Site

HEAD = '<ir_version: 10, opset_import: ["" : 21]> net '


@pytest.fixture
def plugins(site: Site) -> Plugins:
    site.plugin("forms", PLUGIN)
    loaded = site.load()
    assert loaded.faults == ()
    return loaded


def _model(folder: Path, text: str) -> Path:
    path = folder / "net.onnx"
    onnx.save(onnx.parser.parse_model(HEAD + text), str(path))
    return path


def _constant(name: str, shape: tuple[int, ...]) -> str:
    count = int(np.prod(shape))
    sizes = ",".join(map(str, shape))
    return f"float[{sizes}] {name} = {{{', '.join(str(1 + (7 * n) % 3) for n in range(count))}}}"


def _compiled(path: Path, plugins: Plugins) -> Compilation:
    return build_program(CompileRequest(path, "chip"), plugins, NullObserver())


def _forms(mapping: Mapping) -> list[tuple[str, str, str]]:
    """(pattern, form read, form made) of every task."""
    found = []
    for assignment in mapping.assignments:
        candidate = assignment.candidate
        (read,) = set(forms_read(candidate).values())
        (made,) = set(forms_made(candidate).values())
        found.append((candidate.pattern.name, read, made))
    return found


CHAIN = f"""(float[1,6,5,11] x) => (float[1,6,5,11] y)
    <{_constant("a", (1, 6, 5, 11))}, {_constant("b", (6, 1, 1))}, {_constant("c", (11,))}> {{
    p = Pow (x, a)  q = Sigmoid (p)  r = Pow (q, b)  y = Pow (r, c) }}"""


def test_neighbours_on_one_unit_convert_once_at_each_end(plugins: Plugins, tmp_path: Path) -> None:
    """The conversion to the padded form is cheaper than to blocks; between two engine layers nothing is converted."""
    compiled = _compiled(_model(tmp_path, CHAIN), plugins)
    tasks = _forms(compiled.mapping)
    assert [pattern for pattern, _, _ in tasks] == [
        "host_convert", "padded_to_blocks", "host_convert", "host_sigmoid", "host_convert", "padded_to_blocks",
        "blocks", "host_convert",
    ]  # fmt: skip
    assert tasks[-2:] == [("blocks", "blocks", "blocks"), ("host_convert", "blocks", "")]
    assert compiled.mapping.solver.objective == compiled.mapping.predicted_cycles
    assert mapping_faults(compiled.model.graph, compiled.mapping) == ()
    bytes_of = {name: buffer.size_bytes for buffer in compiled.program.buffers for name in buffer.tensors}
    assert bytes_of["r"] == 2 * 5 * 16 * 4 * 4  # 6 channels as two blocks of four, 11 columns as 16


def test_programs_are_right(plugins: Plugins, tmp_path: Path) -> None:
    result = verify_model(VerifyRequest(_model(tmp_path, CHAIN), "chip", sanitize=True), plugins)
    assert result.ok
    assert {node.unit for node in result.run.nodes} == {"host", "power"}


def test_a_tensor_is_converted_once_for_all_who_want_the_same(plugins: Plugins, tmp_path: Path) -> None:
    text = f"""(float[1,4,9,8] x) => (float[1,4,9,8] y, float[1,4,9,8] z)
        <{_constant("a", (1, 4, 9, 8))}> {{
        p = Pow (x, a)  q = Pow (p, a)  r = Sigmoid (p)  s = Tanh (p)  y = Add (r, s)  z = Pow (q, a) }}"""
    compiled = _compiled(_model(tmp_path, text), plugins)
    conversions = [a for a in compiled.mapping.assignments if a.candidate.pattern.name == "host_convert"]
    read = [assignment.candidate.match.nodes[0].inputs[0].name for assignment in conversions]
    assert sorted(read) == ["p", "x", "z_blocks"]
    assert verify_model(VerifyRequest(_model(tmp_path, text), "chip"), plugins).ok


def test_conversions_that_cost_more_than_the_layer_saves_keep_it_on_the_host(plugins: Plugins, tmp_path: Path) -> None:
    text = f"(float[1,1,1,2] x) => (float[1,1,1,2] y) <{_constant('a', (1, 1, 1, 2))}> {{ y = Pow (x, a) }}"
    compiled = _compiled(_model(tmp_path, text), plugins)
    assert compiled.mapping.units == {"host"}
    assert len(compiled.mapping.assignments) == 1


@pytest.mark.parametrize("shape", [(1, 4, 9, 8), (1, 1, 1, 3)])
def test_the_choice_is_the_best_of_all(plugins: Plugins, tmp_path: Path, shape: tuple[int, ...]) -> None:
    """Every combination of candidates, with the conversions that it needs, against the mapper's answer."""
    sizes = ",".join(map(str, shape))
    text = f"""(float[{sizes}] x) => (float[{sizes}] y) <{_constant("a", shape)}> {{
        p = Pow (x, a)  q = Sigmoid (p)  r = Pow (p, a)  s = Add (q, r)  y = Pow (s, a) }}"""
    compiled = _compiled(_model(tmp_path, text), plugins)
    lab = _Lab(compiled, plugins)
    assert compiled.mapping.predicted_cycles == lab.least()
    assert choose(lab.model, lab.offered, convert=lab.conversions).predicted_cycles == lab.least()


class _Lab:
    """All candidates of the integer graph before conversions were put in, and their costs."""

    def __init__(self, compiled: Compilation, plugins: Plugins) -> None:
        from match_core.ir.editor import Editor
        from match_core.match.candidates import find_candidates
        from match_core.schedule.cache import ScheduleCache
        from match_core.schedule.candidates import Scheduler

        editor = Editor(compiled.model)
        for node in list(editor.graph.nodes):
            if node.op == "Convert":
                editor.replace(node.outputs[0], node.inputs[0])
        self.model = editor.finish()
        units = [(unit, plugins.patterns(compiled.soc, unit)) for unit in compiled.units]
        scheduler = Scheduler(compiled.soc, compiled.units, "latency", plugins, ScheduleCache(None, "0", ""))
        self.conversions = Conversions(scheduler, compiled.soc)
        self.offered, _ = scheduler.schedule_all(find_candidates(self.model.graph, units))

    def least(self) -> int:
        single = [[a for a in self.offered if a.candidate.node_names == (n.name,)] for n in self.model.graph.nodes]
        tensors = {t.name: t for n in self.model.graph.nodes for t in (*n.inputs, *n.outputs)}
        best = None
        for chosen in product(*single):
            lies = {t.name: "" for t in self.model.graph.inputs}
            wants = {(t.name, "") for t in self.model.graph.outputs}
            for assignment in chosen:
                lies.update(forms_made(assignment.candidate))
                wants.update(forms_read(assignment.candidate).items())
            needed = [self.conversions(tensors[n], lies[n], form) for n, form in sorted(wants) if lies[n] != form]
            total = sum(a.schedule.cost.total_cycles for a in (*chosen, *(c for c in needed if c is not None)))
            best = total if best is None else min(best, total)
        assert best is not None
        return best


def test_the_validator_finds_a_missing_conversion(plugins: Plugins, tmp_path: Path) -> None:
    compiled = _compiled(_model(tmp_path, CHAIN), plugins)
    mapping = compiled.mapping
    number, assignment = next(
        (n, a) for n, a in enumerate(mapping.assignments) if a.candidate.pattern.name == "padded_to_blocks"
    )
    workload = assignment.candidate.workload
    operands = tuple(replace(o, form="blocks") if o.role == "input" else o for o in workload.operands)
    wrong = replace(assignment.candidate, workload=replace(workload, operands=operands))
    assignments = list(mapping.assignments)
    assignments[number] = replace(assignment, candidate=wrong)
    (fault,) = mapping_faults(compiled.model.graph, replace(mapping, assignments=tuple(assignments)))
    assert "as 'blocks', its form is 'padded'" in fault


def test_operands_must_have_the_bytes_of_their_form(plugins: Plugins, tmp_path: Path) -> None:
    compiled = _compiled(_model(tmp_path, CHAIN), plugins)
    candidate = next(a.candidate for a in compiled.mapping.assignments if a.candidate.pattern.name == "blocks")
    assert form_fault(candidate, compiled.soc.forms) == ""
    assert "does not list" in form_fault(candidate, ())
    short = replace(candidate.workload.operands[1], axes=(replace(candidate.workload.operands[1].axes[0], size=8),))
    workload = replace(candidate.workload, operands=(candidate.workload.operands[0], short))
    assert "operand y has only 32 bytes" in form_fault(replace(candidate, workload=workload), compiled.soc.forms)


def test_a_unit_that_is_left_out_needs_no_conversions(plugins: Plugins, tmp_path: Path) -> None:
    request = CompileRequest(_model(tmp_path, CHAIN), "chip", without_units=("power",))
    assert build_program(request, plugins, NullObserver()).mapping.units == {"host"}


def test_forms_that_nothing_converts_are_not_chosen(plugins: Plugins, tmp_path: Path) -> None:
    lab = _Lab(_compiled(_model(tmp_path, CHAIN), plugins), plugins)
    assert choose(lab.model, lab.offered, convert=lambda tensor, source, target: None).units == {"host"}
    with pytest.raises(ValueError, match="the request has no costs of conversions"):
        choose(lab.model, lab.offered)


def test_conversions_ask_for_forms_that_take_the_shape(plugins: Plugins, tmp_path: Path) -> None:
    lab = _Lab(_compiled(_model(tmp_path, CHAIN), plugins), plugins)
    vector = gs.Variable("v", dtype=np.dtype(np.float32), shape=[1, 8])
    assert lab.conversions(vector, "", "blocks") is None
