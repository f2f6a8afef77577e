"""A package that keeps the plans of match-beyond."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest
from match_beyond.planning import plan
from match_core import hookimpl
from match_core.contract.planning import Plan, PlanRequest
from match_core.contract.program import Program
from match_core.plugin.discovery import Found
from match_core.plugin.facade import Plugins


@dataclass
class Spy:
    """Answers ``match_plan`` as match-beyond does, and keeps requests and answers."""

    match_contract = 1
    seen: list[tuple[PlanRequest, Plan]] = field(default_factory=list)

    @hookimpl(tryfirst=True)
    def match_plan(self, request: PlanRequest) -> Plan | None:
        """The plan of match-beyond."""
        answer = plan(request)
        if answer is not None:
            self.seen.append((request, answer))
        return answer

    def plugins(self) -> Plugins:
        """All packages, and this one."""
        return Plugins.load((Found("spy", "spy", "0", lambda: self),))

    def places(self, program: Program) -> Mapping[int, Mapping[str, int]]:
        """Where the code of a program, one of those seen, expects its constants in the store."""
        request = next(request for request, answer in self.seen if answer.program is program)
        return request.measure(tuple(task.assignment for task in program.tasks)).places


@pytest.fixture(scope="module")
def spy() -> Spy:
    """One for the tests of a module."""
    return Spy()
