"""Template lookup: a target adds or overrides a core template by name through its own folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

CORE_TEMPLATES = Path(__file__).resolve().parent.parent / "templates" / "core"


class Templates:
    """Renders mako templates found in the given folders (first wins), then in the core's; undefined names are
    errors."""

    def __init__(self, folders: tuple[Path, ...] = ()) -> None:
        from mako.lookup import TemplateLookup

        self._lookup = TemplateLookup(
            directories=[str(folder) for folder in (*folders, CORE_TEMPLATES)],
            strict_undefined=True,
            input_encoding="utf-8",
        )

    def render(self, name: str, view: Mapping[str, object]) -> str:
        """The text of template ``name`` with the view's values, ending in one newline."""
        text: str = self._lookup.get_template(name).render_unicode(**view)
        return text.strip("\n") + "\n"
