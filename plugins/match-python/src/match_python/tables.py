"""How results show themselves: one line as text, a table in notebooks, a frame where pandas is installed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from html import escape
from numbers import Number
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

#: Colours are the notebook's own, so that the table is readable on light and on dark pages.
_CELL = "padding:2px 10px;border-bottom:1px solid rgba(128,128,128,.4)"
_ROWS_MAX = 60


class Tabular(ABC):
    """A result with a summary and rows. Every row has the same keys, which are the columns."""

    @abstractmethod
    def summary(self) -> str:
        """The answer in one line of text."""

    @abstractmethod
    def rows(self) -> Sequence[Mapping[str, object]]:
        """The details: one mapping of column to value for each row."""

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        rows = self.rows()
        columns = list(rows[0]) if rows else []
        head = "".join(f'<th scope="col" style="text-align:left;{_CELL}">{escape(name)}</th>' for name in columns)
        body = "".join(f"<tr>{''.join(_cell(row[name]) for name in columns)}</tr>" for row in rows[:_ROWS_MAX])
        more = f"<p>{len(rows) - _ROWS_MAX} more rows: use to_dataframe() or rows()</p>" if rows[_ROWS_MAX:] else ""
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if rows else ""
        return f"<div><p><strong>{escape(self.summary())}</strong></p>{table}{more}</div>"

    def to_dataframe(self) -> pd.DataFrame:
        """The rows as a pandas frame. ModuleNotFoundError if pandas is not installed: pip install pandas."""
        import pandas as pd

        return pd.DataFrame(list(self.rows()))


def _cell(value: object) -> str:
    side = "right" if isinstance(value, Number) and not isinstance(value, bool) else "left"
    return f'<td style="text-align:{side};{_CELL}">{escape(_text(value))}</td>'


def _text(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
