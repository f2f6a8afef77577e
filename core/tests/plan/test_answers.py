"""Answers of the solver about plans come from disk the second time, with the effort that they took."""

from __future__ import annotations

from pathlib import Path

import match_concurrent.planning.answers as answers
import pytest
from match_concurrent.planning.answers import Answer, Answers
from match_core.cp_sat import load_cp_model
from match_core.io.cache_dir import VARIABLE


def _model(size: int = 9):
    model = load_cp_model().CpModel()
    starts = [model.new_int_var(0, 99, "") for _ in range(size)]
    model.add_no_overlap([model.new_fixed_size_interval_var(start, 3, "") for start in starts])
    model.minimize(sum((n % 3 + 1) * start for n, start in enumerate(starts)))
    return model, starts


@pytest.fixture
def solved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[object]:
    """Counts what is really solved, with a cache of its own."""
    calls, solve = [], answers.solve
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    monkeypatch.setattr(answers, "solve", lambda *given, **more: (calls.append(given), solve(*given, **more))[1])
    return calls


def _ask(code: str | None, size: int = 9, seconds: float = 0.5) -> tuple[Answer, list[int]]:
    model, starts = _model(size)
    found = Answers.on_disk(code).solve(model, seconds, linearization_level=0)
    assert found.values is not None
    return found, [found.values.value(start) for start in starts]


def test_a_known_model_is_not_solved_again(solved: list[object]) -> None:
    first = _ask("a")
    assert _ask("a") == first and len(solved) == 1
    assert first[0].seconds > 0 and sorted(first[1]) == list(range(0, 27, 3))
    assert _ask(None) == first and len(solved) == 2, "the same without a cache"


def test_other_code_models_and_efforts_are_solved(solved: list[object]) -> None:
    for code, size, seconds in (("a", 9, 0.5), ("b", 9, 0.5), ("a", 8, 0.5), ("a", 9, 0.25)):
        _ask(code, size, seconds)
    assert len(solved) == 4


def test_no_values_are_an_answer_too(solved: list[object]) -> None:
    for _ in range(2):
        model, starts = _model()
        model.add(sum(starts) < 9)
        assert Answers.on_disk("a").solve(model, 0.5).values is None
    assert len(solved) == 1


@pytest.mark.parametrize("content", ["", "[]", "[[1], 2, 3]", "{}"])
def test_damaged_entries_are_replaced(solved: list[object], tmp_path: Path, content: str) -> None:
    """Of another form, and of a model with fewer variables, with a digest that is right."""
    first = _ask("a")
    (entry,) = tmp_path.glob("plans/*/*.json")
    if content.startswith("["):
        import json

        Answers.on_disk("a").entries.write(entry.stem, json.loads(content))  # type: ignore[union-attr]
    else:
        entry.write_text(content)
    assert _ask("a") == first and len(solved) == 2
