"""Orders passes by phase, then by their declarations (before, after), then by name."""

from __future__ import annotations

from collections.abc import Iterable

from match_core.contract.errors import PluginError
from match_core.contract.passes import Pass


def order_passes(passes: Iterable[Pass]) -> tuple[Pass, ...]:
    """The passes in running order. Unknown names in ``before`` and ``after`` are ignored.

    Errors: MATCH-X101 two passes share a name; MATCH-X102 the declarations contradict each other (a cycle, or a
    pass that must run before one of an earlier phase).
    """
    by_name: dict[str, Pass] = {}
    for item in passes:
        if item.name in by_name:
            where, why, help_ = f"pass {item.name!r}", "two passes have this name", "rename one of them"
            raise PluginError("MATCH-X101", "cannot order the passes", where, why, (help_,))
        by_name[item.name] = item
    needs = {name: _predecessors(item, by_name) for name, item in by_name.items()}
    ordered: list[Pass] = []
    waiting = set(by_name)
    while waiting:
        ready = [name for name in waiting if not needs[name] & waiting]
        if not ready:
            _refuse_cycle(needs, waiting)
        chosen = min(ready, key=lambda name: (by_name[name].phase, name))
        ordered.append(by_name[chosen])
        waiting.remove(chosen)
    return tuple(ordered)


def _predecessors(item: Pass, by_name: dict[str, Pass]) -> set[str]:
    earlier = {name for name, other in by_name.items() if other.phase < item.phase}
    declared = {name for name in item.after if name in by_name}
    reverse = {name for name, other in by_name.items() if item.name in other.before}
    return earlier | declared | reverse


def _refuse_cycle(needs: dict[str, set[str]], waiting: set[str]) -> None:
    name = min(waiting)
    path: list[str] = []
    while name not in path:
        path.append(name)
        name = min(needs[name] & waiting)
    cycle = path[path.index(name) :]
    start = cycle.index(min(cycle))
    members = [*cycle[start:], *cycle[:start]]
    raise PluginError(
        "MATCH-X102",
        "cannot order the passes",
        " -> ".join((*members, members[0])),
        f"{len(members)} passes form a cycle: each must run after the next one",
        ("change the phase, before or after of one of them",),
    )
