"""Generated samples for missing inputs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Seed of all generated inputs, so that two runs use the same.
SEED = 20240229


def random_array(
    generator: np.random.Generator, dtype: np.dtype[np.generic], shape: tuple[int, ...]
) -> NDArray[np.generic]:
    """A random array: all values of 8-bit and narrower types, small other integers, truth values, normal floats."""
    import ml_dtypes

    if dtype.kind == "f" or "float" in dtype.name:
        return generator.standard_normal(shape).astype(dtype)
    if dtype.kind == "b":
        return generator.integers(0, 2, shape).astype(dtype)
    info = ml_dtypes.iinfo(dtype)  # type: ignore[no-untyped-call]  # ml_dtypes states no types for it
    low, high = max(info.min, -128), min(info.max, 255 if info.min == 0 else 127)
    return generator.integers(low, high, shape, endpoint=True).astype(dtype)
