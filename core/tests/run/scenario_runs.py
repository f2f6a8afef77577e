"""Runs of the programs in scenarios.c."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Scenarios:
    """``timeline`` and ``threads`` are executables of scenarios.c."""

    timeline: Path
    threads: Path

    def attempt(self, mode: str, name: str) -> subprocess.CompletedProcess[str]:
        program = self.threads if mode.startswith("threads") else self.timeline
        return subprocess.run([str(program), mode, name], capture_output=True, text=True, timeout=120, check=False)

    def run(self, mode: str, name: str) -> str:
        """What a scenario prints that must succeed."""
        done = self.attempt(mode, name)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def fault(self, mode: str, name: str) -> str:
        """The message of a scenario that must end in a fault."""
        done = self.attempt(mode, name)
        assert done.returncode == -6, f"no fault: {done.stdout}{done.stderr}"
        return done.stderr
