"""Ctrl-C: an exception where Python runs, and never within an import."""

from __future__ import annotations

import _thread
import signal
import sys
import time
from collections.abc import Callable, Iterator
from types import FrameType

#: How long an interrupt that came within an import waits before it is looked at again, and how often at most: a
#: module that never ends its import can still be interrupted.
HELD_SECONDS, HELD_TIMES = 0.02, 250
_IMPORTER = "<frozen importlib"


def hold_within_imports() -> Callable[[], bool]:
    """Let Ctrl-C wait while a module is imported, and come again where it was lost; returns whether one came. Compiled
    modules that are interrupted while they start raise something else (OR-Tools: ImportError) or take the process with
    them (seen once: SIGSEGV)."""
    came: list[int] = []
    main = _thread.get_ident()

    def handle(number: int, frame: FrameType | None) -> None:
        came.append(number)
        if len(came) <= HELD_TIMES and any(f.f_code.co_filename.startswith(_IMPORTER) for f in _stack(frame)):
            # Not threading.Timer: the import may hold a lock of threading.
            _thread.start_new_thread(_again, (main, number))
            return
        signal.default_int_handler(number, frame)

    def lost(what: sys.UnraisableHookArgs) -> None:
        """Where nothing can be raised Python drops the interrupt and says so."""
        if issubclass(what.exc_type, KeyboardInterrupt):
            _thread.start_new_thread(_again, (main, signal.SIGINT))
        else:
            sys.__unraisablehook__(what)

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else ignored, as for jobs in the background
        signal.signal(signal.SIGINT, handle)
        sys.unraisablehook = lost
    return lambda: bool(came)


def ignore() -> None:
    """From here on the command is done: what it told and its exit code stand."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _again(main: int, number: int) -> None:
    time.sleep(HELD_SECONDS)
    if sys.platform == "win32":
        signal.raise_signal(number)
    else:  # to the thread that handles it, so that it also wakes
        signal.pthread_kill(main, number)


def _stack(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back
