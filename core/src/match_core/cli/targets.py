"""``match targets``: which chips can be compiled for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.cli.options import JsonOption
from match_core.cli.session import plugin_session
from match_core.cli.terminal import Table, Terminal
from match_core.errors import PluginError

if TYPE_CHECKING:
    from match_core.hardware import Soc
    from match_core.plugin.host import Plugins


def targets_command(json: JsonOption = False) -> int:
    """List the installed targets with their units and memories.

    Example: match targets --json
    """
    with Terminal(as_json=json) as terminal:
        with plugin_session(terminal) as plugins:
            rows = _rows(plugins, terminal)
        terminal.document(rows)
        if rows:
            terminal.table(_table(rows))
        else:
            terminal.line("no target is installed (for example: pip install match-CHIP)")
    return 0


def _rows(plugins: Plugins, terminal: Terminal) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for soc in sorted(plugins.hardware().socs, key=lambda soc: soc.name):
        try:
            plugins.units_of(soc)
        except PluginError as error:
            terminal.warning(f"target {soc.name} cannot be used: {error.where}: {error.why} [{error.code}]")
            continue
        rows.append(_row(soc, plugins))
    return rows


def _row(soc: Soc, plugins: Plugins) -> dict[str, object]:
    owner = plugins.owner_of(soc.name)
    return {
        "schema": "match.target",
        "schema_version": 1,
        "name": soc.name,
        "description": soc.description,
        "package": owner.distribution,
        "version": owner.version,
        "host": soc.host,
        "units": list(soc.units),
        "memories": [
            {"name": memory.name, "level": memory.level, "size_bytes": memory.size_bytes} for memory in soc.memories
        ],
    }


def _table(rows: list[dict[str, object]]) -> Table:
    shown = []
    for row in rows:
        units, memories = row["units"], row["memories"]
        assert isinstance(units, list)
        assert isinstance(memories, list)
        sizes = ", ".join(f"{memory['name']} {memory['size_bytes'] / 1024:.1f} KiB" for memory in memories)
        shown.append((str(row["name"]), f"{row['package']} {row['version']}", ", ".join(units), sizes))
    return Table("targets", ("name", "package", "units", "memories"), shown)
