"""Lines of code of an installed package, by language."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

#: Language -> suffixes of its files, templates among them.
LANGUAGES = {"Python": (".py",), "C": (".c", ".h", ".c.mako", ".h.mako")}
_COMMENT = re.compile(r"\s*(#(?!include|define|ifndef|ifdef|if|else|endif|undef|error)|/\*.*\*/\s*$|//)")


def code_lines(text: str) -> int:
    """Lines that are neither blank nor only a comment."""
    return sum(bool(line.strip()) and not _COMMENT.match(line) for line in text.splitlines())


def lines_of(package: str) -> dict[str, int] | None:
    """Code lines by language in the modules of a distribution; None if they cannot be found."""
    try:
        spec = find_spec(package.replace("-", "_").replace(".", "_"))
    except ValueError:
        return None
    folders = [Path(place) for place in spec.submodule_search_locations or ()] if spec is not None else []
    if not folders:
        return None
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return {
        language: sum(code_lines(path.read_text("utf-8")) for path in files if path.name.endswith(suffixes))
        for language, suffixes in LANGUAGES.items()
    }
