"""Typed reading of tables of a TOML file: every key is read once, and keys that were not read are errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from match_core.contract.errors import UsageError, did_you_mean


def file_error(where: str, why: str, *help_: str) -> UsageError:
    """MATCH-U060: the file is not a board file."""
    return UsageError("MATCH-U060", "the board file cannot be used", where, why, help_)


class Table:
    """One table; ``where`` names it in errors. All methods raise UsageError MATCH-U060 for a value of another type."""

    def __init__(self, values: Mapping[str, Any], file: str, where: str) -> None:
        self._values = values
        self._file = file
        self._where = where
        self._known: list[str] = []

    def error(self, why: str, *help_: str) -> UsageError:
        """The error that names this table."""
        return file_error(f"{self._file}{', ' + self._where if self._where else ''}", why, *help_)

    def has(self, key: str) -> bool:
        """Whether the table has the key."""
        return key in self._values

    def text(self, key: str, default: str | None = None) -> str:
        """A string that is not empty; required if there is no default."""
        value = self._get(key, default)
        if not isinstance(value, str) or (key in self._values and not value.strip()):
            raise self._mistyped(key, "a text")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of strings, empty if the key is absent."""
        value = self._get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self._mistyped(key, "a list of texts")
        return tuple(value)

    def mapping(self, key: str) -> Mapping[str, str]:
        """A table of strings, empty if the key is absent."""
        value = self._get(key, {})
        if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
            raise self._mistyped(key, "a table of texts")
        return dict(value)

    def number(self, key: str) -> float:
        """A positive number."""
        value = self._get(key, None)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < float("inf"):
            raise self._mistyped(key, "a positive number")
        return value

    def optional_whole(self, key: str) -> int | None:
        """A whole number of 0 or more, None if the key is absent."""
        value = self._get(key, 0)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self._mistyped(key, "a whole number of 0 or more")
        return value if key in self._values else None

    def whole(self, key: str) -> int:
        """A whole number of 0 or more; required."""
        value = self.optional_whole(key)
        if value is None:
            raise self.error(f"the key {key!r} is missing", f"add {key}; see docs/boards.md")
        return value

    def truth(self, key: str, default: bool) -> bool:
        """True or false."""
        value = self._get(key, default)
        if not isinstance(value, bool):
            raise self._mistyped(key, "true or false")
        return value

    def table(self, key: str) -> Table:
        """A table; required."""
        value = self._get(key, None)
        if not isinstance(value, dict):
            raise self._mistyped(key, "a table")
        return Table(value, self._file, f"[{key}]")

    def optional_table(self, key: str) -> Table | None:
        """A table, None if the key is absent."""
        return self.table(key) if self.has(key) else None

    def tables(self, key: str, *, least: int = 1) -> tuple[Table, ...]:
        """A list of tables, at least ``least``; errors name them by their name or their number."""
        value = self._get(key, None if least else [])
        if not isinstance(value, list) or len(value) < least or not all(isinstance(item, dict) for item in value):
            raise self._mistyped(key, f"a list of tables, [[{key}]]")
        named = ((item, f"[[{key}]] {item.get('name', number)}") for number, item in enumerate(value, 1))
        return tuple(Table(item, self._file, name) for item, name in named)

    def end(self) -> None:
        """Reports keys that were not read."""
        for key in self._values:
            if key not in self._known:
                help_ = did_you_mean(key, self._known) or (f"the keys are {', '.join(self._known)}",)
                raise self.error(f"the key {key!r} is not known", *help_)

    def _get(self, key: str, default: Any) -> Any:
        self._known.append(key)
        if key in self._values:
            return self._values[key]
        if default is None:
            raise self.error(f"the key {key!r} is missing", f"add {key}; see docs/boards.md")
        return default

    def _mistyped(self, key: str, wanted: str) -> UsageError:
        return self.error(f"{key} is {self._values.get(key)!r}, {wanted} expected", f"give {wanted}")
