"""What a program prints in two processes with different hash seeds."""

from __future__ import annotations

import os
import subprocess
import sys


def printed_twice(code: str) -> list[str]:
    """The output of both processes."""
    made = []
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", code]
        made.append(subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout)
    return made
