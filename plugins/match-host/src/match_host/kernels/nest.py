"""Loop nests over a shape: neighbouring axes with uniform strides in every operand become one loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from match_host.kernels.code import affine

VARIABLES = "ijklmnpqrs"
#: Rows at least this long are copied by memcpy.
MEMCPY_BYTES = 8


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    """Element strides of a dense tensor."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


def broadcast_strides(seen: Sequence[int]) -> tuple[int, ...]:
    """Element strides of a dense tensor that is broadcast along its axes of size 1 (stride 0)."""
    return tuple(0 if size == 1 else stride for size, stride in zip(seen, row_major(seen), strict=True))


@dataclass(frozen=True, slots=True)
class Nest:
    """Merged loops over ``shape``. ``groups`` are (innermost axis, steps) of each loop, outermost first."""

    shape: tuple[int, ...]
    groups: tuple[tuple[int, int], ...]

    @property
    def variables(self) -> tuple[tuple[str, int], ...]:
        """(name, steps) of each loop."""
        return tuple((name, steps) for name, (_, steps) in zip(VARIABLES, self.groups, strict=False))

    def terms(self, strides: Sequence[int]) -> tuple[tuple[str, int], ...]:
        """(loop variable, element stride) of an operand with these strides per axis."""
        return tuple((name, strides[axis]) for name, (axis, _) in zip(VARIABLES, self.groups, strict=False))

    def index(self, strides: Sequence[int], offset: int = 0) -> str:
        """C text of the element index of an operand with these strides per axis."""
        return affine(self.terms(strides), offset)


def merge(shape: Sequence[int], operands: Sequence[Sequence[int]]) -> Nest:
    """The smallest nest for a shape and the strides per axis of its operands. An axis is merged with the one before it
    if each operand's outer stride is the inner stride times the inner size. Axes of size 1 are removed."""
    groups: list[tuple[int, int]] = []
    for axis, size in enumerate(shape):
        if size == 1:
            continue
        if groups:
            outer, steps = groups[-1]
            if all(strides[outer] == strides[axis] * size for strides in operands):
                groups[-1] = (axis, steps * size)
                continue
        groups.append((axis, size))
    if len(groups) > len(VARIABLES):
        raise ValueError(f"{len(groups)} nested loops exceed the {len(VARIABLES)} available names")
    return Nest(tuple(shape), tuple(groups))
