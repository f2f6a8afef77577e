"""``match sizes``: the bytes of every file of a compiled program, and totals."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from match_core.cli.parameters import JsonOption
from match_core.cli.terminal import Table, Terminal, library_output


def sizes_command(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Directory that match compile wrote.", show_default=False)],
    json: JsonOption = False,
) -> int:
    """List the bytes of every file of a compiled program, and totals by kind of file.

    The exit code is 1 where a file of the program is missing, else 0.

    Example: match sizes build
    """
    with Terminal(as_json=json) as terminal:
        with library_output():
            sizes, missing = _sizes(directory)
        kinds = _by_kind(sizes)
        total = sum(sizes.values())
        terminal.document(
            {
                "schema": "match.sizes",
                "ok": not missing,
                "files": sizes,
                "kinds": kinds,
                "missing": list(missing),
                "total_bytes": total,
            }
        )
        terminal.table(Table("files", ("file", "bytes"), _rows(sizes), frozenset({"bytes"})))
        terminal.table(Table("totals", ("kind", "bytes"), _rows({**kinds, "all": total}), frozenset({"bytes"})))
        for name in missing:
            terminal.line(f"{name} is missing", "yellow")
    return 1 if missing else 0


def _sizes(directory: Path) -> tuple[dict[str, int], tuple[str, ...]]:
    """Bytes by name of the manifest and of the files that it lists, and the names of those that are missing. UsageError
    MATCH-U030 where the directory holds no program."""
    from match_core.emit.manifest import NAME
    from match_core.run.compiled_program import read_manifest

    names = sorted([NAME, *read_manifest(directory)["files"]])
    sizes = {name: (directory / name).stat().st_size for name in names if (directory / name).is_file()}
    return sizes, tuple(name for name in names if name not in sizes)


def _by_kind(sizes: Mapping[str, int]) -> dict[str, int]:
    """Bytes by the end of the names, the largest first."""
    kinds: dict[str, int] = {}
    for name, size in sizes.items():
        kind = Path(name).suffix or name
        kinds[kind] = kinds.get(kind, 0) + size
    return dict(sorted(kinds.items(), key=lambda item: (-item[1], item[0])))


def _rows(sizes: Mapping[str, int]) -> list[tuple[str, ...]]:
    return [(name, f"{size:,}") for name, size in sizes.items()]
