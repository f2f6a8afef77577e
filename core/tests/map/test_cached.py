"""Mappings that were found before: the same again without a search, and nothing that is not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, cast

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from match_concurrent.mapping import choose as searching
from match_concurrent.mapping.cached import FORMAT, CachedChoices
from match_concurrent.mapping.choose import choose_concurrent
from match_concurrent.mapping.mapping_effort import ConcurrentOptions
from match_core.contract.mapping import Mapping
from match_core.io.entries import Entries
from match_map.mapper import choose

from core.tests.map.concurrent_lab import FORK, QUICK, TWO, labs
from core.tests.map.rows import Lab, Price, lab
from tests.examples import examples


def keyed(made: Lab) -> Lab:
    """With a cache that knows requests apart."""
    prices = made.scheduler.prices
    cache = SimpleNamespace(key=lambda candidate: f"{candidate.unit} {candidate.workload} {prices[candidate.unit]}")
    return replace(made, scheduler=replace(made.scheduler, cache=cast(Any, cache)))


def choices(directory: Path, version: str = "1", code: str = "a") -> CachedChoices:
    return CachedChoices(Entries(directory, FORMAT, version), code)


def mapped(made: Lab, known: CachedChoices, **options: Any) -> Mapping:
    sequential = choose(made.model, made.offered, objective=made.scheduler.objective)
    chosen = ConcurrentOptions(**{**QUICK, **options})
    return choose_concurrent(made.model, made.offered, made.scheduler, sequential, chosen, known)


def fork(**more: Any) -> Lab:
    return keyed(lab(FORK, TWO, **{"rows": 32, "columns": 8, "halo": 1, **more}))


def entry(directory: Path) -> Path:
    (path,) = directory.rglob("*.json")
    return path


def no_search(*_: object) -> Any:
    raise AssertionError("a search")


def test_the_second_time_nothing_is_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = fork()
    first = mapped(made, choices(tmp_path))
    assert len(first.assignments) > 3, "operators are divided"
    asked = len(made.scheduler.asked)
    monkeypatch.setattr(searching, "_best", no_search)
    again = fork()
    second = mapped(again, choices(tmp_path))
    assert (second.starts, second.solver, second.bounds) == (first.starts, first.solver, first.bounds)
    shares = [[a.candidate.share for a in mapping.assignments] for mapping in (first, second)]
    assert shares[0] == shares[1]
    assert len(again.scheduler.asked) <= len(first.assignments) < asked


@settings(deadline=None, max_examples=examples(25))
@given(made=labs(), parallel=st.sampled_from(["whole", "tiles", "views", "pipeline"]))
def test_any_mapping_is_found_again(made: Lab, parallel: Any) -> None:
    made = keyed(made)
    with TemporaryDirectory() as folder:
        first = mapped(made, choices(Path(folder)), parallel=parallel)
        kept = {path: path.read_bytes() for path in Path(folder).rglob("*.json")}
        assert kept or parallel == "tiles"
        with pytest.MonkeyPatch.context() as patch:
            if kept:
                patch.setattr(searching, "_best", no_search)
            second = mapped(made, choices(Path(folder)), parallel=parallel)
        assert {path: path.read_bytes() for path in Path(folder).rglob("*.json")} == kept
    assert (second.assignments, second.starts) == (first.assignments, first.starts)
    assert (second.solver, second.bounds, second.finish_cycles) == (first.solver, first.bounds, first.finish_cycles)


def test_what_the_search_looks_at_makes_another_entry(tmp_path: Path) -> None:
    dear = {**TWO, "slow": Price(20, 1501)}
    mapped(fork(), choices(tmp_path))
    for made, known, options in (
        (fork(), choices(tmp_path, version="2"), {}),
        (fork(), choices(tmp_path, code="b"), {}),
        (fork(), choices(tmp_path), {"parallel": "views"}),
        (fork(objective="edp"), choices(tmp_path), {}),
        (fork(rows=40), choices(tmp_path), {}),
        (keyed(lab(FORK, dear, rows=32, columns=8, halo=1)), choices(tmp_path), {}),
        (
            keyed(lab({"a": ["in"], "b": ["a"], "c": ["a", "b"]}, TWO, rows=32, columns=8, halo=1)),
            choices(tmp_path),
            {},
        ),
    ):
        before = len(list(tmp_path.rglob("*.json")))
        mapped(made, known, **options)
        assert len(list(tmp_path.rglob("*.json"))) == before + 1


@pytest.mark.parametrize(
    "change",
    [
        lambda cover, choice, starts, finish, bounds: None,
        lambda cover, choice, starts, finish, bounds: [cover, choice, starts, bounds],
        lambda cover, choice, starts, finish, bounds: [9, choice, starts, finish, bounds],
        lambda cover, choice, starts, finish, bounds: [[*cover[1:], 99], choice, starts, finish, bounds],
        lambda cover, choice, starts, finish, bounds: [[*cover[1:], cover[1]], choice, starts, finish, bounds],
        lambda cover, choice, starts, finish, bounds: [cover, choice[1:], starts[1:], finish, bounds],
        lambda cover, choice, starts, finish, bounds: [
            cover,
            choice,
            [[0 for _ in line] for line in starts],
            finish,
            bounds,
        ],
        lambda cover, choice, starts, finish, bounds: [cover, choice, starts, finish, ["x", 1]],
        lambda cover, choice, starts, finish, bounds: [cover, choice, starts, finish + 1, bounds],
        lambda cover, choice, starts, finish, bounds: [
            cover,
            [[[99, "OY", 0, 4]], *choice[1:]],
            [[0], *starts[1:]],
            finish,
            bounds,
        ],
        lambda cover, choice, starts, finish, bounds: [
            cover,
            [[[0, "OY", 0, 999]], *choice[1:]],
            [[0], *starts[1:]],
            finish,
            bounds,
        ],
        lambda cover, choice, starts, finish, bounds: [cover, [[], *choice[1:]], [[], *starts[1:]], finish, bounds],
    ],
)
def test_what_is_no_mapping_counts_as_absent(change: Any, tmp_path: Path) -> None:
    first = mapped(fork(), choices(tmp_path))
    path, known = entry(tmp_path), choices(tmp_path)
    good = path.read_bytes()
    known.entries.write(path.stem, change(*cast(Any, known.entries.read(path.stem))))
    assert path.read_bytes() != good
    assert mapped(fork(), known).starts == first.starts
    assert path.read_bytes() == good, "written anew"


def test_schedules_with_foreign_values_are_not_kept(tmp_path: Path) -> None:
    made = fork()
    foreign = [
        replace(offer, schedule=replace(offer.schedule, tile=(("OY", cast(Any, object())),))) for offer in made.offered
    ]
    mapped(replace(made, offered=tuple(foreign)), choices(tmp_path))
    assert not list(tmp_path.rglob("*"))
