"""The README's table of operators is that of the claims; ``python test_readme.py`` writes it."""

from __future__ import annotations

from pathlib import Path

from match_dnnl.claims import CLAIMS
from match_dnnl.rules import COMMON

README = Path(__file__).resolve().parent.parent / "README.md"
BEGIN, END = "<!-- claims -->\n", "<!-- end -->\n"


def table() -> str:
    """A line for each group of operators with the rules that it has besides those of all."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for claim in CLAIMS.operators:
        rules = tuple(rule.description for rule in claim.rules[len(COMMON) :])
        groups.setdefault(rules, []).extend(claim.names)
    lines = ["| operators | rules of their own |", "|---|---|"]
    for rules, names in sorted(groups.items(), key=lambda group: min(group[1])):
        operators = ", ".join(f"`{name}`" for name in sorted(names))
        lines.append(f"| {operators} | {'; '.join(rules) or 'none'} |")
    return "\n".join(lines) + "\n"


def text() -> str:
    """The README with a current table."""
    before, rest = README.read_text(encoding="utf-8").split(BEGIN, 1)
    return before + BEGIN + table() + END + rest.split(END, 1)[1]


def test_the_table_is_current() -> None:
    assert README.read_text(encoding="utf-8") == text()


if __name__ == "__main__":
    README.write_text(text(), encoding="utf-8")
