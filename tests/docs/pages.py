"""The Markdown pages of the project, and the marked commands in them.

A console block under ``<!-- run -->`` is run: lines that begin with ``$`` are commands, what stands below them is their
output. A line ``...`` in the output stands for any lines. ``<!-- run: COMMAND -->`` runs another command than the one
that is shown (for what the shown one does besides, like setting up an environment). ``<!-- run after: COMMAND -->``
runs a command first that the page does not show. A block under ``<!-- then run -->`` continues the block before it, in
the same folder.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from tests.conftest import ROOT

DOCS = ROOT / "docs"
READMES = (
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "core" / "README.md",
    *sorted((ROOT / "plugins").glob("*/README.md")),
    ROOT / "examples" / "demo" / "README.md",
)
ANYTHING = "..."
_BLOCK = re.compile(
    r"<!-- (?P<then>then )?run(?:: (?P<instead>[^\n]*?)| after: (?P<first>[^\n]*?))? -->\n```console\n(?P<text>.*?)```",
    re.DOTALL,
)
#: What may differ from run to run: the elapsed times of stages.
_SECONDS = re.compile(r" *\d+\.\d\d s")


@dataclass(frozen=True, slots=True)
class Step:
    """A command as it is shown, the one to run, and the lines shown below it."""

    shown: str
    command: str
    output: tuple[str, ...]

    def matches(self, printed: str) -> bool:
        """Whether this is what the page shows. Blanks at line ends and times do not count."""
        parts = [r"(?:.*\n)*?" if line.strip() == ANYTHING else _expression(line) for line in self.output]
        lines = (line.rstrip() for line in printed.splitlines())
        return re.fullmatch("".join(parts), "".join(f"{line}\n" for line in lines)) is not None

    def abridged(self, printed: str) -> tuple[str, ...]:
        """What the page would show of an output: as many lines before and after each ``...`` as it shows now."""
        lines = tuple(line.rstrip() for line in printed.splitlines())
        if ANYTHING not in self.output:
            return lines
        before = self.output.index(ANYTHING)
        after = len(self.output) - 1 - before
        return (*lines[:before], ANYTHING, *lines[len(lines) - after :])


@dataclass(frozen=True, slots=True)
class Session:
    """Console blocks that are run one after another in one folder. ``number``: of the first one in its page;
    ``first``: a command before them that the page does not show, or empty."""

    page: Path
    number: int
    first: str
    blocks: tuple[tuple[Step, ...], ...]

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps of all blocks."""
        return tuple(step for block in self.blocks for step in block)

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.number}"


def pages() -> tuple[Path, ...]:
    """All pages, READMEs first."""
    return (*READMES, *sorted(DOCS.glob("*.md")))


def text_of(path: Path) -> str:
    """A page's text."""
    return path.read_text(encoding="utf-8")


def sessions() -> tuple[Session, ...]:
    """All console blocks that are marked to be run."""
    found: list[Session] = []
    for page in pages():
        for number, block in enumerate(_BLOCK.finditer(text_of(page))):
            steps = _steps(block["text"], block["instead"])
            if block["then"]:
                found[-1] = replace(found[-1], blocks=(*found[-1].blocks, steps))
            else:
                found.append(Session(page, number, block["first"] or "", (steps,)))
    return tuple(found)


def rewrite(session: Session, run: Callable[[str], str]) -> None:
    """Put what commands print now into the page."""
    if session.first:
        run(session.first)
    for number, steps in enumerate(session.blocks, start=session.number):
        lines = []
        for step in steps:
            lines += [f"$ {step.shown}", *step.abridged(run(step.command))]
        text = text_of(session.page)
        start, stop = list(_BLOCK.finditer(text))[number].span("text")
        session.page.write_text(text[:start] + "\n".join(lines) + "\n" + text[stop:], encoding="utf-8")


def _steps(block: str, instead: str | None) -> tuple[Step, ...]:
    steps = []
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        lines = part.splitlines()
        count = 1
        while lines[count - 1].endswith("\\"):
            count += 1
        shown = "\n".join(lines[:count])
        steps.append(Step(shown, instead or shown, tuple(line.rstrip() for line in lines[count:])))
    return tuple(steps)


def _expression(line: str) -> str:
    return r" *\d+\.\d\d s".join(re.escape(piece) for piece in _SECONDS.split(line)) + r"\n"


def anchors(path: Path) -> frozenset[str]:
    """The anchors of a page's headings, as the usual renderers make them."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", text_of(path), flags=re.DOTALL), flags=re.MULTILINE)
    return frozenset(re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings)
