"""The comparison of modelled cycles with those of another checkout."""

from __future__ import annotations

import pytest

from benchmarks import makespans
from benchmarks.compile_cost import CompileCost

#: Cycles now and before, 0 for a refusal.
PAIRS = {"fewer": (9, 10), "same": (7, 7), "more": (8, 7), "new": (5, 0), "lost": (0, 5), "none": (0, 0)}


def _compared(names: list[str], monkeypatch: pytest.MonkeyPatch) -> int:
    def cost(model, target, *, root=None):
        return CompileCost(0.0, 0.0, 0, PAIRS[model.parent.name][root is not None], {})

    monkeypatch.setattr(makespans, "compile_cost", cost)
    monkeypatch.setattr(makespans.Table, "write_csv", lambda table: None)
    return makespans.main(["--beside", "elsewhere", "--targets", "gap9", "host", "--networks", *names])


def test_programs_that_take_more_cycles_are_listed(monkeypatch, capsys):
    assert _compared(list(PAIRS), monkeypatch) == 1
    found = capsys.readouterr().out
    assert "| gap9 | 1 | 1 | 1 | 1 | 1 | 1 |\n| host | 1 | 1 | 1 | 1 | 1 | 1 |" in found
    assert "| gap9 | more | 8 | 7 |" in found and "| host | lost | 0 | 5 |" in found
    assert "| gap9 | fewer |" not in found and "| gap9 | new |" not in found


def test_nothing_is_listed_where_no_program_takes_more(monkeypatch, capsys):
    assert _compared(["fewer", "same", "new", "none"], monkeypatch) == 0
    assert capsys.readouterr().out.count("| host |") == 1
