"""The site: it builds without a broken link, every error code has a page of its own, the picture is current."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_every_error_code_has_a_page_with_its_text(site: Path) -> None:
    codes = re.findall(r"^## (MATCH-[A-Z]\d{3})$", (ROOT / "docs" / "errors.md").read_text("utf-8"), re.MULTILINE)
    assert codes
    for code in codes:
        text = (site / "errors" / code / "index.html").read_text("utf-8")
        assert "What." in text and "Help." in text, code
        assert code == "MATCH-M001" or "As it is printed" in text, code  # M001's text changes with every better plan


def test_every_page_of_the_documentation_is_in_the_navigation(site: Path) -> None:
    home = (site / "index.html").read_text("utf-8")
    for path in sorted((ROOT / "docs").glob("*.md")):
        if path.name != "index.md":
            assert f'href="{path.stem}/"' in home, path.name


def test_readmes_are_pages(site: Path) -> None:
    assert "See it work" in (site / "start" / "index.html").read_text("utf-8")
    for name in ("core", *(path.parent.name for path in (ROOT / "plugins").glob("*/pyproject.toml"))):
        assert (site / "packages" / name / "index.html").is_file()


def test_the_picture_is_current() -> None:
    command = [sys.executable, str(ROOT / "docs" / "make_picture.py"), "--check"]
    assert subprocess.run(command, check=False).returncode == 0, "run: python docs/make_picture.py"


def test_the_reference_is_made_from_docstrings(site: Path) -> None:
    text = (site / "python" / "index.html").read_text("utf-8")
    for name in ("compile", "quantize", "verify", "explain", "targets", "to_dataframe", "Program"):
        assert f'">{name}' in text or f">{name}<" in text, name
    assert "Compile a model to C." in text and "::: " not in text


def test_nothing_is_loaded_from_a_network(site: Path) -> None:
    text = (site / "index.html").read_text("utf-8")
    loaded = re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="(https?://[^"]+)"', text)
    assert [address for address in loaded if 'rel="canonical"' not in address] == []
    assert (site / "search" / "search_index.json").is_file()


@pytest.mark.slow
def test_the_gallery_shows_the_reports_that_are_there(tmp_path: Path) -> None:
    import make_gallery

    assert make_gallery.page_lines(tmp_path) == ["`make docs` writes the reports."]
    page = make_gallery.make("small-gap9", tmp_path)
    assert "<html" in page.read_text("utf-8") and "small-gap9/report.html" in make_gallery.page_lines(tmp_path)[-1]
