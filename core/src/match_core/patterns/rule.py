"""Defines a rule of a pattern as a function, with its name and description in a decorator."""

from __future__ import annotations

from collections.abc import Callable

from match_core.contract.structure import Constraint, Match

#: Returns None if the rule holds, else the value that breaks it.
Check = Callable[[Match], str | None]


def rule(name: str, description: str, *captures: str) -> Callable[[Check], Constraint]:
    """Turn a check into a constraint. The rule holds if one of ``captures`` is absent::

    @rule("bias", "the bias is constant", "bias")
    def constant_bias(match: Match) -> str | None:
        return None if is_constant(match.tensor("bias")) else "it is computed"
    """

    def constraint(check: Check) -> Constraint:
        def checked(match: Match) -> str | None:
            return check(match) if all(match.has(capture) for capture in captures) else None

        return Constraint(name, description, checked if captures else check)

    return constraint
