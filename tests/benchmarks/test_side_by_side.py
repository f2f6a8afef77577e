"""The benchmark of units side by side: its tables, what it calls a failure, and one network."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from match_core.contract.mapping import Bounds
from match_core.contract.program import Program, Queue
from match_core.plugin.facade import Plugins

from benchmarks import side_by_side
from benchmarks.beside_alone import Alone, against_host, alone_table
from benchmarks.beside_runs import Case, Made, Pair
from benchmarks.beside_tables import ablated_cycles, about, faults, figures_from, pairs_table, short, waiting_table
from benchmarks.runs import MODELS
from benchmarks.waiting import Spent, busiest, surcharge, works

stored_models = pytest.mark.skipif(not MODELS.is_dir(), reason="../shared/models is not on this machine")
CASE = Case("matcha_resnet_block_f16", "carfield")


@dataclass(frozen=True)
class _Task:
    """A task of unit a or b, which computes some of 4 rows of one operator."""

    index: int
    queue: str
    start_cycles: int
    cycles: int
    needs: tuple[tuple[str, int], ...] = ()
    rows: int = 4
    assignment: Any = field(init=False)

    def __post_init__(self) -> None:
        whole = SimpleNamespace(dim=lambda name: SimpleNamespace(size=4))
        share = None if self.rows == 4 else SimpleNamespace(dim="row", size=self.rows, whole=whole)
        pattern = SimpleNamespace(name="conv", view=False, occupies=())
        candidate = SimpleNamespace(unit=self.queue, pattern=pattern, node_names=("n",), share=share)
        cost = SimpleNamespace(total_cycles=self.cycles)
        assignment = SimpleNamespace(candidate=candidate, schedule=SimpleNamespace(cost=cost))
        object.__setattr__(self, "assignment", assignment)


def _program(tasks: tuple[_Task, ...], cycles: int, *, beside: bool = True) -> Program:
    queues = tuple(
        Queue(name, "unit", tuple(task.index for task in tasks if task.queue == name)) for name in ("a", "b") if beside
    )
    return cast(Program, SimpleNamespace(tasks=tasks, queues=queues, swaps=(), predicted_cycles=cycles))


#: a works from 2 to 12, and from 25 on, 3 after it knows of b; b works from 2 to 22. Then a is done, b has nothing.
TASKS = (_Task(0, "a", 2, 10, rows=1), _Task(1, "b", 2, 20, rows=2), _Task(2, "a", 25, 15, (("b", 1),)))
BESIDE = _program(TASKS, 42)
BEFORE = _program((_Task(0, "a", 0, 36), _Task(1, "b", 36, 40)), 76, beside=False)


def _made(program: Program, output: int, bounds: Bounds | None = None) -> Made:
    mapping = SimpleNamespace(bounds=bounds, predicted_cycles=50)
    soc = SimpleNamespace(signalling=SimpleNamespace(session_cycles=7), uncertain_share=lambda mode: 0.0)
    compilation = SimpleNamespace(program=program, mapping=mapping, soc=soc)
    run = SimpleNamespace(outputs={"y": np.array([output])}, cycles_total=program.predicted_cycles + 1)
    return Made(cast(Any, compilation), 1.0, cast(Any, run))


PAIR = Pair(CASE, _made(BEFORE, 5), _made(BESIDE, 5, Bounds(35, 20)))


def test_time_of_the_busiest_queue() -> None:
    assert busiest(BESIDE) == Spent("a", works=25, waits=10, signals=7)
    assert works(BESIDE) == "a 60%, b 48%"


def test_shares_are_compared_with_their_part_of_the_whole() -> None:
    # 10 cycles for a quarter of 36, 20 for half of 40
    assert surcharge(BEFORE, BESIDE) == pytest.approx(30 / 29 - 1)
    assert surcharge(BESIDE, BEFORE) is None


def test_gains_stand_beside_the_published_ones() -> None:
    assert PAIR.gain == 1 - 43 / 77
    assert PAIR.gain_bound == 1 - 35 / 77
    (row,) = pairs_table("side-by-side", [PAIR]).rows
    assert row[:8] == ("resnet_block", 77, 43, 76, 42, 100 * PAIR.gain, 35.02, 100 * (1 - 35 / 77))
    (row,) = waiting_table("time", [PAIR]).rows
    assert row[:3] == ("resnet_block", "a", 42)
    assert short("mlperf_dscnn_int8_qdq") == "dscnn"


def test_rows_say_what_both_figures_are_of() -> None:
    (row,) = pairs_table("side-by-side", [PAIR]).rows
    assert row[-1] == "twin; paper: FPGA, its own kernels, RedMulE for one layer"
    assert figures_from(replace(CASE, target="carfield_matcha"), "model") == "model; paper: FPGA, its own kernels"
    elsewhere = pairs_table("side-by-side", [replace(PAIR, case=replace(CASE, target="gap9"))])
    assert elsewhere.columns[-1].heading == "s to compile"


def test_tables_say_how_they_are_made() -> None:
    assert about(CASE) == "*target carfield, `python -m benchmarks.side_by_side`*"
    case = replace(CASE, target="carfield_matcha", preset="pulp-30")
    command = "python -m benchmarks.side_by_side --target carfield_matcha --preset pulp-30 --alone"
    assert about(case, " --alone") == f"*target carfield_matcha, preset pulp-30, `{command}`*"


def _on_host(macs: int, halves: int) -> SimpleNamespace:
    workload = SimpleNamespace(macs=macs, parameters={"half": halves})
    return SimpleNamespace(assignment=SimpleNamespace(candidate=SimpleNamespace(workload=workload)))


def test_the_host_alone() -> None:
    program = SimpleNamespace(tasks=(_on_host(300, 200), _on_host(100, 0)), predicted_cycles=4300)
    one = Alone(PAIR, Made(cast(Any, SimpleNamespace(program=program)), 1.0))
    assert (one.macs, one.cycles_per_mac, one.conversions) == (400, 10.75, 9 * 200 / 4300)
    assert (one.faster(PAIR.before), one.faster(PAIR.beside), one.faster(PAIR.beside, 0.5)) == (
        4300 / 77,
        100,
        800 / 43,
    )
    assert one.published == "11.0 to 40.3"
    assert Alone(replace(PAIR, case=Case("matcha_dscnn_f16", "carfield")), one.host).published == "4.6 to 12.3"
    assert Alone(replace(PAIR, case=replace(CASE, target="gap9")), one.host).published is None
    (row,) = alone_table("alone", [one]).rows
    assert row[-1] == "host: model, units: twin; paper: FPGA, its own kernels, RedMulE for one layer"


@stored_models
def test_the_host_converts_binary16_more_than_half_of_the_time(plugins: Plugins) -> None:
    (pair,) = side_by_side.measure([Case("matcha_autoencoder_f16", "carfield_matcha")], plugins, run=False)
    one = against_host(pair, plugins)
    assert {task.assignment.candidate.unit for task in one.host.compilation.program.tasks} == {"host"}
    assert one.macs == 264_192
    assert 0.5 < one.conversions < 0.8
    assert one.faster(pair.beside) > one.faster(pair.before) > 12.28


def test_copies_of_tiles_are_the_mappers() -> None:
    assert ablated_cycles("views", PAIR.beside) == 43
    assert ablated_cycles("tiles", PAIR.beside) == 57


def test_failures() -> None:
    assert faults([PAIR]) == []
    other = replace(PAIR, beside=_made(BESIDE, 6, Bounds(35, 20)))
    assert ["outputs differ" in line for line in faults([other])] == [True]
    wrong = replace(PAIR, before=replace(PAIR.before, within_bound=False))
    assert ["not those of the model" in line for line in faults([wrong])] == [True]


def test_a_gain_below_the_published_one_fails_where_the_bound_allows_it() -> None:
    slow = _program(TASKS, 60)
    below = replace(PAIR, beside=_made(slow, 5, Bounds(35, 20)))
    assert ["published 35.02" in line for line in faults([below])] == [True]
    assert faults([replace(below, beside=_made(slow, 5, Bounds(55, 20)))]) == []
    none = replace(below, case=Case("matcha_dscnn_f16", "carfield"), beside=_made(BEFORE, 5, Bounds(76, 20)))
    assert any("no gain" in line for line in faults([none]))


@pytest.mark.slow
@stored_models
def test_the_autoencoder_gains_in_the_model(plugins: Plugins) -> None:
    (pair,) = side_by_side.measure([Case("matcha_autoencoder_f16", "carfield")], plugins, run=False)
    assert pair.kept
    assert pair.bounds is not None
    assert pair.bounds.cycles <= pair.beside.modelled_cycles < pair.before.modelled_cycles
    assert pair.equal is None
    spent = busiest(pair.beside.compilation.program)
    assert spent.works + spent.waits + spent.signals == pair.beside.modelled_cycles
