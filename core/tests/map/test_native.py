"""The estimator in C gives what the time line in Python gives, and searches find the same without it."""

from __future__ import annotations

import random
import subprocess
from array import array
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import hypothesis.strategies as st
import match_concurrent.native as native
import pytest
from hypothesis import given
from match_concurrent.mapping.estimates import Estimates, Line, Needs
from match_concurrent.mapping.network import SharedOperator, Source
from match_concurrent.mapping.timeline import Step, earliest_start_order, least_finish, simulate
from match_concurrent.native import CYCLES_MAX, SOURCES, Estimator, estimator
from match_core.run.compiler import SANITIZE, host_compiler

from core.tests.map.concurrent_lab import FORK, TWO, mapped
from core.tests.map.rows import SIGNALLING, lab
from core.tests.map.test_timeline import programs

QUEUES = 3
#: (queue, cycles, other queues) and (operator, part) of those it waits for, of each part of an operator.
Operators = list[tuple[list[tuple[int, int, tuple[int, ...]]], list[list[tuple[int, int]]]]]
DRIVER = """
#include <stdio.h>
#include "timeline.c"
static int64_t number(void) { long long value = 0; return scanf("%lld", &value) == 1 ? value : -1; }
int main(void)
{
    for (int64_t operators = number(); operators >= 0; operators = number()) {
        int64_t signals[5];
        for (int i = 0; i < 5; i++) signals[i] = number();
        match_estimator_t *made = match_estimator_new(signals[0], signals[1], signals[2], signals[3], signals[4]);
        int64_t *kept[2];
        for (int kind = 0; kind < 2; kind++) {
            kept[kind] = malloc((size_t)(operators + 1) * sizeof(int64_t));
            for (int64_t place = 0; place < operators; place++) {
                const int64_t count = number();
                int64_t *values = malloc((size_t)(count + 1) * sizeof(int64_t));
                for (int64_t i = 0; i < count; i++) values[i] = number();
                kept[kind][place] = match_estimator_keep(made, kind, values, count);
                free(values);
            }
        }
        const int64_t limit = number();
        printf("%lld\\n", (long long)match_estimator_finish(made, kept[0], kept[1], operators, limit));
        match_estimator_free(made);
        free(kept[0]);
        free(kept[1]);
    }
    return 0;
}
"""


def operators_of(steps: Sequence[Step]) -> Operators:
    """Successive steps that do not wait for each other are parts of one operator."""
    made: Operators = []
    where: list[tuple[int, int]] = []
    for step in steps:
        if not made or any(where[need][0] == len(made) - 1 for need in step.needs):
            made.append(([], []))
        where.append((len(made) - 1, len(made[-1][0])))
        made[-1][0].append((step.queue, step.cycles, step.occupies))
        made[-1][1].append([where[need] for need in step.needs])
    return made


def finish(steps: Sequence[Step]) -> int:
    order = earliest_start_order(steps, SIGNALLING)
    return simulate(steps, order, SIGNALLING).finish


def test_the_estimator_is_there_where_a_c_compiler_is() -> None:
    assert host_compiler() and estimator(SIGNALLING, QUEUES) is not None


@given(steps=programs(), limit=st.integers(0, 300))
def test_it_estimates_what_the_time_line_takes(steps: list[Step], limit: int) -> None:
    made = estimator(SIGNALLING, QUEUES)
    assert made is not None
    numbers = [(made.keep_lines(lines), made.keep_needs(needs)) for lines, needs in operators_of(steps)]
    lines, needs = array("q", [n for n, _ in numbers]), array("q", [n for _, n in numbers])
    expected = finish(steps)
    assert made.finish(lines, needs, 10**9) == expected
    limited = made.finish(lines, needs, limit)
    assert limited == expected if expected <= limit else limited is not None and limited > limit
    assert made.finish(lines, needs, -1) == least_finish(steps, SIGNALLING)


@given(seed=st.integers(0, 2**32))
def test_choices_that_follow_each_other_are_estimated_as_new_ones(seed: int) -> None:
    """Only what differs from the choice before is told to the estimator; costs change in between."""
    source = random.Random(seed)
    operators = [
        SharedOperator(n, (), tuple(Source(o, "x", "x") for o in range(n) if source.random() < 0.4)) for n in range(6)
    ]
    kept = Estimates.of(SIGNALLING, QUEUES, operators)
    changes, numbers = 0, [0] * len(operators)
    for _ in range(12):
        if source.random() < 0.2:
            changes += 1
        for place in source.sample(range(len(operators)), source.randint(0, 3)):
            numbers[place] = source.randrange(4)
        now, costs = tuple(numbers), changes

        def line(place: int, now: tuple[int, ...] = now, costs: int = costs) -> list[Line]:
            return [(now[place] % 2, 10 + 7 * now[place] + 3 * costs, ())] * (1 + now[place] // 2)

        def needs(place: int, now: tuple[int, ...] = now) -> Needs:
            makers = [source.operator for source in operators[place].sources]
            waits = tuple((maker, part) for maker in makers for part in range(1 + now[maker] // 2))
            return (waits,) * (1 + now[place] // 2)

        fresh = Estimates.of(SIGNALLING, QUEUES, operators)
        assert kept is not None and fresh is not None
        limit = source.choice([0, 60, 10**9])
        assert kept.finish(now, limit, changes, line, needs) == fresh.finish(now, limit, changes, line, needs)


def test_lists_are_forgotten_and_kept_anew() -> None:
    made = estimator(SIGNALLING, QUEUES)
    assert made is not None
    needs = array("q", [made.keep_needs([[]])])
    before = made.finish(array("q", [made.keep_lines([(1, 10, ())])]), needs, 10**9)
    made.forget_lines()
    after = made.finish(array("q", [made.keep_lines([(1, 25, ())])]), needs, 10**9)
    assert before is not None and after == before + 15


def test_cycles_that_could_overflow_are_left_to_python() -> None:
    made = estimator(SIGNALLING, QUEUES)
    assert made is not None
    with pytest.raises(OverflowError):
        made.keep_lines([(1, CYCLES_MAX + 1, ())])


def test_the_c_is_clean_under_sanitizers(tmp_path: Path) -> None:
    """Two hundred programs of up to 60 steps."""
    chance, words, expected = random.Random(1), [], []
    for _ in range(200):
        steps: list[Step] = []
        for number in range(chance.randrange(60)):
            queue, busy = chance.randrange(QUEUES), chance.choice(((), (), (1,), (2,)))
            needs = tuple(sorted(set(chance.choices(range(number), k=min(number, chance.randrange(4))))))
            steps.append(Step(queue, chance.randrange(50), needs, tuple(q for q in busy if q != queue)))
        s, operators = SIGNALLING, operators_of(steps)
        words += [len(operators), s.task_cycles, s.notify_cycles, s.post_cycles, s.wake_cycles, QUEUES]
        lists = [[n for q, c, o in lines for n in (q, c, len(o), *o)] for lines, _ in operators]
        lists += [[n for wanted in needs for n in (len(wanted), *chain(*wanted))] for _, needs in operators]
        for values in lists:
            words += [len(values), *values]
        words.append(10**9)
        expected.append(finish(steps))
    source, program = tmp_path / "driver.c", tmp_path / "driver"
    source.write_text(DRIVER)
    command = [*host_compiler(), "-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Werror", *SANITIZE]
    subprocess.run([*command, f"-I{SOURCES[-1].parent}", str(source), "-o", str(program)], check=True)
    done = subprocess.run([program], input=" ".join(map(str, words)), capture_output=True, text=True, check=True)
    assert [int(line) for line in done.stdout.split()] == expected


def test_searches_find_the_same_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = lab(FORK, TWO, rows=32, columns=8)
    found = mapped(rows)
    monkeypatch.setenv("CC", "no-such-compiler")
    native._library.cache_clear()
    try:
        assert estimator(SIGNALLING, QUEUES) is None
        assert mapped(rows) == found
    finally:
        native._library.cache_clear()


def test_a_damaged_library_is_compiled_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(native, "FLAGS", (*native.FLAGS, "-DMATCH_DAMAGED"))
    monkeypatch.setenv("MATCH_CACHE_DIR", str(tmp_path))
    native._library.cache_clear()
    try:
        assert isinstance(estimator(SIGNALLING, QUEUES), Estimator)
        (library,) = (tmp_path / "native").iterdir()
        whole = library.read_bytes()
        library.unlink()
        library.write_bytes(b"no library")
        native._library.cache_clear()
        assert isinstance(estimator(SIGNALLING, QUEUES), Estimator)
        assert len(library.read_bytes()) == len(whole)
    finally:
        native._library.cache_clear()
