"""One page for each notebook: its text and its code, without outputs."""

from __future__ import annotations

import json
from pathlib import Path

NOTEBOOKS = Path(__file__).resolve().parent.parent / "examples" / "notebooks"


def notebook_pages() -> dict[str, str]:
    """The text of each page by its place."""
    return {f"notebooks/{path.stem}.md": _page(path) for path in sorted(NOTEBOOKS.glob("*.ipynb"))}


def _page(path: Path) -> str:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "\n\n".join(_text("".join(cell["source"]), cell["cell_type"]) for cell in cells) + "\n"


def _text(source: str, kind: str) -> str:
    return source if kind == "markdown" else f"```python\n{source}\n```"
