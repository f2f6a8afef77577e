"""Cycles of RedMulE's jobs, from the geometry of its array (rtl of pulp-platform/redmule, see ``kernel_constants``).

The array holds 12 rows of X and takes 16 columns of W at once: every 4 cycles a row of 16 elements of W enters, so a
pass over N takes 4 cycles for each step of N, which is filled up to a multiple of 4. Meanwhile the one port of 256 bits
brings these rows and those of X (16 elements each), and moves Z in and out: a short N waits for the port.
"""

from __future__ import annotations

import numpy as np
from match_core.patterns.formulas import Cycles, Timing, up


def redmule_jobs(timing: Timing, jobs: Cycles, m: Cycles, n: Cycles, k: Cycles) -> Cycles:
    """Cycles of ``jobs`` equal jobs (M by N) times (N by K) in sequence. A job is programmed while the one before
    runs."""
    steps = up(n, timing["redmule_height"]) * timing["redmule_height"]
    passes = up(m, timing["redmule_rows"]) * up(k, timing["redmule_columns"])
    port = steps + timing["redmule_rows"] * (up(n, timing["redmule_columns"]) + 2)
    run = passes * np.maximum(steps * timing["redmule_step_cycles"], port)
    cycles: Cycles = timing["redmule_program_cycles"] + jobs * (timing["redmule_job_cycles"] + run)
    return cycles
