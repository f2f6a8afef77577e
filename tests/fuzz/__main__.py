"""``python -m tests.fuzz [--cases 20000] [--seed S] [--seconds N] [--only N ...] [--show N]``: compile mutated models.

Verdicts are kept in build/fuzz/SEED.jsonl; a run with the same seed goes on behind them. ``--show`` writes the model of
one case to build/fuzz and says what was done to it; ``--only`` repeats some cases.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.conftest import ROOT
from tests.fuzz.cases import Case, make_case
from tests.fuzz.judge import FAULTS, judge, warm
from tests.fuzz.seeds import MADE, all_seeds

FOLDER = ROOT / "build" / "fuzz"
#: So many cases share an executable.
BATCH = 40


def main() -> int:
    """Exit code 1 if there is a fault."""
    options = _options()
    FOLDER.mkdir(parents=True, exist_ok=True)
    seeds = all_seeds()
    if options.show is not None:
        case = make_case(seeds, len(MADE), options.seed, options.show)
        suffix = case.suffix if isinstance(case, Case) else f"_{Path(case.seed).name}"
        path = FOLDER / f"{options.seed}_{case.number}{suffix}"
        path.write_bytes(case.content)
        print(f"{path}: {case.seed}, {case.change}")
        return 0
    if options.only:
        return _told(_batch(options.seed, None, options.only))
    log = FOLDER / f"{options.seed}.jsonl"
    done = {entry["number"]: entry for entry in _entries(log)}
    waiting = [number for number in range(options.cases) if number not in done]
    batches = [waiting[start : start + BATCH] for start in range(0, len(waiting), BATCH)]
    work = partial(_batch, options.seed, time.monotonic() + options.seconds if options.seconds else None)
    warm()
    with (
        ProcessPoolExecutor(options.jobs, mp_context=get_context("fork")) as pool,
        log.open("a", encoding="utf-8") as file,
    ):
        for entries in pool.map(work, batches):
            file.writelines(json.dumps(entry) + "\n" for entry in entries)
            file.flush()
            done.update((entry["number"], entry) for entry in entries)
    return _told(list(done.values()))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--seconds", type=float, default=0, help="stop then; 0: after all cases")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--show", type=int, metavar="NUMBER", default=None)
    parser.add_argument("--only", type=int, nargs="*", metavar="NUMBER", help="run these cases, keep nothing")
    return parser.parse_args()


def _entries(log: Path) -> Iterator[dict[str, object]]:
    lines = log.read_text(encoding="utf-8").splitlines() if log.is_file() else []
    for line in lines:
        yield json.loads(line)


def _batch(seed: str, end: float | None, numbers: list[int]) -> list[dict[str, object]]:
    if end is not None and time.monotonic() > end:
        return []
    seeds = all_seeds()
    cases = [make_case(seeds, len(MADE), seed, number) for number in numbers]
    with TemporaryDirectory() as folder:
        return [verdict.as_json() for verdict in judge(cases, Path(folder))]


def _told(entries: list[dict[str, object]]) -> int:
    """Print how many cases ended how, and each kind of fault with the numbers of cases."""
    kinds = Counter(str(entry["kind"]) for entry in entries)
    print(f"{len(entries)} cases: " + ", ".join(f"{count} {kind}" for kind, count in kinds.most_common()))
    classes = Counter(str(entry["reason"]).partition(":")[0] for entry in entries if entry["kind"] == "explained")
    for name, count in classes.most_common():
        print(f"{count:4} explained: {name}")
    faults: dict[tuple[str, str], list[int]] = {}
    for entry in entries:
        if entry["kind"] in FAULTS:
            key = (str(entry["kind"]), str(entry["reason"])[:160])
            faults.setdefault(key, []).append(int(str(entry["number"])))
    for (kind, reason), numbers in sorted(faults.items(), key=lambda item: -len(item[1])):
        print(f"{len(numbers):4} {kind}: {reason} (cases {', '.join(map(str, numbers[:5]))})")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
