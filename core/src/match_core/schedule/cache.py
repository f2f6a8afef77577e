"""Answers of the scheduler by the content of their requests: in memory for one compilation, on disk for all.

An entry on disk is one JSON file named by the digest of its request. It repeats format, version of match and digest,
and carries a digest of the answer, so that a file that is cut off, foreign or of another version counts as absent and
is written anew. Files are put in place whole; any number of processes may use one directory.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from match_core.io.cache_dir import cache_directory, write_whole
from match_core.schedule.codec import from_json, to_json

if TYPE_CHECKING:
    from match_core.cost import CostModel
    from match_core.schedule.engine import Answer
    from match_core.schedule.loops import ScheduleRequest

#: Changes with the form of entries.
FORMAT = 1


def schedule_directory() -> Path:
    """Where entries are kept."""
    return cache_directory("schedules")


@dataclass
class ScheduleCache:
    """``directory`` None: in memory only. ``version``: of match; ``code``: digest of the code that makes schedules,
    so that no entry outlives it. The owner, one compilation, passes the cache along."""

    directory: Path | None = None
    version: str = ""
    code: str = ""
    answers: dict[str, Answer] = field(default_factory=dict)
    #: Digests of values that many requests share.
    _digests: dict[Hashable, str] = field(default_factory=dict)

    def key(self, request: ScheduleRequest) -> str:
        """Digest of everything that the answer may depend on. A cost model is taken to be determined by the Soc, the
        unit, the pattern, its own name and version, and the code."""
        content: dict[str, object] = {name: self._shared(getattr(request, name)) for name in ("soc", "unit")}
        for entry in fields(request):
            if entry.name not in content:
                value = getattr(request, entry.name)
                content[entry.name] = _model(value) if entry.name == "cost_model" else canonical(value)
        return _digest([FORMAT, self.version, self.code, content])

    def find(self, key: str) -> Answer | None:
        """The known answer; None if there is none."""
        if key not in self.answers and self.directory is not None:
            answer = self._read(self.directory, key)
            if answer is not None:
                self.answers[key] = answer
        return self.answers.get(key)

    def keep(self, key: str, answer: Answer) -> Answer:
        """Remember an answer, on disk too where that is wanted and possible."""
        self.answers[key] = answer
        if self.directory is not None:
            self._write(self.directory, key, answer)
        return answer

    def _write(self, directory: Path, key: str, answer: Answer) -> None:
        try:
            content = to_json(answer)
        except TypeError:  # a plugin's answer with values that are not plain
            return
        entry = {"format": FORMAT, "version": self.version, "key": key, "sha256": _digest(content), "answer": content}
        write_whole(_path(directory, key), json.dumps(entry, indent=1, sort_keys=True).encode("utf-8"))

    def _shared(self, value: Hashable) -> str:
        if value not in self._digests:
            self._digests[value] = _digest(canonical(value))
        return self._digests[value]

    def _read(self, directory: Path, key: str) -> Answer | None:
        try:
            entry = json.loads(_path(directory, key).read_bytes())
            known = (entry["format"], entry["version"], entry["key"], entry["sha256"])
            if known == (FORMAT, self.version, key, _digest(entry["answer"])):
                return from_json(entry["answer"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return None


def canonical(value: object) -> object:
    """Plain lists and values that are equal exactly where the values are; TypeError for what has no content."""
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, (tuple, list)):
        return [canonical(item) for item in value]
    if isinstance(value, Mapping):
        return [[canonical(name), canonical(value[name])] for name in sorted(value)]
    if is_dataclass(value) and not isinstance(value, type):
        return [type(value).__name__, *([f.name, canonical(getattr(value, f.name))] for f in fields(value))]
    raise TypeError(f"a {type(value).__name__} has no canonical form")


def _model(model: CostModel) -> list[object]:
    return [model.name, model.version, model.bound, model.overlap, model.energy is not None]


def _digest(content: object) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _path(directory: Path, key: str) -> Path:
    return directory / key[:2] / f"{key}.json"
