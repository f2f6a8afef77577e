"""The results of the conformance cases as a small file that a package ships: no date, no path, no machine."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from match_core.io.files import whole_file
from match_core.plugin.badge import SCHEMA


@dataclass(frozen=True, slots=True)
class Badge:
    """``levels``: the passed ones, in their order; ``of``: the number of all levels; ``core``: the version of
    match-core that ran the cases."""

    package: str
    version: str
    contract: int
    core: str
    targets: tuple[str, ...]
    levels: tuple[str, ...]
    of: int
    passed: int
    failed: int
    skipped: int

    def as_json(self) -> dict[str, object]:
        """The fields as a JSON object."""
        return {
            "schema": SCHEMA,
            "schema_version": 1,
            "package": self.package,
            "version": self.version,
            "contract": self.contract,
            "core": self.core,
            "targets": list(self.targets),
            "levels": list(self.levels),
            "of": self.of,
            "cases": {"passed": self.passed, "failed": self.failed, "skipped": self.skipped},
        }

    def write(self, path: Path) -> None:
        """Replace the file. UsageError MATCH-U045 if it cannot be written."""
        with whole_file(path, "the badge") as file:
            file.write((json.dumps(self.as_json(), indent=1) + "\n").encode("utf-8"))


def read_badge(path: Path) -> Badge | None:
    """The badge in a file; None if there is none or it cannot be read."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["schema"] != SCHEMA:
            return None
        cases = document["cases"]
        return Badge(
            package=str(document["package"]),
            version=str(document["version"]),
            contract=int(document["contract"]),
            core=str(document["core"]),
            targets=tuple(map(str, document["targets"])),
            levels=tuple(map(str, document["levels"])),
            of=int(document["of"]),
            passed=int(cases["passed"]),
            failed=int(cases["failed"]),
            skipped=int(cases["skipped"]),
        )
    except (OSError, OverflowError, RecursionError, ValueError, KeyError, TypeError):
        return None
