"""``python -m tests.conformance``: run the suite, print the numbers and write the page docs/conformance.md."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from time import perf_counter

from tests.conformance.page import page
from tests.conformance.run import Verdict, run_cases
from tests.conformance.suite import Case, node_cases, stored_cases
from tests.conftest import ROOT

FOLDER = ROOT / "build" / "conformance"


def main(arguments: list[str]) -> int:
    """Exit code 1 where a program is wrong or faulty: a refusal is none."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("names", nargs="*", help="run only the cases whose names contain one of these")
    parser.add_argument("--jobs", type=int, default=2, help="processes that compile and build")
    options = parser.parse_args(arguments)
    found = (*node_cases(), *stored_cases())
    cases = [case for case in found if not case.left_out and _wanted(case, options.names)]
    start = perf_counter()
    verdicts = list(run_cases(cases, FOLDER, options.jobs))
    for verdict in verdicts:
        if options.names or verdict.status in ("wrong", "fault"):
            print(_line(verdict))
    _print_counts(verdicts, perf_counter() - start)
    if not options.names:
        left_out = [case for case in found if case.left_out]
        (ROOT / "docs" / "conformance.md").write_text(page(verdicts, left_out), encoding="utf-8")
        (FOLDER / "verdicts.txt").write_text("".join(f"{_line(verdict)}\n" for verdict in verdicts), encoding="utf-8")
    return 1 if any(verdict.status in ("wrong", "fault") for verdict in verdicts) else 0


def _wanted(case: Case, names: list[str]) -> bool:
    return not names or any(name in case.name for name in names)


def _line(verdict: Verdict) -> str:
    return f"{verdict.status:8}{verdict.code:12}{verdict.operator:28}{verdict.name:60} {verdict.reason}"


def _print_counts(verdicts: list[Verdict], seconds: float) -> None:
    for kind in dict.fromkeys(verdict.kind for verdict in verdicts):
        own = [verdict for verdict in verdicts if verdict.kind == kind]
        counts = Counter(verdict.status for verdict in own)
        told = ", ".join(f"{counts[status]} {status}" for status in ("passed", "refused", "wrong", "fault"))
        print(f"{kind}: {len(own)} cases: {told}")
    compiling = sum(verdict.seconds for verdict in verdicts)
    print(f"{seconds:.0f} s in all; {compiling / max(1, len(verdicts)) * 1000:.0f} ms per case from ONNX to C")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
