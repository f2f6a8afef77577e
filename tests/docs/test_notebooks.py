"""The notebooks run, cell by cell, and hold no outputs."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

FOLDER = ROOT / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
FAST = "deploy_pytorch"


def cells(path: Path) -> list[dict[str, Any]]:
    return json.loads(path.read_text("utf-8"))["cells"]


def run(path: Path) -> dict[str, Any]:
    """Run all cells in one namespace; the value of a cell's last line is shown, as a notebook does."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(cell for cell in cells(path) if cell["cell_type"] == "code"):
        tree, place = ast.parse("".join(cell["source"])), f"{path.name}, code cell {number}"
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, place, "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), place, "eval"), names)
            show = getattr(value, "_repr_html_", None)
            assert value is not None and (show is None or show().startswith("<div"))
    return names


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=path.stem, marks=() if path.stem == FAST else pytest.mark.slow) for path in NOTEBOOKS],
)
def test_the_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "pandas" in path.read_text("utf-8"):
        pytest.importorskip("pandas")
    (tmp_path / "demo").symlink_to(ROOT / "examples" / "demo")
    (tmp_path / "notebooks").mkdir()
    monkeypatch.chdir(tmp_path / "notebooks")  # a notebook server runs a notebook in its folder
    run(path)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebook_is_stored_without_outputs(path: Path) -> None:
    code = [cell for cell in cells(path) if cell["cell_type"] == "code"]
    assert code and not any(cell["outputs"] or cell["execution_count"] for cell in code)
    assert f"[{path.name}]({path.name})" in (FOLDER / "README.md").read_text("utf-8")


def test_there_are_three_notebooks() -> None:
    assert len(NOTEBOOKS) == 3 and FAST in [path.stem for path in NOTEBOOKS]
