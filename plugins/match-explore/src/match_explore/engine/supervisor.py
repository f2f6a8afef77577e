"""Keeps one process that evaluates points, within limits of time and memory; replaces it when it ends."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import psutil

from match_explore.engine.incident import Incident

#: Seconds until the plugins of a new process are loaded; an estimate for slow disks.
_START_SECONDS = 300.0
#: Seconds between two looks at the memory: each lists the processes of the machine.
_LOOK_SECONDS = 0.5


@dataclass
class Supervisor:
    """``folder``: the study's files. One task at a time; ``stop`` ends the process."""

    folder: Path
    _process: subprocess.Popen[bytes] | None = None
    _said: IO[bytes] | None = None
    _pending: bytes = b""

    def evaluate(
        self, point: Mapping[str, Any], keep: str, seconds: float, memory_bytes: int
    ) -> dict[str, Any] | Incident:
        """The outcome of a point's content with the seconds of the work, or what ended its process."""
        if self._process is None or self._process.poll() is not None:
            self.stop()
            started = self._start(memory_bytes)
            if started is not None:
                return started
        process = self._process
        assert process is not None and process.stdin is not None
        try:
            process.stdin.write(json.dumps({"point": point, "keep": keep}).encode() + b"\n")
            process.stdin.flush()
        except BrokenPipeError:
            return self._ended()
        return self._answer(seconds, memory_bytes)

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    stream.close()
        if self._said is not None:
            self._said.close()
        self._process, self._said, self._pending = None, None, b""

    def _start(self, memory_bytes: int) -> Incident | None:
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  # closed by stop
        self._process = subprocess.Popen(
            [sys.executable, "-m", "match_explore.engine.runner", str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
        )
        ready = self._answer(_START_SECONDS, memory_bytes)
        return ready if isinstance(ready, Incident) else None

    def _answer(self, seconds: float, memory_bytes: int) -> dict[str, Any] | Incident:
        assert self._process is not None and self._process.stdout is not None
        stream, end = self._process.stdout.fileno(), time.monotonic() + seconds
        while b"\n" not in self._pending:
            left = max(0.0, end - time.monotonic())
            ready, _, _ = select.select([stream], [], [], min(_LOOK_SECONDS, left))
            if ready:
                block = os.read(stream, 1 << 16)
                if not block:
                    return self._ended()
                self._pending += block
            elif time.monotonic() > end:
                self.stop()
                return Incident("late", f"it was stopped after {seconds:g} s")
            elif self._resident() > memory_bytes:
                self.stop()
                return Incident("memory", f"its process had more than {memory_bytes} bytes")
        line, _, self._pending = self._pending.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _resident(self) -> int:
        assert self._process is not None
        try:
            process = psutil.Process(self._process.pid)
            return sum(each.memory_info().rss for each in (process, *process.children(recursive=True)))
        except psutil.Error:  # it ends at this moment
            return 0

    def _ended(self) -> Incident:
        """The process ended by itself: by a signal, or with words on stderr."""
        assert self._process is not None and self._said is not None
        code = self._process.wait()
        self._said.seek(0)
        words = self._said.read().decode("utf-8", "replace").strip().splitlines()
        self.stop()
        if code < 0:
            return Incident("died", f"signal {-code} ended it")
        last = words[-1][:300] if words else ""
        return Incident("memory" if last.startswith("MemoryError") else "died", f"exit code {code}: {last}")
