"""The schedule cache: what identifies a request, what is kept on disk, and what is not believed."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from match_core.contract.cost import Cost, TransferCycles
from match_core.contract.hardware import Constant, Memory, Soc, Unit
from match_core.contract.loops import LoopSchedule, Placement, ScheduleRequest, TileLoop
from match_core.contract.scheduling import ScheduleInfeasible
from match_core.contract.workload import Axis, Dim, Operand, Workload
from match_core.schedule.cache import FORMAT, ScheduleCache, canonical
from match_core.schedule.codec import from_json, to_json
from match_core.schedule.search import answers_to

SCHEDULE = LoopSchedule(
    loops=(TileLoop("K", 8, 4), TileLoop("K", 4, 2)),
    tile=(("K", 2), ("C", 3)),
    placements=(Placement("x", "l1", 0, 0, 6), Placement("w", "l1", 2, 16, 6, 2)),
    scratch_offset_bytes=32,
    scratch_bytes=8,
    memory="l1",
    working_bytes=(("l1", 40),),
    cost=Cost(1, 2, 3, 4, 5, 0.1, "model 1", "exact"),
)
REFUSAL = ScheduleInfeasible("l1", 100, 50, (("K", 1),))


@dataclass(frozen=True)
class Model:
    """A cost model by name only."""

    name: str = "model"
    version: str = "1"
    bound: str = "exact"
    overlap: str = "all"
    energy: Any = None

    def transfer_cycles(self, *_: object) -> TransferCycles:
        raise NotImplementedError(np.int64)


def request() -> ScheduleRequest:
    unit = Unit("acc", "a unit", "l1", constants=(Constant("speed", 3, "bytes/cycle", "invented"),))
    soc = Soc(
        "chip", "", "host", ("host", "acc"), (Memory("l1", 1, 64), Memory("l2", 2, 1024)), (), "l2", presets=("a",)
    )
    operands = (
        Operand("x", "input", (Axis("k", 8, (("K", 1),)),)),
        Operand("y", "output", (Axis("k", 8, (("K", 1),)),)),
    )
    workload = Workload("copy", (Dim("K", 8),), operands, 0, geometry=(("shift", 3),))
    return ScheduleRequest(soc, unit, "copy", workload, Model(), 64)  # type: ignore[arg-type]


CHANGES: dict[str, dict[str, Any]] = {
    "soc": {"soc": replace(request().soc, preset="a")},
    "memory": {"soc": replace(request().soc, memories=(Memory("l1", 1, 60), Memory("l2", 2, 1024)))},
    "unit": {"unit": replace(request().unit, constants=(Constant("speed", 4, "bytes/cycle", "invented"),))},
    "pattern": {"pattern": "move"},
    "workload": {"workload": replace(request().workload, geometry=(("shift", 4),))},
    "cost_model": {"cost_model": Model(version="2")},
    "memory_bytes": {"memory_bytes": 63},
    "objective": {"objective": "energy"},
    "streamed": {"streamed": ("x",)},
    "staging_bytes": {"staging_bytes": 16},
}


def test_equal_requests_have_equal_keys() -> None:
    assert ScheduleCache().key(request()) == ScheduleCache().key(request())


@pytest.mark.parametrize("name", CHANGES)
def test_every_part_of_a_request_counts(name: str) -> None:
    cache = ScheduleCache()
    assert cache.key(replace(request(), **CHANGES[name])) != cache.key(request())


def test_every_field_of_a_request_was_tried() -> None:
    assert {field.name for field in fields(ScheduleRequest)} <= set(CHANGES)


def test_versions_and_code_count() -> None:
    keys = {ScheduleCache(version=v, code=c).key(request()) for v in ("1", "2") for c in ("a", "b")}
    assert len(keys) == 4


def test_what_has_no_content_has_no_key() -> None:
    with pytest.raises(TypeError, match="object has no canonical form"):
        canonical(object())


@pytest.mark.parametrize("answer", [SCHEDULE, REFUSAL, replace(SCHEDULE, memory=None, cost=Cost())])
def test_answers_survive_json(answer: LoopSchedule | ScheduleInfeasible) -> None:
    assert from_json(json.loads(json.dumps(to_json(answer)))) == answer


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "code"},
        {"loops": 3},
        {"loops": [["K", 8, 4]]},
        {"tile": [["K", "2"]]},
        {"scratch_bytes": "8"},
        {"scratch_bytes": True},
        {"extra": 1},
        {"cost": {}},
        {"memory": 7},
    ],
)
def test_other_documents_are_no_answers(change: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        from_json({**to_json(SCHEDULE), **change})


def fail(_: ScheduleRequest) -> LoopSchedule:
    raise AssertionError("searched again")


@pytest.mark.parametrize("answer", [SCHEDULE, REFUSAL])
def test_the_second_compilation_reads_what_the_first_wrote(
    answer: LoopSchedule | ScheduleInfeasible, tmp_path: Path
) -> None:
    assert answers_to([request()], lambda _: answer, ScheduleCache(tmp_path, "1")) == (answer,)
    assert answers_to([request()], fail, ScheduleCache(tmp_path, "1")) == (answer,)
    with pytest.raises(AssertionError):
        answers_to([request()], fail, ScheduleCache(tmp_path, "2"))


def test_without_a_directory_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MATCH_CACHE_DIR", str(tmp_path))
    answers_to([request()], lambda _: SCHEDULE, ScheduleCache())
    assert list(tmp_path.iterdir()) == []


def test_equal_requests_are_searched_once() -> None:
    asked: list[ScheduleRequest] = []

    def solve(one: ScheduleRequest) -> LoopSchedule:
        asked.append(one)
        return SCHEDULE

    assert (
        answers_to([request(), replace(request(), pattern="move"), request()], solve, ScheduleCache())
        == (SCHEDULE,) * 3
    )
    assert [one.pattern for one in asked] == ["copy", "move"]


def entry_of(directory: Path) -> Path:
    (path,) = directory.rglob("*.json")
    return path


def cut(text: str) -> str:
    return text[: len(text) // 2]


@pytest.mark.parametrize(
    "spoil",
    [
        cut,
        lambda text: "",
        lambda text: "[]",
        lambda text: text.replace(f'"format": {FORMAT}', '"format": 0'),
        lambda text: text.replace('"scratch_bytes": 8', '"scratch_bytes": 9'),
        lambda text: text.replace('"key": "', '"key": "0'),
    ],
)
def test_entries_that_are_spoilt_are_written_anew(spoil: Any, tmp_path: Path) -> None:
    answers_to([request()], lambda _: SCHEDULE, ScheduleCache(tmp_path))
    path = entry_of(tmp_path)
    good = path.read_text()
    path.write_text(spoil(good))
    assert path.read_text() != good
    assert answers_to([request()], lambda _: SCHEDULE, ScheduleCache(tmp_path)) == (SCHEDULE,)
    assert path.read_text() == good


def test_an_entry_of_another_request_is_not_believed(tmp_path: Path) -> None:
    cache, other = ScheduleCache(tmp_path), replace(request(), pattern="move")
    answers_to([request()], lambda _: SCHEDULE, cache)
    first = entry_of(tmp_path)
    key = cache.key(other)
    place = tmp_path / key[:2] / f"{key}.json"
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(first.read_bytes())
    assert ScheduleCache(tmp_path).find(key) is None


def test_an_unusable_directory_is_no_reason_to_fail(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert answers_to([request()], lambda _: SCHEDULE, ScheduleCache(tmp_path / "file")) == (SCHEDULE,)


def test_many_writers_leave_one_whole_entry(tmp_path: Path) -> None:
    def compile_once(_: int) -> tuple[object, ...]:
        return answers_to([request()], lambda _: SCHEDULE, ScheduleCache(tmp_path))

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(compile_once, range(32))) == {(SCHEDULE,)}
    assert ScheduleCache(tmp_path).find(ScheduleCache().key(request())) == SCHEDULE
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [entry_of(tmp_path).name]
