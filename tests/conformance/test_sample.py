"""A sample of the suite runs with the other tests; ``make conformance`` runs all of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.conformance.compare import difference
from tests.conformance.page import page
from tests.conformance.proofs import PROOFS
from tests.conformance.run import Verdict, run_cases
from tests.conformance.suite import Case, node_cases, stored_cases
from tests.conftest import ROOT

#: Every so many cases one is run.
STEP = 180


@pytest.fixture(scope="module")
def found() -> tuple[Case, ...]:
    return (*node_cases(), *stored_cases())


def test_most_cases_are_static(found: tuple[Case, ...]) -> None:
    nodes = [case for case in found if case.kind == "node"]
    static = [case for case in nodes if not case.left_out]
    assert len(static) > 0.95 * len(nodes)
    assert {case.left_out for case in nodes} >= {"an input holds strings", "an input is a sequence"}


def test_a_sample_passes_or_is_refused(found: tuple[Case, ...], tmp_path: Path) -> None:
    sample = [case for case in found if not case.left_out][::STEP]
    verdicts = list(run_cases(sample, tmp_path, jobs=1))
    assert [verdict.name for verdict in verdicts] == [case.name for case in sample]
    assert [verdict for verdict in verdicts if verdict.status in ("wrong", "fault")] == []
    assert sum(verdict.status == "passed" for verdict in verdicts) > 0.7 * len(verdicts)
    assert all(verdict.code.startswith("MATCH-") for verdict in verdicts if verdict.status == "refused")


@pytest.mark.parametrize(
    ("got", "words"),
    [
        (np.float32([1, 2.1]), "1 of 2 values differ, first 2.0999"),
        (np.float32([[1, 2]]), "has shape (1, 2)"),
        (np.float64([1, 2]), "is float64, not float32"),
        (np.float32([1, np.nan]), "differ"),
    ],
)
def test_differences_are_told(got: np.ndarray, words: str) -> None:
    assert words in difference([got], [np.float32([1, 2])], 1e-3, 1e-7)


def test_small_differences_are_none() -> None:
    assert difference([np.float32([1.0005, np.inf])], [np.float32([1, np.inf])], 1e-3, 1e-7) == ""


def test_the_page_counts_bodies_for_their_operator() -> None:
    verdicts = [
        Verdict("test_celu", "node", "Celu", "passed"),
        Verdict("test_celu_expanded", "node", "Add", "refused", "MATCH-P001", "no unit runs 'n': 2 nodes"),
    ]
    text = page(verdicts, [])
    assert "| Celu | 2 | 1 | 1 | 0 | 0 | MATCH-P001 |" in text
    assert "| Celu | 1 | refused MATCH-P001 | no unit runs nodes |" in text


def test_the_page_says_why_no_static_program_meets_a_refused_test() -> None:
    verdicts = [
        Verdict("test_bernoulli", "node", "Bernoulli", "refused", "MATCH-F019", "it draws random numbers"),
        Verdict("test_bernoulli_expanded", "node", "Greater", "refused", "MATCH-F019", "it draws random numbers"),
        Verdict("test_add", "node", "Add", "passed"),
    ]
    text = page(verdicts, [])
    assert "**Bernoulli** (2 tests). The operator has no result that a test can expect." in text
    assert "no static program" not in page(verdicts[2:], [])


def test_every_refused_operator_has_a_reason() -> None:
    """Of the node tests, by the page that is stored."""
    stored = (ROOT / "docs" / "conformance.md").read_text(encoding="utf-8")
    table = stored.partition("## Refused, wrong and faulty cases")[2].partition("## Left out")[0]
    refused = {line.split("|")[1].strip() for line in table.splitlines() if "| refused " in line}
    assert {operator for operator in refused if "::" not in operator} == set(PROOFS)
    assert all(f"**{operator}** (" in table for operator in PROOFS)
