"""What the array runs: dense layers with requantisation, and the rules of its hardware."""

from __future__ import annotations

from math import prod

from match_core import Any, Axis, Const, Constraint, Dim, Match, Op, Operand, Pattern, Workload

from match_sprout.hardware import FEATURES_MAX

#: clip((sum * multiplier + addend) / divisor, low, high) is how requantisation is written in the graph.
_PARAMETERS = ("multiplier", "addend", "divisor", "low", "high")
_DENSE = Op("MatMulInteger", "dense", (Any("input"), Const("weight")))


def _types(match: Match) -> str | None:
    names = match.tensor("input").dtype.name, match.const("weight").dtype.name
    return None if names == ("uint8", "int8") else f"they are {names[0]} and {names[1]}"


def _features(match: Match) -> str | None:
    count = match.shape("weight")[0]
    return None if count <= FEATURES_MAX else f"there are {count}"


def _number(match: Match, name: str) -> int:
    return int(match.const(name).reshape(-1)[0])


def _workload(match: Match) -> Workload:
    features, outputs = match.shape("weight")
    rows = prod(match.shape("input")) // features
    n, k, c = Axis("n", rows, (("N", 1),)), Axis("k", outputs, (("K", 1),)), Axis("c", features, (("C", 1),))
    return Workload(
        kind="sprout_dense",
        dims=(Dim("N", rows), Dim("K", outputs), Dim("C", features, tileable=False)),
        operands=(
            Operand("input", "input", (n, c)),
            Operand("weight", "constant", (k, c)),
            Operand("multiplier", "constant", (k,), 32),
            Operand("addend", "constant", (k,), 64),
            Operand("output", "output", (n, k)),
        ),
        macs=rows * outputs * features,
        arithmetic=(
            ("shift", _number(match, "divisor").bit_length() - 1),
            ("low", _number(match, "low")),
            ("high", _number(match, "high")),
        ),
    )


PATTERNS = (
    Pattern(
        name="sprout_dense",
        description="dense layer with requantisation to uint8",
        structure=Op("match.arith::RequantU8", "requant", (_DENSE, *map(Const, _PARAMETERS))),
        constraints=(
            Constraint("types", "activations are uint8 and weights are int8", _types),
            Constraint("features", f"a row has at most {FEATURES_MAX} features", _features),
        ),
        workload=_workload,
    ),
)
