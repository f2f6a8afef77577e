"""Documents of match that users hand back, as JSON: checked against a schema before anything else reads them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

#: Largest document, and the largest whole number in one: an estimate, and what 64 bits hold.
MOST_BYTES, MOST = 1 << 28, (1 << 63) - 1
_TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "integer": int}


def read_document(path: Path, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The document in a file, in the form that ``schema`` states: a part of JSON Schema 2020-12 that has
    the keywords below. Keys that the schema does not name are not checked.

    Errors: OSError; ValueError with the place of the first difference.
    """
    if not path.is_file() and path.exists():
        raise ValueError("it is not a plain file")  # reading from a pipe or device may never end
    if path.stat().st_size > MOST_BYTES:
        raise ValueError(f"it has more than {MOST_BYTES} bytes")
    try:
        document: dict[str, Any] = json.loads(path.read_bytes())
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"it is not valid JSON: {error}") from error
    for fault in _faults(document, schema, schema, "it"):
        raise ValueError(fault)
    return document


def _faults(value: Any, schema: Mapping[str, Any], root: Mapping[str, Any], place: str) -> Iterator[str]:
    while "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    if choices := schema.get("anyOf"):
        found = [list(_faults(value, choice, root, place)) for choice in choices]
        yield from () if [] in found else max(found, key=lambda faults: len(faults[0]))  # from the deepest place
        return
    allowed = [schema["const"]] if "const" in schema else schema.get("enum", ())
    kind = schema.get("type")
    if allowed and not any(type(value) is type(one) and value == one for one in allowed):
        yield f"{place} is {_shown(value)}, not {' or '.join(map(repr, allowed))}"
    elif kind is not None and not _is(value, kind):
        yield f"{place} is {_shown(value)}, not of type {kind}"
    elif isinstance(value, str) and not (_is_text(value) and re.search(schema.get("pattern", ""), value)):
        yield f"{place} is {_shown(value)}, which does not match {schema.get('pattern', 'UTF-8')!r}"
    elif kind in ("integer", "number") and not schema.get("minimum", -MOST) <= value <= schema.get("maximum", MOST):
        ends = f"{schema.get('minimum', -MOST)} to {schema.get('maximum', MOST)}"
        yield f"{place} is {_shown(value)}, outside of {ends}"
    elif isinstance(value, dict):
        properties, other = schema.get("properties", {}), schema.get("additionalProperties")
        yield from (f"{place} has no {name!r}" for name in schema.get("required", ()) if name not in value)
        for name, inner in value.items():
            if not _is_text(name):
                yield f"{place} has the key {name[:40]!a}, which is not text"
            elif isinstance(known := properties.get(name, other), Mapping):
                yield from _faults(inner, known, root, f"{place}.{name[:80]}".removeprefix("it."))
    elif isinstance(value, list) and "items" in schema:
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", MOST):
            yield f"{place} has {len(value)} elements"
        for number, inner in enumerate(value):
            yield from _faults(inner, schema["items"], root, f"{place}[{number}]")


def _is(value: object, kind: str) -> bool:
    if kind == "number":
        return type(value) is int or (type(value) is float and math.isfinite(value))
    return type(value) is _TYPES[kind]


def _is_text(value: str) -> bool:
    """Whether the text has no half of a surrogate pair, which no file could hold."""
    return value.isascii() or not any("\ud800" <= character <= "\udfff" for character in value)


def _shown(value: object) -> str:
    return repr(value) if value is None or isinstance(value, (bool, float)) else f"{str(value)[:40]!a}"
