"""Rules about captured tensors: element types, shapes, sizes, zero points."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from match_core.contract.structure import Constraint, Match
from match_core.patterns.captures import ACTIVATIONS, there, type_name, zero_points
from match_core.patterns.rule import rule


def types_are(
    description: str, *types: str, of: Sequence[str] = ACTIVATIONS, result: bool = False, name: str = "types"
) -> Constraint:
    """The captured tensors in ``of`` that exist, and the result if ``result`` is set, have one of these element types
    ("uint8")."""

    @rule(name, description)
    def check(match: Match) -> str | None:
        found = [(f"{capture} is", type_name(match.tensor(capture))) for capture in there(match, *of)]
        if result:
            found += [("the result is", type_name(tensor)) for tensor in match.outputs]
        return " and ".join(f"{what} {kind}" for what, kind in found if kind not in types) or None

    return check


#: Activations in 8 bits with requantisation to uint8.
uint8_activations = types_are("activations are uint8", "uint8", name="activations")
int8_weights = types_are("weights are int8", "int8", of=("weight",), name="weights")
int8_tensors = types_are("activations and weights are int8", "int8", of=(*ACTIVATIONS, "weight"), result=True)
#: For kernels that only move bytes: the sign does not matter.
bytes_wide = types_are("elements are 8 bits wide", "int8", "uint8", "bool", of=("input",), name="elements")


@rule("sizes", "sizes fit 16 bits")
def sizes_in_16_bits(match: Match) -> str | None:
    shapes = [match.shape(capture) for capture in there(match, *ACTIVATIONS, "weight")]
    worst = max(size for shape in (*shapes, match.output.shape) for size in shape)
    return None if worst < 1 << 16 else f"the largest is {worst}"


@rule("shapes", "both inputs have the same shape")
def same_shapes(match: Match) -> str | None:
    a, b = match.shape("input_a"), match.shape("input_b")
    return None if a == b else f"shapes are {a} and {b}"


@rule("weights", "weights are a matrix")
def matrix_weights(match: Match) -> str | None:
    rank = len(match.shape("weight"))
    return None if rank == 2 else f"weights have rank {rank}"


@rule("zero points", "zero points are 0")
def no_zero_points(match: Match) -> str | None:
    wrong = [node for node in there(match, "conv", "dense", "matmul") if zero_points(match, node)]
    return "there are zero points" if wrong else None


@rule("axis", "it runs over the last axis")
def last_axis(match: Match) -> str | None:
    """For a softmax or a normalisation."""
    rank = len(match.shape("input"))
    axis = int(match.node(there(match, "softmax", "norm")[0]).attrs.get("axis", -1)) % rank
    return None if axis == rank - 1 else f"it runs over axis {axis} of {rank}"


def turned_matrix(match: Match) -> tuple[int, int] | None:
    """Rows and columns if a permutation turns a matrix: one block of axes moves past the rest."""
    node = match.node("transpose")
    shape = [int(size) for size in node.inputs[0].shape]
    order = [int(axis) for axis in node.attrs["perm"] if shape[int(axis)] > 1]
    kept = sorted(order)
    for cut in range(1, len(kept)):
        if order == kept[cut:] + kept[:cut]:
            return prod(shape[axis] for axis in kept[:cut]), prod(shape[axis] for axis in kept[cut:])
    return None


@rule("permutation", "the permutation moves the leading axes after the others")
def turns_matrix(match: Match) -> str | None:
    return None if turned_matrix(match) else f"it is {list(match.node('transpose').attrs['perm'])}"
