"""The contents of a TFLite file, independent of its format: tensors, operators, inputs and outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Quantisation:
    """real = (q - zero_point) * scale; one pair, or one pair for every slice along ``axis``."""

    scales: NDArray[np.float32]
    zero_points: NDArray[np.int64]
    axis: int

    @property
    def per_tensor(self) -> bool:
        """Whether one scale applies to all elements."""
        return self.scales.size == 1

    def same_as(self, other: Quantisation | None) -> bool:
        """Whether equal integers mean equal reals."""
        return (
            other is not None
            and np.array_equal(self.scales, other.scales)
            and np.array_equal(self.zero_points, other.zero_points)
            and (self.per_tensor or self.axis == other.axis)
        )


@dataclass(frozen=True, slots=True, eq=False)
class Tensor:
    """A tensor with static shape (images: NHWC). ``data``: its values, if the file holds them; ``variable``: it keeps
    its values from one inference to the next. A handle of a variable has no values; its type is void."""

    index: int
    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    data: NDArray[np.generic] | None
    quantisation: Quantisation | None
    variable: bool = False

    @property
    def is_handle(self) -> bool:
        """Whether it names a variable."""
        return self.dtype.kind == "V"

    @property
    def rank(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.shape)


@dataclass(frozen=True, slots=True)
class TfliteOperator:
    """One operator. ``kind``: the schema's name, such as CONV_2D. Omitted inputs are -1. ``options`` has the
    fields that ``match_tflite.operator_options`` lists, none if the file has no options."""

    kind: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    options: Mapping[str, int | float | str]


@dataclass(frozen=True, slots=True, eq=False)
class File:
    """The main subgraph of a file. Tensor names are unique and not empty. ``initial``: the values that subgraphs which
    run once give to variables, by the variable's name."""

    tensors: tuple[Tensor, ...]
    operators: tuple[TfliteOperator, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    initial: Mapping[str, NDArray[np.generic]] = field(default_factory=dict)
