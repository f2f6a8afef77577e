"""The one JSON document that every verb prints: which verb of which version, success, result, error, what was said."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from match_core.version import __version__

#: Version of this document and of the verbs' results; a change that breaks readers increases it.
SCHEMA = 2
_PREFIX = "match."


def envelope(document: Mapping[str, Any], warnings: Sequence[str], notes: Sequence[str]) -> dict[str, Any]:
    """The document around a verb's own: its ``schema`` (match.VERB), ``ok``, ``error``, ``warnings`` and ``notes`` move
    out of it, after the ones given here. Numbers that are not finite become null, because JSON cannot express them."""
    own = dict(document)
    verb, ok, error = own.pop("schema", _PREFIX).removeprefix(_PREFIX), own.pop("ok", True), own.pop("error", None)
    said = {"warnings": [*warnings, *own.pop("warnings", ())], "notes": [*notes, *own.pop("notes", ())]}
    made = {
        "match": __version__,
        "verb": verb,
        "schema": SCHEMA,
        "status": "ok" if ok else "failed",
        "result": own,
        "error": error,
        **{name: list(dict.fromkeys(texts)) for name, texts in said.items()},
    }
    return {name: _finite(value) for name, value in made.items()}


def _finite(value: object) -> object:
    if isinstance(value, Mapping):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
