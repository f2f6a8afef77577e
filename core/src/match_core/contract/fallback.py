"""Why nodes run on the host of a chip whose other units could run them, or operators like them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: "float": a pass left operators in float whose integer form a unit runs; "rule": a unit's pattern does not apply;
#: "disabled": the user disabled the unit; "data size": data give the size of the result; "no pattern": no other unit
#: has a pattern with the operator; "memory": other nodes, which gain more, leave no room for what it would hold.
Cause = Literal["float", "rule", "disabled", "data size", "no pattern", "memory"]


@dataclass(frozen=True, slots=True)
class Fallback:
    """Nodes (source names) that run on the host for one cause: ``rule`` in words, the ``value`` that breaks it, the
    ``unit`` that nearly took them (empty: none), their modelled ``cycles`` on the host, the ``share`` of the program's
    cycles, and as ``help`` commands or changes that would help."""

    cause: Cause
    rule: str
    value: str
    unit: str = ""
    help: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    cycles: int = 0
    share: float = 0.0


@dataclass(frozen=True, slots=True)
class Left:
    """Nodes (source names) that a pass leaves in float. ``forms``: starts of the names of operators of the integer
    graph, without domain, one of which a unit must have to run the nodes in integers."""

    nodes: tuple[str, ...]
    rule: str
    value: str
    forms: tuple[str, ...]
    help: tuple[str, ...] = ()
