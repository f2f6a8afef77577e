"""The estimator of time lines in C, compiled by the machine's compiler when it is first needed.

Searches estimate thousands of time lines. Without a C compiler, or if its library cannot be loaded, they take longer
and find the same: the library only tells which choices are worth a time line of mapping/timeline.py.
"""

from __future__ import annotations

import hashlib
import platform
import subprocess
from array import array
from collections.abc import Sequence
from ctypes import CDLL, c_int, c_int64, c_void_p
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from match_core.contract.errors import ToolError
from match_core.io.cache_dir import cache_directory, write_whole
from match_core.run.compiler import host_compiler

if TYPE_CHECKING:
    from match_core.contract.hardware import Signalling

SOURCES = tuple(Path(__file__).with_name(name) for name in ("heap.h", "steps.h", "orders.h", "timeline.c"))
FLAGS = ("-std=c11", "-O2", "-shared", "-fPIC")
#: Sums of this many cycles do not overflow 64 bits.
CYCLES_MAX = 2**40
COMPILE_SECONDS = 60


class Estimator:
    """Finishes of choices that consist of kept lists. ``queues``: one more than the largest number of a queue."""

    def __init__(self, library: CDLL, signalling: Signalling, queues: int) -> None:
        s = signalling
        self._library = library
        self._made = library.match_estimator_new(s.task_cycles, s.notify_cycles, s.post_cycles, s.wake_cycles, queues)
        if not self._made:
            raise MemoryError

    def __del__(self) -> None:
        if getattr(self, "_made", None):
            self._library.match_estimator_free(self._made)

    def keep_lines(self, lines: Sequence[tuple[int, int, tuple[int, ...]]]) -> int:
        """The number of a division's parts: for each its queue, its cycles, and other queues that it keeps busy."""
        if any(cycles > CYCLES_MAX for _, cycles, _ in lines):
            raise OverflowError
        return self._keep(0, [n for queue, cycles, others in lines for n in (queue, cycles, len(others), *others)])

    def keep_needs(self, needs: Sequence[Sequence[tuple[int, int]]]) -> int:
        """The number of a list: for each part, the (operator, part) that it waits for."""
        return self._keep(1, [n for wanted in needs for n in (len(wanted), *(n for pair in wanted for n in pair))])

    def _keep(self, kind: int, values: Sequence[int]) -> int:
        kept = array("q", values)
        number: int = self._library.match_estimator_keep(self._made, kind, kept.buffer_info()[0], len(kept))
        if number < 0:
            raise MemoryError
        return number

    def forget_lines(self) -> None:
        """Costs have changed; no number of lines is valid any longer."""
        self._library.match_estimator_forget(self._made)

    def finish(self, lines: array[int], needs: array[int], limit: int) -> int | None:
        """The finish of the operators whose lines and needs have these numbers (of 64 bits), in the order of list
        scheduling, or a number above ``limit`` if it is above that; None if steps wait for each other, or without
        memory."""
        found: int = self._library.match_estimator_finish(
            self._made, lines.buffer_info()[0], needs.buffer_info()[0], len(lines), limit
        )
        return found if found >= 0 else None


def estimator(signalling: Signalling, queues: int) -> Estimator | None:
    """None where the library cannot be made."""
    library = _library()
    return None if library is None else Estimator(library, signalling, queues)


@lru_cache(maxsize=1)
def _library() -> CDLL | None:
    """The cached library, else a new one; None where it cannot be compiled, or not be loaded."""
    try:
        command = [*host_compiler(), *FLAGS]
        words = "\0".join([platform.machine(), platform.system(), *command]).encode()
        content = b"\0".join([words, *(path.read_bytes() for path in SOURCES)])
        cached = cache_directory("native") / f"{hashlib.sha256(content).hexdigest()[:24]}.so"
        try:
            return _typed(CDLL(str(cached)))
        except OSError:  # it is not there, or damaged
            return _compiled(command, cached)
    except (OSError, ToolError, subprocess.SubprocessError, AttributeError):
        return None


def _compiled(command: Sequence[str], cached: Path) -> CDLL:
    """The library that the compiler makes, which is kept for later compilations."""
    with TemporaryDirectory() as folder:
        made = Path(folder, cached.name)
        words = [*command, str(SOURCES[-1]), "-o", str(made)]
        subprocess.run(words, check=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=COMPILE_SECONDS)
        write_whole(cached, made.read_bytes())
        return _typed(CDLL(str(made)))


def _typed(library: CDLL) -> CDLL:
    """The library with the types of its functions; AttributeError if one is missing."""
    library.match_estimator_new.argtypes = [c_int64] * 5
    library.match_estimator_new.restype = c_void_p
    library.match_estimator_free.argtypes = [c_void_p]
    library.match_estimator_free.restype = None
    library.match_estimator_keep.argtypes = [c_void_p, c_int, c_void_p, c_int64]
    library.match_estimator_keep.restype = c_int64
    library.match_estimator_forget.argtypes = [c_void_p]
    library.match_estimator_forget.restype = None
    library.match_estimator_finish.argtypes = [c_void_p, c_void_p, c_void_p, c_int64, c_int64]
    library.match_estimator_finish.restype = c_int64
    return library
