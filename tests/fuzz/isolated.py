"""Functions in a forked process with limits of time and memory: what they do to it harms nothing else."""

from __future__ import annotations

import contextlib
import os
import pickle
import resource
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

#: A process that waits is ended after so many times its limit of processor time: other processes may take their share.
PATIENCE = 6
#: The process may hold this much more memory than its parent did.
MEMORY_BYTES = 2 << 30


@dataclass(frozen=True, slots=True)
class Ended:
    """The process returned nothing: a ``hang``, or a ``crash`` with what the system said."""

    kind: str
    reason: str


def isolated(work: Callable[[], object], folder: Path, seconds: float, memory: int = MEMORY_BYTES) -> object:
    """What ``work`` returns, or Ended; ``seconds`` of processor time. ``memory``: 0 for programs with sanitizers, which
    reserve more addresses than there is memory. Its messages go to ``folder``."""
    result = folder / "result"
    child = os.fork()
    if child == 0:
        _run(work, folder, result, seconds, memory)
    return _awaited(child, folder, result, seconds)


def _run(work: Callable[[], object], folder: Path, result: Path, seconds: float, memory: int) -> None:
    code = 1
    try:
        os.setpgid(0, 0)
        said = os.open(folder / "said", os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
        os.dup2(said, 1)
        os.dup2(said, 2)
        if memory:
            pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[0])
            limit = pages * resource.getpagesize() + memory
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
        made = pickle.dumps(work())
        result.write_bytes(made)
        code = 0
    except BaseException as error:  # MemoryError too: told as text
        with contextlib.suppress(BaseException):
            os.write(2, f"{type(error).__name__}: {error}".encode()[:2000])
    finally:
        os._exit(code)


def _awaited(child: int, folder: Path, result: Path, seconds: float) -> object:
    end = time.monotonic() + PATIENCE * seconds
    pause = 0.002
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() > end:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return Ended("hang", f"no end within {PATIENCE * seconds:g} s")
        time.sleep(pause)
        pause = min(0.05, pause * 1.3)
    if result.is_file():
        return pickle.loads(result.read_bytes())
    if os.waitstatus_to_exitcode(status) == -signal.SIGXCPU:
        return Ended("hang", f"no end within {seconds:g} s of processor time")
    said = folder / "said"
    text = said.read_text(encoding="utf-8", errors="replace").strip()[-300:] if said.is_file() else ""
    return Ended("crash", f"status {os.waitstatus_to_exitcode(status)}: {text}")
