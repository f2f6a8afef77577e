"""The concurrent planner on large graphs: ``python -m benchmarks.planner --tasks 2000``.

Prints the time to plan, makespan, bound and gap, and what happens while the home memory shrinks: slower programs,
swaps, and in the end the report that it does not fit. Every program is checked.
"""

from __future__ import annotations

import argparse
import time

from match_concurrent.planning.plan import begin
from match_concurrent.planning.planning_effort import PlanOptions
from match_core.contract.errors import InfeasibleError
from match_core.contract.program import Program
from match_core.validate.concurrent_program import concurrent_faults

from benchmarks.task_graphs import network, soc

#: The home memories of the table, as parts of what the first plan uses.
PARTS = (100, 90, 80, 70, 60, 50, 45, 40, 35, 30, 25, 20)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=2000)
    parser.add_argument("--shrink-tasks", type=int, default=120, help="size of the graph of the table")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    options = PlanOptions()
    _large(chosen.tasks, chosen.seed, options)
    if chosen.shrink_tasks:
        _shrinking(chosen.shrink_tasks, chosen.seed, options)


def _planned(tasks: int, seed: int, home_bytes: int, options: PlanOptions) -> tuple[Program, float]:
    model, mapping = network(tasks, seed)
    start = time.process_time()
    program = begin(model, mapping, soc(home_bytes)).program(options)
    seconds = time.process_time() - start
    faults = concurrent_faults(model.graph, program)
    if faults:
        raise RuntimeError("; ".join(faults))
    return program, seconds


def _large(tasks: int, seed: int, options: PlanOptions) -> None:
    program, seconds = _planned(tasks, seed, 8 << 20, options)
    print(f"{len(program.tasks)} tasks planned in {seconds:.1f} s of one core (and checked)")
    print(f"{'home bytes':>10} {'cycles':>9} {'bound':>9} {'gap %':>6} {'swaps':>6}  found by")
    print(_row(program))


def _shrinking(tasks: int, seed: int, options: PlanOptions) -> None:
    program, _ = _planned(tasks, seed, 8 << 20, options)
    use = _home(program)
    print(f"\n{len(program.tasks)} tasks, home memory shrinks")
    print(f"{'home bytes':>10} {'cycles':>9} {'bound':>9} {'gap %':>6} {'swaps':>6}  found by")
    for part in PARTS:
        home_bytes = (use * part // 100 + 3) // 4 * 4
        try:
            program, _ = _planned(tasks, seed, home_bytes, options)
        except InfeasibleError as error:
            print(f"{home_bytes:>10}  {error.what}; {error.where}")
            break
        print(f"{_row(program)}")


def _home(program: Program) -> int:
    return next(use.used_bytes for use in program.memory if use.memory == program.soc.home)


def _row(program: Program) -> str:
    timing = program.timing
    assert timing is not None
    size = program.soc.memory(program.soc.home).size_bytes
    numbers = f"{size:>10} {timing.objective:>9} {timing.bound:>9} {100 * timing.gap:>6.2f} {len(program.swaps):>6}"
    return f"{numbers}  {timing.solver}, {timing.status}"


if __name__ == "__main__":
    main()
