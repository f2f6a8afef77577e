"""Hooks of mkdocs: pages that are made from what the repository holds elsewhere.

``start.md`` is the README, ``packages/`` are the packages' READMEs, ``notebooks/`` the notebooks; ``errors/`` has a
page for every error code, with the texts that the tests compare with; ``hooks/`` has one for every hook of the contract
and one for its types.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING

import make_gallery
from hook_pages import hook_pages
from notebook_pages import notebook_pages

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
#: Pages that are READMEs elsewhere.
READMES = {
    "start.md": ROOT / "README.md",
    "demo.md": ROOT / "examples" / "demo" / "README.md",
    "notebooks.md": ROOT / "examples" / "notebooks" / "README.md",
    "changelog.md": ROOT / "CHANGELOG.md",
    "contributing.md": ROOT / "CONTRIBUTING.md",
    "packages/core.md": ROOT / "core" / "README.md",
    **{f"packages/{path.parent.name}.md": path for path in sorted((ROOT / "plugins").glob("*/README.md"))},
}
_SECTION = re.compile(r"^## (MATCH-[A-Z]\d{3})$", re.MULTILINE)
_HOOK = re.compile(r"^### (match_\w+)$", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    from mkdocs.structure.files import File

    made = {place: _readme(source, place) for place, source in READMES.items()}
    made |= {f"errors/{code}.md": text for code, text in error_pages().items()}
    made |= hook_pages() | notebook_pages()
    for place, text in made.items():
        files.append(File.generated(config, place, content=text))
    for page in sorted(make_gallery.FOLDER.glob("*/report.html")):
        place = f"gallery/{page.parent.name}/report.html"
        files.append(File.generated(config, place, content=page.read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links out of ``docs`` go to the pages that are made from what they name."""
    own = ROOT / "docs" / page.file.src_uri
    if page.file.src_uri == "errors.md":
        markdown = _SECTION.sub(r"## [\1](errors/\1.md)", markdown)
    if page.file.src_uri == "plugins.md":
        markdown = _HOOK.sub(r"### [\1](hooks/\1.md)", markdown)
    if page.file.src_uri == "gallery.md":
        markdown = markdown.replace("<!-- gallery -->", "\n".join(make_gallery.page_lines()))
    if page.file.generated_by:
        return markdown
    return _rewritten(markdown, own.parent, page.file.src_uri)


def error_pages() -> dict[str, str]:
    """By code its page: what the section of errors.md says, and the texts of tests that provoke it."""
    parts = _SECTION.split((ROOT / "docs" / "errors.md").read_text(encoding="utf-8"))[1:]
    texts = [
        path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests" / "golden").glob("test_*error*/*.txt"))
    ]
    pages = {}
    for code, body in zip(parts[::2], parts[1::2], strict=True):
        shown = [text for text in texts if re.search(rf"^error: {code}:|^{code}: ", text, re.MULTILINE)]
        examples = "".join(f"\n```text\n{text.strip()}\n```\n" for text in shown)
        heading = "\n## As it is printed\n" if shown else ""
        text = re.sub(r"\]\(#(match-[a-z]\d{3})\)", lambda link: f"]({link[1].upper()}.md)", body.strip())
        text = re.sub(r"\]\((?!MATCH-)", "](../", text)
        pages[code] = f"# {code}\n\n{text}\n{heading}{examples}"
    return pages


def _readme(source: Path, place: str) -> str:
    return _rewritten(source.read_text(encoding="utf-8"), source.parent, place)


def _rewritten(text: str, folder: Path, place: str) -> str:
    """Relative links from a file in ``folder``, as seen from the page at ``place``."""

    def rewrite(match: re.Match[str]) -> str:
        words, target, anchor = match[1], match[2], match[3] or ""
        if "://" in target or target.startswith("mailto:"):
            return match[0]
        found = _place_of((folder / target).resolve())
        if found is None:
            return words  # a file of the repository that is no page
        return f"[{words}]({posixpath.relpath(found, posixpath.dirname(place) or '.')}{anchor})"

    return _LINK.sub(rewrite, text)


def _place_of(path: Path) -> str | None:
    """Where the site has a file of the repository; None where it has not."""
    for place, source in READMES.items():
        if path == source:
            return place
    if path.is_relative_to(ROOT / "docs"):
        return path.relative_to(ROOT / "docs").as_posix()
    return None
