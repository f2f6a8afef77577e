"""Sums and extremes of contiguous floating-point values in several independent accumulators, which become the lanes of
vector instructions; rounding errors grow only with the length of a lane. The order of additions depends only on the
number of values, so it is the same on every platform."""

from __future__ import annotations

from itertools import chain

import numpy as np

from match_host.kernels.code import Uses, literal
from match_host.kernels.scalar import is_code, scalar_type, suffix

#: The number of accumulators.
LANES = 8


#: Fewer contiguous results than this are computed one after another.
FEWEST_ACROSS = 4
#: Values in a block.
BLOCK = 64
#: Fewer values do not justify a loop over blocks.
LEAST_BLOCK = 16


def block_of(size: int) -> int:
    """The block size for ``size`` values: a divisor, so that all blocks are equal."""
    fitting = range(min(BLOCK, size), min(LEAST_BLOCK, size) - 1, -1)
    return next(part for part in chain(fitting, range(BLOCK + 1, size + 1)) if size % part == 0)


def in_lanes(dtype: np.dtype[np.generic], size: int) -> bool:
    """Whether to use lanes for a line of values. Narrow types use the one order that all units share."""
    return dtype.kind == "f" and not is_code(dtype) and size >= 2 * LANES


def lane_sum(uses: Uses, dtype: np.dtype[np.generic], line: str, size: int) -> str:
    """C text of the sum of a line of values."""
    return f"{_helper(uses, 'sum', dtype, 'the values', '', '{x}', '+=')}({line}, {size})"


def lane_square_sum(uses: Uses, dtype: np.dtype[np.generic], line: str, mean: str, size: int) -> str:
    """C text of the sum of squared distances from a mean."""
    moved = "({x} - mean) * ({x} - mean)"
    name = _helper(uses, "square_sum", dtype, "squared distances from the mean", "mean", moved, "+=")
    return f"{name}({line}, {size}, {mean})"


def lane_maximum(uses: Uses, dtype: np.dtype[np.generic], line: str, size: int) -> str:
    """C text of the largest value of a line, ignoring NaN."""
    return f"{_helper(uses, 'maximum', dtype, '', '', '{x}', '>')}({line}, {size})"


def _helper(
    uses: Uses, word: str, dtype: np.dtype[np.generic], summed: str, parameter: str, value: str, join: str
) -> str:
    ctype, name = scalar_type(dtype), f"host_{word}_{suffix(dtype)}"
    start = literal(0, dtype) if join == "+=" else literal(float("-inf"), dtype)
    what = f"The sum of {summed}" if summed else "The largest value"
    declared = f"const {ctype} *x, int32_t size" + (f", {ctype} {parameter}" if parameter else "")

    def joined(target: str, item: str) -> str:
        return f"{target} += {item};" if join == "+=" else f"{target} = {item} > {target} ? {item} : {target};"

    return uses.helper(
        name,
        f"/* {what}, {LANES} at a time. */\n"
        f"static inline {ctype} {name}({declared})\n{{\n"
        f"    {ctype} lane[{LANES}];\n"
        f"    for (int32_t j = 0; j < {LANES}; j++) {{\n        lane[j] = {start};\n    }}\n"
        "    int32_t k = 0;\n"
        f"    for (; k + {LANES} <= size; k += {LANES}) {{\n"
        f"        for (int32_t j = 0; j < {LANES}; j++) {{\n"
        f"            {joined('lane[j]', value.format(x='x[k + j]'))}\n        }}\n    }}\n"
        f"    for (; k < size; k++) {{\n        {joined('lane[0]', value.format(x='x[k]'))}\n    }}\n"
        f"    for (int32_t n = {LANES // 2}; n > 0; n /= 2) {{\n"
        "        for (int32_t j = 0; j < n; j++) {\n"
        f"            {joined('lane[j]', 'lane[n + j]')}\n        }}\n    }}\n"
        "    return lane[0];\n}\n",
    )
