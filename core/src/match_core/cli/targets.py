"""``match targets``: the installed targets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from match_core.cli.headline import command_line, show_next
from match_core.cli.parameters import JsonOption
from match_core.cli.session import plugin_session
from match_core.cli.terminal import Table, Terminal
from match_core.contract.errors import PluginError
from match_core.io.sizes import bytes_text
from match_core.summary.program_json import estimates_json

if TYPE_CHECKING:
    from match_core.contract.hardware import Soc
    from match_core.plugin.facade import Plugins


def targets_command(json: JsonOption = False) -> int:
    """List the installed targets with their units and memories.

    Example: match targets
    """
    with Terminal(as_json=json) as terminal:
        with plugin_session(terminal) as plugins:
            rows = _rows(plugins, terminal)
            chips = [soc.name for soc in plugins.hardware().socs if not soc.generic]
        none = "no chip's package is installed: pip install match-CHIP"
        told = f"{len(rows)} targets are installed" if chips else none
        names = chips or [row["name"] for row in rows]
        following = command_line(*(("check", "MODEL", "-t", *names) if len(names) == 1 else ("operators", "MODEL")))
        terminal.document({"schema": "match.targets", "headline": told, "targets": rows, "next": following})
        terminal.paragraph(told, style="bold")
        terminal.table(_table(rows))
        for row in (row for row in rows if row["estimates"]):
            count = len(row["estimates"])
            what = "1 cost figure is an estimate" if count == 1 else f"{count} cost figures are estimates"
            terminal.line(f"{row['name']}: {what}, not published (--json lists them)")
        show_next(terminal, following)
    return 0


def _rows(plugins: Plugins, terminal: Terminal) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for soc in sorted(plugins.hardware().socs, key=lambda soc: soc.name):
        try:
            plugins.units_of(soc)
        except PluginError as error:
            terminal.warning(f"target {soc.name} cannot be used: {error.where}: {error.why} [{error.code}]")
            continue
        rows.append(_row(soc, plugins))
    return rows


def _row(soc: Soc, plugins: Plugins) -> dict[str, Any]:
    owner = plugins.owner_of(soc.name)
    # The host unit's estimates are those of the target ``host``.
    own = (unit for unit in plugins.units_of(soc) if unit.name != soc.host or soc.generic)
    return {
        "name": soc.name,
        "description": soc.description,
        "package": owner.distribution,
        "version": owner.version,
        "host": soc.host,
        "units": list(soc.units),
        "memories": [
            {"name": memory.name, "level": memory.level, "size_bytes": memory.size_bytes} for memory in soc.memories
        ],
        "presets": list(soc.presets),
        "preset": soc.preset,
        "estimates": estimates_json(soc, own),
        "notes": list(soc.notes),
    }


def _table(rows: list[dict[str, Any]]) -> Table:
    shown = []
    for row in rows:
        sizes = ", ".join(f"{memory['name']} {bytes_text(memory['size_bytes'])}" for memory in row["memories"])
        package, units, presets = f"{row['package']} {row['version']}", ", ".join(row["units"]), row["presets"]
        shown.append((row["name"], package, units, sizes, ", ".join(presets) or "-"))
    return Table("targets", ("name", "package", "units", "memories", "presets"), shown, least=("package",))
