"""One point of a study: everything that its result depends on, as plain data."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from match_explore.study import Value

#: Increased when the meaning of points or outcomes changes.
FORMAT = 1
#: What keeps all units of a target.
ALL = ("all",)


@dataclass(frozen=True)
class Point:
    """``axes``: (name, value as in the study, None where the axis does not apply) for the columns; ``options``:
    arguments of ``CompileOptions`` as plain values; ``what_if``: (field, value) of changed hardware; ``board``: the
    text of the target's board file, empty for the target of a package; ``data``: digests of inputs and labels."""

    index: int
    model: str
    file: str
    sha256: str
    target: str
    axes: tuple[tuple[str, Value | None], ...]
    options: tuple[tuple[str, Any], ...]
    what_if: tuple[tuple[str, float], ...] = ()
    board: str = ""
    evaluate: str = "compile"
    data: tuple[tuple[str, str], ...] = ()
    places: tuple[int, ...] = field(default=(), compare=False)

    def content(self) -> dict[str, Any]:
        """Everything that decides the outcome, without the number and the names that only the table shows."""
        names = ("file", "sha256", "target", "board", "evaluate")
        made: dict[str, Any] = {name: getattr(self, name) for name in names}
        return {**made, **{name: dict(getattr(self, name)) for name in ("options", "what_if", "data")}}

    def key(self, code: str) -> str:
        """Digest of the content and of the code that computes the outcome."""
        text = json.dumps([FORMAT, code, self.content()], sort_keys=True, separators=(",", ":"))
        return sha256(text.encode()).hexdigest()


def what_if_text(point: Point) -> str:
    """The changed hardware in words, empty if there is none."""
    return ", ".join(f"{name}={value:g}" for name, value in point.what_if)
