"""The kernels' templates."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from match_core.lower.templates import Templates


@lru_cache(maxsize=1)
def _templates() -> Templates:
    return Templates((Path(__file__).resolve().parent.parent / "templates",))


def render_body(template: str, **view: object) -> str:
    """The function body (indented once) from ``templates/<template>.c.mako``."""
    return _templates().render(f"{template}.c.mako", view).rstrip("\n")
