"""Ctrl-C: raises an exception in Python code, but never during an import or a change of folders."""

from __future__ import annotations

import _thread
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

#: The delay before an interrupt that was held is sent again, and the maximum number of repetitions, so that a module
#: whose import never ends can still be interrupted.
HELD_SECONDS, HELD_TIMES = 0.02, 250
#: Files whose functions are not interrupted: the importer, and those that would leave folders behind.
_HOLDING = ("<frozen importlib", str(Path(__file__).parents[1] / "io" / "swap.py"), shutil.__file__)


def hold_interrupts() -> Callable[[], bool]:
    """Delay Ctrl-C until a running import or change of folders has ended, and send it again where Python dropped it.
    Returns a function that says whether one arrived. Compiled modules that are interrupted during their import raise
    something else (OR-Tools: ImportError) or crash the process (seen once: SIGSEGV)."""
    came: list[int] = []
    main = _thread.get_ident()

    def handle(number: int, frame: FrameType | None) -> None:
        came.append(number)
        if len(came) <= HELD_TIMES and any(f.f_code.co_filename.startswith(_HOLDING) for f in _stack(frame)):
            # Not threading.Timer: an import may hold a lock of threading.
            _thread.start_new_thread(_again, (main, number))
            return
        signal.default_int_handler(number, frame)

    def lost(what: sys.UnraisableHookArgs) -> None:
        """Python reports an interrupt here if it cannot raise it, and drops it."""
        if issubclass(what.exc_type, KeyboardInterrupt):
            _thread.start_new_thread(_again, (main, signal.SIGINT))
        else:
            sys.__unraisablehook__(what)

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # otherwise ignored, as in background jobs
        signal.signal(signal.SIGINT, handle)
        sys.unraisablehook = lost
    return lambda: bool(came)


def ignore() -> None:
    """Ignore Ctrl-C from now on: the command has finished, and its output and exit code must not change."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _again(main: int, number: int) -> None:
    time.sleep(HELD_SECONDS)
    if sys.platform == "win32":
        signal.raise_signal(number)
    else:  # to the thread that handles the signal, which also wakes it
        signal.pthread_kill(main, number)


def _stack(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back
