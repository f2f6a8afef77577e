"""The suite as pytest sees it: a class to inherit from, whose one test is made of all cases."""

from __future__ import annotations

from typing import Any, ClassVar

from match_core.testing.capabilities import Capabilities
from match_core.testing.findings import Case, ask
from match_core.testing.levels import PACKAGE_CASES, TARGET_CASES


class ConformanceSuite:
    """Inherit from it in a package's tests and set ``capabilities``: one test for each case and target."""

    capabilities: ClassVar[Capabilities]

    def pytest_generate_tests(self, metafunc: Any) -> None:
        """Called by pytest for the test below. Where the package does not load, its own cases tell why."""
        from match_core.testing.subject import subjects_of

        package, *targets = subjects_of(self.capabilities)
        pairs = [(case, package) for case in PACKAGE_CASES]
        pairs += [(case, subject) for subject in targets for case in TARGET_CASES]
        names = ["-".join(filter(None, (subject.target, case.key))) for case, subject in pairs]
        metafunc.parametrize(("case", "subject"), pairs, ids=names)

    def test_conformance(self, case: Case, subject: Any) -> None:
        """What the case asks."""
        import pytest

        outcome = ask(case, subject)
        found = "\n  ".join(outcome.findings)
        if outcome.status == "skipped":
            pytest.skip(found)
        if outcome.status == "failed":
            pytest.fail(f"{case.asks}\n  {found}", pytrace=False)
