"""Values that depend on a convolution's sum alone: floors of linear functions, perhaps another one by a sign."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Python's integers, one per channel.
Exact = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Linear:
    """``floor((sum * m + b) / d)``."""

    m: Exact
    b: Exact
    d: Exact

    def same(self, other: Linear) -> bool:
        """Whether both are the same numbers."""
        return all(bool(np.all(x == y)) for x, y in ((self.m, other.m), (self.b, other.b), (self.d, other.d)))

    def plus(self, c: Exact) -> Linear:
        """The value plus an integer."""
        return replace(self, b=self.b + c * self.d)

    def floor_div(self, e: Exact) -> Linear:
        """The value divided, rounded down."""
        return replace(self, d=self.d * e)

    def ceil_div(self, e: Exact) -> Linear:
        """The value divided, rounded up."""
        return Linear(self.m, self.b + (e - 1) * self.d, self.d * e)

    def of(self, sums: Exact) -> Exact:
        """The values for these sums."""
        return np.asarray((sums * self.m + self.b) // self.d)


@dataclass(frozen=True, slots=True)
class Form:
    """``low`` where the numerator ``sum * test.m + test.b`` is negative, else ``high``; then clipped to [lo, hi]
    (None: no bound). Without ``test``, both are equal."""

    high: Linear
    low: Linear
    test: Linear | None = None
    lo: int | None = None
    hi: int | None = None

    @property
    def is_single(self) -> bool:
        """Whether there is no choice by sign and no bound."""
        return self.test is None and self.lo is None and self.hi is None

    def sides(self, change: Callable[[Linear], Linear]) -> Form:
        """The same change on both sides."""
        return self.joined(replace(self, high=change(self.high), low=change(self.low)))

    @staticmethod
    def joined(form: Form) -> Form:
        """The form without a test if both sides are equal."""
        return replace(form, test=None) if form.high.same(form.low) else form
