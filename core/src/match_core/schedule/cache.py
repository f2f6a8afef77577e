"""Answers of the scheduler by the content of their requests: in memory for a compilation, on disk for all."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from match_core.io.cache_dir import cache_directory
from match_core.io.entries import Entries, digest
from match_core.schedule.codec import from_json, to_json

if TYPE_CHECKING:
    from match_core.contract.loops import ScheduleRequest
    from match_core.contract.scheduling import Answer

#: Increased when the format of entries changes.
FORMAT = 2


def schedule_directory() -> Path:
    """The directory of the entries."""
    return cache_directory("schedules")


@dataclass
class ScheduleCache:
    """``directory`` None: in memory only. ``version``: of match; ``code``: digest of the code that makes schedules;
    entries of other code are not used. The owner, one compilation, passes the cache along."""

    directory: Path | None = None
    version: str = ""
    code: str = ""
    answers: dict[str, Answer] = field(default_factory=dict)
    #: Digests of requests and of values that many share, by ids of large values, which are stored with them to keep the
    #: ids valid: to hash a Soc takes longer than to look up a schedule.
    _digests: dict[Hashable, tuple[object, str]] = field(default_factory=dict)

    def key(self, request: ScheduleRequest) -> str:
        """Digest of everything that the answer may depend on. A cost model is assumed to be determined by the Soc, the
        unit, the pattern, its own name and version, and the code."""
        asked = (request.pattern, request.workload, request.memory_bytes, request.objective, request.streamed)
        place = (id(request.soc), id(request.unit), id(request.cost_model), request.staging_bytes, *asked)
        if place not in self._digests:
            self._digests[place] = (request, self._key(request))
        return self._digests[place][1]

    def _key(self, request: ScheduleRequest) -> str:
        content: dict[str, object] = {name: self._shared(getattr(request, name)) for name in ("soc", "unit")}
        model = request.cost_model
        content["cost_model"] = [model.name, model.version, model.bound, model.overlap, model.energy is not None]
        for entry in fields(request):
            if entry.name not in content:
                content[entry.name] = canonical(getattr(request, entry.name))
        return digest([FORMAT, self.version, self.code, content])

    def find(self, key: str) -> Answer | None:
        """The cached answer; None if there is none."""
        if key not in self.answers and self._entries is not None:
            answer = self._read(self._entries, key)
            if answer is not None:
                self.answers[key] = answer
        return self.answers.get(key)

    def keep(self, key: str, answer: Answer) -> Answer:
        """Cache an answer, also on disk if this is enabled and possible."""
        self.answers[key] = answer
        if self._entries is not None:
            self._write(self._entries, key, answer)
        return answer

    def _write(self, entries: Entries, key: str, answer: Answer) -> None:
        try:
            content = to_json(answer)
        except TypeError:  # a plugin's answer with values that are not plain
            return
        entries.write(key, content)

    def _shared(self, value: Hashable) -> str:
        if id(value) not in self._digests:
            self._digests[id(value)] = (value, digest(canonical(value)))
        return self._digests[id(value)][1]

    def _read(self, entries: Entries, key: str) -> Answer | None:
        try:
            return from_json(entries.read(key))
        except ValueError:
            return None

    @property
    def _entries(self) -> Entries | None:
        return None if self.directory is None else Entries(self.directory, FORMAT, self.version)


def canonical(value: object) -> object:
    """Plain lists and values that are equal if and only if the given values are; TypeError for others."""
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, (tuple, list)):
        return [canonical(item) for item in value]
    if isinstance(value, Mapping):
        return [[canonical(name), canonical(value[name])] for name in sorted(value)]
    if is_dataclass(value) and not isinstance(value, type):
        return [type(value).__name__, *([f.name, canonical(getattr(value, f.name))] for f in fields(value))]
    raise TypeError(f"a {type(value).__name__} has no canonical form")
