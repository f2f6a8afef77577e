"""An image for commands that pages show, and how far two results lie apart.

``python -m tests.docs.picture INPUTS`` writes it; with two files of outputs it prints their largest difference.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from match_report.npz import write_arrays

#: [samples, 1, channels, height, width]
SHAPE = (1, 1, 3, 32, 32)
SEED = 1


def difference(first: Path, second: Path) -> float:
    """The largest over all outputs."""
    with np.load(first) as ours, np.load(second) as theirs:
        return max(float(np.abs(ours[name] - theirs[name]).max()) for name in ours.files)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.stdout.write(f"largest difference {difference(Path(sys.argv[1]), Path(sys.argv[2])):.4f}\n")
    else:
        image = np.random.default_rng(SEED).integers(-128, 128, SHAPE, dtype=np.int8)
        write_arrays(Path(sys.argv[1]), {"input": image})
