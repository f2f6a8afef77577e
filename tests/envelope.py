"""The JSON document of a verb, as tests read it."""

from __future__ import annotations

import json
from typing import Any

KEYS = ["match", "verb", "schema", "status", "result", "error", "warnings", "notes"]


def opened(text: str) -> dict[str, Any]:
    """The result with the rest of its envelope: ``verb``, ``ok``, ``error``, ``warnings``, ``notes``."""
    document = json.loads(text)
    assert list(document) == KEYS
    assert document["status"] in ("ok", "failed")
    assert document["status"] == "failed" or document["error"] is None
    kept = {name: document[name] for name in ("verb", "error", "warnings", "notes")}
    return {**(document["result"] or {}), **kept, "ok": document["status"] == "ok"}
