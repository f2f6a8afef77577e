"""The host's kernel templates."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from match_core.lower.templates import Templates

HOST_TEMPLATES = Path(__file__).resolve().parent.parent / "templates"


@lru_cache(maxsize=1)
def _templates() -> Templates:
    return Templates((HOST_TEMPLATES,))


def render_body(name: str, **view: object) -> str:
    """The function body (indented once) from ``templates/host/<name>.c.mako``."""
    return _templates().render(f"{name}.c.mako", view).rstrip("\n")
