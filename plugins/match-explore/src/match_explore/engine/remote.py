"""What runs on the workers of a cluster: the study's files, kept once for each worker, and its supervised processes."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from queue import Empty, LifoQueue
from typing import Any

from distributed import Worker as DaskWorker
from distributed import get_worker
from distributed.diagnostics.plugin import WorkerPlugin

from match_explore.engine.incident import Incident
from match_explore.engine.supervisor import Supervisor

#: Largest number of bytes of a name from a study's model that becomes a file name.
_NAME = "match-explore"


class StudyFiles(WorkerPlugin):  # type: ignore[misc]  # distributed has no types for it
    """Sent to every worker once, and to those that join later. ``files``: digest -> (name, content)."""

    def __init__(self, name: str, files: Mapping[str, tuple[str, bytes]]) -> None:
        self.name = name
        self.files = dict(files)

    def setup(self, worker: DaskWorker) -> None:
        """Write the files to a folder of the worker."""
        self.folder = Path(tempfile.mkdtemp(prefix=f"{_NAME}-", dir=worker.local_directory))
        self.idle: LifoQueue[Supervisor] = LifoQueue()
        for digest, (file, content) in self.files.items():
            (self.folder / digest).mkdir()
            (self.folder / digest / Path(file).name).write_bytes(content)

    def teardown(self, worker: DaskWorker) -> None:
        """End the processes and remove the files."""
        try:
            while True:
                self.idle.get_nowait().stop()
        except Empty:
            shutil.rmtree(self.folder, ignore_errors=True)

    def evaluate(
        self, point: Mapping[str, Any], keep: str, seconds: float, memory_bytes: int
    ) -> dict[str, Any] | Incident:
        """The outcome of a point and the seconds of the work, in a process that no other thread uses."""
        try:
            supervisor = self.idle.get_nowait()
        except Empty:
            supervisor = Supervisor(self.folder)
        try:
            return supervisor.evaluate(point, keep, seconds, memory_bytes)
        finally:
            self.idle.put(supervisor)


def evaluate(
    name: str, points: Sequence[tuple[Mapping[str, Any], str]], seconds: float, memory_bytes: int
) -> tuple[str, list[dict[str, Any]], dict[str, Any] | None]:
    """The task: where it ran, outcome and seconds of each point (content, folder to keep its program), and the incident
    that ended it: no later point was begun (plain values)."""
    worker = get_worker()
    answers: list[dict[str, Any]] = []
    for point, keep in points:
        found = worker.plugins[name].evaluate(point, keep, seconds, memory_bytes)
        if isinstance(found, Incident):
            return worker.address, answers, asdict(found)
        answers.append(found)
    return worker.address, answers, None


def code_here() -> str:
    """Digest of the code that decides outcomes on this machine."""
    from match_core.plugin.facade import Plugins

    from match_explore.code import code_digest_of

    return code_digest_of(Plugins.load())
