"""Errors for nodes that no unit runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from match_core.contract.candidate import DISABLED
from match_core.contract.errors import InfeasibleError, UnsupportedError
from match_core.contract.model import qualified_op

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core.contract.candidate import Refusal
    from match_core.contract.model import Model

#: The number of nodes, and of refusals per node, that a message lists.
SHOWN_MAX = 8


def unsupported(model: Model, nodes: Sequence[gs.Node], refused: Sequence[Refusal]) -> UnsupportedError:
    """MATCH-P001: nodes that are in no candidate, with all refusals that concern them."""
    operators = sorted({qualified_op(node) for node in nodes})
    shown, rest = nodes[:SHOWN_MAX], len(nodes) - SHOWN_MAX
    more = [f"and {rest} more"] if rest > 0 else []
    return UnsupportedError(
        code="MATCH-P001",
        what=f"no enabled unit runs {_plural(len(nodes), 'node')} of this model ({', '.join(operators)})",
        where="; ".join([*(_place(model, node) for node in shown), *more]),
        why="; ".join([*(_reasons(node, refused) for node in shown), *more]),
        help=_help(nodes, refused),
    )


def uncoverable(model: Model, nodes: Sequence[gs.Node]) -> UnsupportedError:
    """MATCH-P002: each node is in some candidate, but no set of candidates covers each of them once."""
    return UnsupportedError(
        code="MATCH-P002",
        what=f"no combination of patterns covers {_plural(len(nodes), 'node')} exactly once",
        where="; ".join(_place(model, node) for node in nodes[:SHOWN_MAX]),
        why=f"the candidates of these {len(nodes)} nodes overlap in every combination",
        help=("enable more units", "add a pattern for a single one of these operators to a target package"),
    )


def no_room(model: Model, memory: str, need: int, have: int) -> InfeasibleError:
    """MATCH-M001: every cover holds more in a memory, as long as the program lives, than there is; the one that is
    cheapest without limits ``need`` bytes."""
    return InfeasibleError(
        code="MATCH-M001",
        what=f"the program does not fit memory {memory}: {need - have} bytes too many",
        where=model.source or model.name,
        why=f"the program holds {need} bytes of {have} as long as it lives, and no other choice of units fits",
        help=("enable more units", f"choose a target whose {memory} has at least {need} bytes"),
    )


def _plural(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


def _place(model: Model, node: gs.Node) -> str:
    sources = ", ".join(repr(name) for name in model.origin([node])[:SHOWN_MAX])
    return f"node {node.name!r} ({qualified_op(node)}) from {sources}"


def _about(node: gs.Node, refused: Sequence[Refusal]) -> list[Refusal]:
    return [refusal for refusal in refused if node.name in refusal.nodes]


def _reasons(node: gs.Node, refused: Sequence[Refusal]) -> str:
    found = _about(node, refused)
    if not found:
        return f"{node.name!r}: no pattern of an enabled unit matches the operator {qualified_op(node)} here"
    shown = [f'{r.unit} {r.pattern} requires "{r.rule}", but {r.value}' for r in found[:SHOWN_MAX]]
    rest = len(found) - SHOWN_MAX
    return f"{node.name!r}: " + ", ".join([*shown, *([f"and {rest} more"] if rest > 0 else [])])


def _help(nodes: Sequence[gs.Node], refused: Sequence[Refusal]) -> tuple[str, ...]:
    found = [refusal for node in nodes for refusal in _about(node, refused)]
    enable = dict.fromkeys(_enabling(refusal) for refusal in found if refusal.rule == DISABLED)
    broken = [f"{r.rule} ({r.pattern} of {r.unit})" for r in found if r.rule != DISABLED]
    rules = dict.fromkeys(f"change the model so that this holds: {rule}" for rule in broken)
    return (*enable, *list(rules)[:SHOWN_MAX], "add a pattern for the operator to a target package")


def _enabling(refusal: Refusal) -> str:
    option = f"--without-unit {refusal.unit}"
    return f"omit {option}" if option in refusal.value else f"add --only-unit {refusal.unit}"
