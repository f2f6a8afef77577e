"""Lines of C: indentation, breaking of long lines, comments."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager

#: Longest line of an emitted file, in characters.
WIDTH = 120


def broken(text: str, indent: int) -> list[str]:
    """A statement as lines that fit, broken between the arguments of its outermost call or, if a single argument is too
    long, before one of its operators."""
    lines, rest, hang = [], " " * indent + text, indent + 4
    opening = rest.find("(") + 1
    if 0 < opening < WIDTH // 2:
        hang = opening
    while len(rest) > WIDTH:
        cuts = list(_cuts(rest[:WIDTH], hang))
        if not cuts:
            break
        _, cut = min(cuts, key=lambda place: (place[0], -place[1]))
        lines.append(rest[:cut].rstrip())
        rest = " " * hang + rest[cut:].lstrip()
    return [*lines, rest]


def _cuts(line: str, first: int) -> Iterator[tuple[int, int]]:
    """(depth of parentheses, position) of every possible line break after position ``first``: after a comma, or before
    an operator, which counts as one level deeper."""
    depth = 0
    for position, character in enumerate(line):
        if character in "({":
            depth += 1
        elif character in ")}":
            depth -= 1
        elif position > first and character == ",":
            yield depth, position + 1
        elif position > first and line[position : position + 3] in (" + ", " - ", " * "):
            yield depth + 1, position


def comment(*paragraphs: str, indent: int = 0) -> str:
    """A comment block, a new line for each paragraph; the paragraphs must be safe in a comment."""
    margin = " " * indent
    lines = [
        line
        for text in paragraphs
        for line in textwrap.wrap(text, WIDTH - 6 - indent, break_on_hyphens=False)  # room for the opening and the end
    ]
    return f"{margin}/* " + f"\n{margin} * ".join(lines) + " */"


def noted(code: str, words: str, indent: int = 0) -> str:
    """A line of C with a comment after it, or above it if both are too long for one line."""
    line = f"{' ' * indent}{code} /* {words} */"
    return line if len(line) <= WIDTH else f"{comment(words, indent=indent)}\n{' ' * indent}{code}"


class Block:
    """Statements of one function body."""

    def __init__(self, indent: int = 1) -> None:
        self.lines: list[str] = []
        self._indent = indent

    def line(self, text: str) -> None:
        """One statement."""
        self.lines += broken(text, 4 * self._indent)

    def extend(self, texts: list[str]) -> None:
        """Several statements."""
        for text in texts:
            self.line(text)

    @contextmanager
    def braces(self, head: str) -> Iterator[None]:
        """``head {`` and ``}`` around the statements added in the ``with`` block; nothing if ``head`` is empty."""
        if not head:
            yield
            return
        self.line(f"{head} {{")
        self._indent += 1
        yield
        self._indent -= 1
        self.line("}")

    def __str__(self) -> str:
        return "\n".join(self.lines)
