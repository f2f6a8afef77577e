"""The suite for pytest: a base class with one test that is parametrised by all cases."""

from __future__ import annotations

from typing import Any, ClassVar

from match_kit.testing.capabilities import Capabilities
from match_kit.testing.findings import Case, ask
from match_kit.testing.levels import PACKAGE_CASES, TARGET_CASES


class ConformanceSuite:
    """Inherit from it in a package's tests and set ``capabilities``: one test for each case and target."""

    capabilities: ClassVar[Capabilities]

    def pytest_generate_tests(self, metafunc: Any) -> None:
        """Called by pytest for the test below. If the package does not load, its own cases report why."""
        from match_kit.testing.subject import subjects_of

        package, *targets = subjects_of(self.capabilities)
        pairs = [(case, package) for case in PACKAGE_CASES]
        pairs += [(case, subject) for subject in targets for case in TARGET_CASES]
        names = ["-".join(filter(None, (subject.target, case.key))) for case, subject in pairs]
        metafunc.parametrize(("case", "subject"), pairs, ids=names)

    def test_conformance(self, case: Case, subject: Any) -> None:
        """Run one case."""
        import pytest

        outcome = ask(case, subject)
        found = "\n  ".join(outcome.findings)
        if outcome.status == "skipped":
            pytest.skip(found)
        if outcome.status == "failed":
            pytest.fail(f"{case.asks}\n  {found}", pytrace=False)
