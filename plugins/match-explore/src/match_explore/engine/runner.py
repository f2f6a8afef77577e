"""The process that evaluates points one after another: ``python -m match_explore.engine.runner FOLDER``.

Requests and answers are lines of JSON on the streams that are stdin and stdout when it starts; what libraries print
goes to stderr. The first answer is ``{"ready": true}``, others hold
the outcome and the seconds of the work. The process ends with its stdin, or with its parent.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from threading import Thread
from typing import TextIO

from match_explore.task import Worker


def main(folder: str) -> None:
    """Serve requests until stdin ends."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    worker = Worker(Path(folder))
    _ = worker.plugins
    _answer(answers, {"ready": True})
    for line in sys.stdin:
        request = json.loads(line)
        keep = request["keep"]
        began = time.perf_counter()
        outcome = worker.outcome(request["point"], Path(keep) if keep else None)
        _answer(answers, {"outcome": outcome, "seconds": round(time.perf_counter() - began, 6)})


def _end_with(parent: int) -> None:
    """End this process, whatever it does, when its worker was killed."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


def _answer(answers: TextIO, value: object) -> None:
    answers.write(f"{json.dumps(value)}\n")
    answers.flush()


if __name__ == "__main__":
    main(sys.argv[1])
