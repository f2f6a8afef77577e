"""Reading the report of a compiled program."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from match_core.contract.errors import UsageError
from match_core.summary.document import NAME, SCHEMA, SCHEMA_VERSION

if TYPE_CHECKING:
    from pathlib import Path


def read_report(directory: Path) -> dict[str, Any]:
    """The document ``report.json`` of a program directory. UsageError MATCH-U032 if it is missing or this version
    cannot read it."""
    path = directory / NAME
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise _refused(path, error.strerror or str(error)) from error
    except (RecursionError, ValueError) as error:
        raise _refused(path, f"the file is not valid JSON: {error}") from error
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise _refused(path, f"the file is not a {SCHEMA} document")
    if document.get("schema_version") != SCHEMA_VERSION:
        raise _refused(
            path, f"its schema_version is {document.get('schema_version')!r}; this version reads {SCHEMA_VERSION}"
        )
    return document


def _refused(path: Path, why: str) -> UsageError:
    return UsageError(
        code="MATCH-U032",
        what="the report of the program cannot be read",
        where=str(path),
        why=why,
        help=("compile the model with this version: match compile MODEL -t TARGET -o DIR",),
    )
