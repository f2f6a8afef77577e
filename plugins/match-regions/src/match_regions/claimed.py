"""The nodes that a unit claims for its regions, and the rules of regions as constraints with descriptions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING

from match_core.contract.model import qualified_op
from match_core.contract.node_rule import NodeRule
from match_core.contract.region import Region
from match_core.contract.structure import Constraint, Match

from match_regions.atoms import is_atom, is_of

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core.contract.claims import OperatorClaim, RegionClaims


def _static(node: gs.Node) -> str | None:
    for tensor in (*node.inputs, *node.outputs):
        if tensor.is_empty():
            continue
        if tensor.shape is None or any(size is None or isinstance(size, str) for size in tensor.shape):
            return f"shape is {tensor.shape}"
        if tensor.dtype is None:
            return "an element type is unknown"
        if not hasattr(tensor, "values") and prod(int(size) for size in tensor.shape) == 0:
            return "a tensor has 0 elements"
    return None


#: The rule for every operator of every region.
STATIC = NodeRule("static", "shapes and element types are known, and tensors have elements", _static)


@dataclass(frozen=True)
class Claimed:
    """Decides whether a unit claims a node; several claims for one operator are alternatives."""

    claims: RegionClaims
    _by_name: dict[str, list[OperatorClaim]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        for claim in self.claims.operators:
            for name in claim.names:
                self._by_name.setdefault(name, []).append(claim)

    def names(self, node: gs.Node) -> bool:
        """Whether any claim names the node's operator."""
        return qualified_op(node) in self._by_name

    def takes(self, node: gs.Node) -> bool:
        """Whether the node may be in a region: all rules of some claim of its operator hold."""
        offered = self._by_name.get(qualified_op(node), [])
        return bool(offered) and STATIC.check(node) is None and any(_holds(claim, node) for claim in offered)


def _holds(claim: OperatorClaim, node: gs.Node) -> bool:
    return all(rule.check(node) is None for rule in claim.rules)


def claim_constraints(claims: RegionClaims) -> tuple[Constraint, ...]:
    """All rules of a region as constraints of its pattern: the rules of claims on nodes, the limits, and the package's
    own criterion. Limits and criterion are checked only if all nodes are claimed."""
    claimed = Claimed(claims)
    rules: dict[tuple[str, str], list[tuple[NodeRule, tuple[str, ...]]]] = {}
    if claims.operators:
        names = tuple(name for claim in claims.operators for name in claim.names)
        rules[STATIC.name, STATIC.description] = [(STATIC, names)]
    for claim in claims.operators:
        for rule in claim.rules:
            rules.setdefault((rule.name, rule.description), []).append((rule, claim.names))
    found = [Constraint(*key, _node_check(claimed, parts)) for key, parts in rules.items()]
    of_atoms: dict[tuple[str, str], list[tuple[int, Constraint]]] = {}
    for number, atom in enumerate(claims.atoms):
        for constraint in atom.constraints:
            of_atoms.setdefault((constraint.name, constraint.description), []).append((number, constraint))
    found += [Constraint(*key, _atom_check(rules_)) for key, rules_ in of_atoms.items()]
    limits = claims.limits
    for what, most, count in (
        ("node", limits.nodes_max, lambda region: len(region.nodes)),
        ("input", limits.inputs_max, lambda region: len(region.inputs)),
        ("output", limits.outputs_max, lambda region: len(region.outputs)),
        ("constant byte", limits.constant_bytes_max, lambda region: region.constant_bytes),
    ):
        if most is not None:
            found.append(_at_most(claimed, what, most, count))
    if claims.worth is not None:
        found.append(Constraint("worth", claims.worth_rule, of_regions(claimed, claims.worth)))
    return tuple(found)


def _node_check(claimed: Claimed, parts: list[tuple[NodeRule, tuple[str, ...]]]) -> Callable[[Match], str | None]:
    """The rule for each node that no claim accepts."""

    def check(match: Match) -> str | None:
        for node in match.nodes:
            for rule, names in parts:
                value = rule.check(node) if qualified_op(node) in names else None
                if value is not None and not claimed.takes(node):
                    return value
        return None

    return check


def _atom_check(rules: list[tuple[int, Constraint]]) -> Callable[[Match], str | None]:
    """The rule for refused atoms of the claims that state it."""

    def check(match: Match) -> str | None:
        found = (rule.check(match) for number, rule in rules if is_of(match, number))
        return next((value for value in found if value is not None), None)

    return check


def of_regions(claimed: Claimed, check: Callable[[Region], str | None]) -> Callable[[Match], str | None]:
    """Turn a check of regions into a check of matches; it holds for nodes that no region may contain, which other rules
    refuse."""

    def checked(match: Match) -> str | None:
        if is_atom(match, claimed.claims) or any(claimed.names(n) and not claimed.takes(n) for n in match.nodes):
            return None
        return check(Region.of(match.nodes, match.outputs))

    return checked


def counted(number: int, what: str) -> str:
    """``1 node``, ``2 nodes``."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def _at_most(claimed: Claimed, what: str, most: int, count: Callable[[Region], int]) -> Constraint:
    def check(region: Region) -> str | None:
        found = count(region)
        return None if found <= most else counted(found, what)

    name = what.replace(" ", "_") + "s_max"
    return Constraint(name, f"a region has at most {counted(most, what)}", of_regions(claimed, check))
