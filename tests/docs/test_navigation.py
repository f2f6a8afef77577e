"""Every page of the site is in its navigation, and docs/ holds nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml

from tests.conftest import ROOT
from tests.docs.pages import DOCS, READMES, anchors, text_of

#: Folders of docs/ that are no pages: packages of examples, pictures.
FOLDERS = {"examples", "images", "__pycache__"}
AUDIENCES = ("tutorial-pytorch", "tutorial-tflite", "tutorial", "tutorial-research", "tutorial-gate")


class _Loader(yaml.SafeLoader):
    """Takes the tags of mkdocs.yml as text."""


_Loader.add_multi_constructor("", lambda loader, suffix, node: str(suffix))


def _nav(entry: Any) -> Iterator[str]:
    if isinstance(entry, str):
        yield entry
    else:
        for inner in entry.values() if isinstance(entry, dict) else entry:
            yield from _nav(inner)


def navigation() -> list[str]:
    """The places of all pages, in order."""
    return list(_nav(yaml.load((ROOT / "mkdocs.yml").read_text("utf-8"), _Loader)["nav"]))


def test_every_page_is_in_the_navigation_once() -> None:
    from notebook_pages import notebook_pages
    from site_hooks import READMES as MADE

    own = {
        path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md") if path.parts[len(DOCS.parts)] != "examples"
    }
    found = [place for place in navigation() if not place.startswith("hooks/")]
    assert sorted(found) == sorted({*own, *MADE, *notebook_pages()})


def test_docs_hold_pages_pictures_and_scripts_only() -> None:
    scripts = {"contract_types", "hook_pages", "make_gallery", "make_picture", "make_support", "notebook_pages"}
    scripts |= {"site_hooks", "support_table"}
    stray = [
        path.name
        for path in DOCS.iterdir()
        if path.name not in FOLDERS and path.suffix != ".md" and not (path.suffix == ".py" and path.stem in scripts)
    ]
    assert not stray
    used = {name for page in (*READMES, *DOCS.glob("*.md")) for name in re.findall(r"images/([\w.-]+)", text_of(page))}
    assert {path.name for path in (DOCS / "images").iterdir()} <= used


def test_the_home_page_sends_each_reader_to_a_tutorial() -> None:
    home = text_of(DOCS / "index.md")
    rows = home.split("## Where to start")[1].split("\n## ")[0]
    for name in AUDIENCES:
        assert f"({name}.md)" in rows, name
        assert "<!-- run" in text_of(DOCS / f"{name}.md") or "<!-- step" in text_of(DOCS / f"{name}.md"), name
    assert len(anchors(DOCS / "glossary.md")) > 10


def test_the_readme_is_short() -> None:
    """One screen of what it is, then install, five commands, targets, links."""
    text = text_of(ROOT / "README.md")
    assert len(text.splitlines()) <= 160 and text.count("![") == 1
    block = text.split("## Your own model in five commands")[1].split("\n## ")[0]
    assert [int(number) for number in re.findall(r"^\*\*(\d)\. ", block, re.MULTILINE)] == [1, 2, 3, 4, 5]
