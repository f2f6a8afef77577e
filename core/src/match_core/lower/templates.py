"""Template lookup: a target adds or overrides a core template by name through its own folder."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

CORE_TEMPLATES = Path(__file__).resolve().parent.parent / "templates" / "core"


@lru_cache(maxsize=8)
def _lookup(folders: tuple[Path, ...]) -> Any:
    """The compiled templates of these folders; compiling them takes longer than rendering a small program."""
    # Mako loads Pygments if it is installed, to colour errors in web pages: 40 ms. Others in this process get it.
    plugin = "mako.ext.pygmentplugin"
    known = sys.modules.get(plugin)
    sys.modules[plugin] = known  # type: ignore[assignment]  # the import of None fails
    try:
        from mako.lookup import TemplateLookup
    finally:
        if known is None:
            del sys.modules[plugin]

    return TemplateLookup(
        directories=[str(folder) for folder in (*folders, CORE_TEMPLATES)],
        strict_undefined=True,
        input_encoding="utf-8",
    )


class Templates:
    """Renders mako templates from the given folders (first wins), then the core's; undefined names are errors."""

    def __init__(self, folders: tuple[Path, ...] = ()) -> None:
        self._lookup = _lookup(folders)

    def render(self, name: str, view: Mapping[str, object]) -> str:
        """The text of template ``name`` with the view's values, ending in one newline."""
        text: str = self._lookup.get_template(name).render_unicode(**view)
        return text.strip("\n") + "\n"
