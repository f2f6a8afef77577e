"""A small encoder layer and an input, for commands that pages show: ``python -m tests.docs.encoder MODEL INPUTS``."""

from __future__ import annotations

import sys
from pathlib import Path

from match_report.npz import write_arrays

from tests.end_to_end.qdq_encoders import Encoder, inputs, save

#: Rows are no multiple of ITA's 64.
ENCODER = Encoder(rows=81, width=128, heads=2, inner=256, seed=7)

if __name__ == "__main__":
    save(ENCODER, Path(sys.argv[1]))
    write_arrays(Path(sys.argv[2]), {"x": inputs(ENCODER)})
