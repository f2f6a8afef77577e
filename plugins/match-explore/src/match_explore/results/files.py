"""The table as CSV and Parquet."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from match_core.io.files import whole_file

if TYPE_CHECKING:
    from pathlib import Path


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """RFC 4180 with line feeds; empty cells for figures that are not known."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    return text.getvalue()


def write_parquet(rows: Sequence[Mapping[str, Any]], path: Path, facts: Mapping[str, Any]) -> None:
    """The same columns, with ``facts`` about the study under the key ``match`` of the metadata."""
    import pyarrow as pa
    from pyarrow import parquet

    columns = {name: _column([row[name] for row in rows]) for name in rows[0]} if rows else {}
    table = pa.table(columns).replace_schema_metadata({"match": json.dumps(facts, sort_keys=True)})
    with whole_file(path, "the table") as file:
        parquet.write_table(table, file)


def _column(values: list[Any]) -> list[Any]:
    """Values of one type: an axis may mix numbers with texts."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float} or len(kinds) <= 1:
        return [float(v) if v is not None and kinds == {int, float} else v for v in values]
    return [None if value is None else str(value) for value in values]


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return repr(value) if isinstance(value, float) else value
