"""Level ``schedules``: every layer has tiles that an independent check accepts, or a refusal in bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from match_kit.testing.findings import Case, Finding

if TYPE_CHECKING:
    from match_kit.testing.subject import Subject

LEVEL = "schedules"


def _valid(subject: Subject) -> Iterator[Finding]:
    from match_core.contract.candidate import Candidates
    from match_core.schedule.cache import ScheduleCache
    from match_core.schedule.candidates import Scheduler
    from match_core.validate.schedule import schedule_faults

    own = {unit.name: unit for unit in subject.units}
    for model in subject.models:
        prepared = subject.prepared(model)
        scheduler = Scheduler(prepared.soc, prepared.units, "latency", subject.plugins, ScheduleCache())
        legal = tuple(c for c in prepared.candidates.legal if c.unit in own and not c.pattern.view)
        assignments, refused = scheduler.schedule_all(Candidates(legal, ()))
        for refusal in refused:
            yield Finding(f"unit {refusal.unit}, pattern {refusal.pattern}", f"{refusal.rule}: {refusal.value}", "note")
        for assignment in assignments:
            candidate, schedule = assignment.candidate, assignment.schedule
            unit = own[candidate.unit]
            streamed = schedule.streamed(prepared.soc.home)
            part = f"match_schedule, unit {unit.name}, pattern {candidate.pattern.name} ({schedule.engine})"
            for fault in schedule_faults(candidate.workload, schedule, unit, prepared.soc, streamed=streamed):
                yield Finding(part, fault)
            if schedule.cost.total_cycles <= 0 and candidate.workload.macs:
                yield Finding(part, f"{candidate.workload.macs} MACs in {schedule.cost.total_cycles} cycles")


CASES = (Case(LEVEL, "valid", "every schedule passes the independent check", _valid),)
