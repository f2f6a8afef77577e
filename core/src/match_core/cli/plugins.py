"""``match plugins``: which packages are active, and the faults of the others."""

from __future__ import annotations

from match_core.cli.headline import show_next
from match_core.cli.parameters import JsonOption
from match_core.cli.session import plugin_session
from match_core.cli.terminal import Table, Terminal


def plugins_command(json: JsonOption = False) -> int:
    """List the plugins with their hooks, targets and faults.

    MATCH_DISABLE_PLUGINS disables plugins, MATCH_ALLOW_PLUGINS disables all others; both are comma-separated
    lists of entry-point or package names.

    Example: MATCH_DISABLE_PLUGINS=match-chip match plugins
    """
    from match_core.plugin.badge import badge_state, shipped_badge
    from match_core.plugin.markers import CONTRACT_VERSION

    with Terminal(as_json=json) as terminal:
        with plugin_session(terminal) as plugins:
            rows = plugins.plugins()
            faults = plugins.faults
        badges = [shipped_badge(row.distribution, row.name) for row in rows]
        told = f"{sum(row.status == 'active' for row in rows)} of {len(rows)} plugins are active, {len(faults)} faults"
        following = "match doctor" if faults else "match targets"
        terminal.document(
            {
                "schema": "match.plugins",
                "headline": told,
                "contract": CONTRACT_VERSION,
                "plugins": [{**row.as_json(), "conformance": badge} for row, badge in zip(rows, badges, strict=True)],
                "faults": [fault.as_json() for fault in faults],
                "next": following,
            }
        )
        terminal.paragraph(told, style="bold")
        shown = [
            (
                row.name,
                f"{row.distribution} {row.version}",
                row.status,
                ", ".join(row.targets) or "-",
                ", ".join(hook.removeprefix("match_") for hook in row.hooks) or "-",
                badge_state(badge, row.version, CONTRACT_VERSION) if badge else "-",
            )
            for row, badge in zip(rows, badges, strict=True)
        ]
        columns = ("name", "package", "status", "targets", "hooks", "conformance")
        terminal.table(Table("plugins", columns, shown, least=("conformance", "hooks")))
        show_next(terminal, following)
    return 0
