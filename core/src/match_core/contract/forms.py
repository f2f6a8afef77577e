"""Stored forms: the order of a tensor's bytes in the home memory if a unit requires another one than dense and
row-major.

A form pads axes, splits one into blocks, reorders axes, and may reverse the elements inside of small groups, as engines
with words of several elements do. The plain form has no name. If units of a program require different forms, the mapper
inserts conversions between them and includes their cost in its choice (docs/forms.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Form:
    """``pad``: (axis, multiple) pairs, the axis is padded at its end up to the multiple. ``split``: (axis, block), the
    padded axis becomes (axis / block, block); None for none. ``order``: the resulting axes, outermost first (empty:
    unchanged). ``reversed_group``: in the dense row-major result, the elements of every group of this size are
    reversed; a power of two that divides the size of the last axis.

    The padding is zero if a conversion wrote the tensor, and undefined if a unit did.
    """

    name: str
    rank: int
    pad: tuple[tuple[int, int], ...] = ()
    split: tuple[int, int] | None = None
    order: tuple[int, ...] = ()
    reversed_group: int = 1

    def __post_init__(self) -> None:
        axes = self.rank + (self.split is not None)
        if self.order and sorted(self.order) != list(range(axes)):
            raise ValueError(f"form {self.name}: order {self.order} is not one of {axes} axes")
        if self.split is not None and dict(self.pad).get(self.split[0], 1) % self.split[1]:
            raise ValueError(f"form {self.name}: axis {self.split[0]} is not padded to blocks of {self.split[1]}")
        if self.reversed_group < 1 or self.reversed_group & (self.reversed_group - 1):
            raise ValueError(f"form {self.name}: group size {self.reversed_group} is not a power of two")

    def takes(self, shape: Sequence[int]) -> bool:
        """Whether tensors of this shape can be stored in the form."""
        if len(shape) != self.rank:
            return False
        return not shape or self.stored_shape(shape)[-1] % self.reversed_group == 0

    def padded_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The tensor's axes with padding, before they are split and reordered."""
        multiples = dict(self.pad)
        return tuple(-(-size // multiples.get(axis, 1)) * multiples.get(axis, 1) for axis, size in enumerate(shape))

    def stored_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The axes in the order of memory, outermost first."""
        padded = list(self.padded_shape(shape))
        if self.split is not None:
            axis, block = self.split
            padded[axis : axis + 1] = [padded[axis] // block, block]
        return tuple(padded[axis] for axis in self.order) if self.order else tuple(padded)

    def elements(self, shape: Sequence[int]) -> int:
        """The number of elements of the stored tensor, including padding."""
        return prod(self.padded_shape(shape))

    def places(self, shape: Sequence[int]) -> NDArray[np.int64]:
        """The index in memory of each element, in an array of the tensor's shape."""
        import numpy as np

        stored = self.stored_shape(shape)
        linear = np.arange(prod(stored), dtype=np.int64) ^ (self.reversed_group - 1)
        axes = linear.reshape(stored)
        if self.order:
            axes = axes.transpose(np.argsort(self.order))
        return axes.reshape(self.padded_shape(shape))[tuple(slice(size) for size in shape)]

    def store(self, values: NDArray[np.generic]) -> NDArray[np.generic]:
        """The tensor's elements in the order of memory; padding is zero."""
        import numpy as np

        stored = np.zeros(self.elements(values.shape), dtype=values.dtype)
        stored[self.places(values.shape)] = values
        return stored

    def attributes(self, role: str) -> dict[str, object]:
        """The form as two attributes of a conversion whose names begin with ``role``: its name, and its numbers (group,
        axis that is split or -1, block, number of pads, the pads, the order)."""
        axis, block = self.split or (-1, 1)
        pads = [number for pair in self.pad for number in pair]
        return {role: self.name, f"{role}_bytes": [self.reversed_group, axis, block, len(self.pad), *pads, *self.order]}

    @classmethod
    def of_attributes(cls, attrs: Mapping[str, Any], role: str, rank: int) -> Form:
        """The form that ``attributes`` describes."""
        group, axis, block, count, *rest = (int(number) for number in attrs[f"{role}_bytes"])
        pads, order = rest[: 2 * count], rest[2 * count :]
        return cls(
            name=str(attrs[role]),
            rank=rank,
            pad=tuple(zip(pads[::2], pads[1::2], strict=True)),
            split=None if axis < 0 else (axis, block),
            order=tuple(order),
            reversed_group=group,
        )


def plain_form(rank: int) -> Form:
    """Dense and row-major."""
    return Form("", rank)
