"""A real scheduler with worker processes on loopback: the same table, whatever happens to the workers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

import psutil
import pytest
from match_core.contract.errors import MatchError
from match_core.plugin.facade import Plugins
from match_explore.document import read_study
from match_explore.engine import drive
from match_explore.engine.choice import ClusterChoice
from match_explore.explored import Explored, Progress
from match_explore.points import Point
from match_explore.results.files import csv_text
from match_explore.run import explore_study

MakeStudy = Callable[..., Path]
TEXT = """
[options]
execution = "sequential"
[axes]
memory.l1 = ["16%", "32%", "50%", "66%", "82%", "100%"]
precision = ["exact", "fast"]
[limits]
memory = "3GB"
"""


@contextmanager
def process(*words: str) -> Iterator[subprocess.Popen[bytes]]:
    """A command of distributed."""
    started = subprocess.Popen([sys.executable, "-m", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield started
    finally:
        for each in (*psutil.Process(started.pid).children(recursive=True), started) if started.poll() is None else ():
            each.kill()
        started.wait()


@contextmanager
def little_memory(worker: int) -> Iterator[None]:
    """As the kernel of a machine with 80 MB: each process of the worker that needs more is killed."""
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(0.02):
            for child in psutil.Process(worker).children(recursive=True):
                with suppress(psutil.Error):
                    if child.memory_info().rss > 80_000_000:
                        child.kill()

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield
    finally:
        ended.set()
        watching.join()


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[str]:
    """The file of a scheduler."""
    file = tmp_path / "scheduler.json"
    words = ("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    with process(*words, "--scheduler-file", str(file)):
        end = time.monotonic() + 60
        while not file.exists() and time.monotonic() < end:
            time.sleep(0.1)
        yield str(file)


def worker(scheduler: str) -> AbstractContextManager[subprocess.Popen[bytes]]:
    words = ("--scheduler-file", scheduler, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0")
    return process("distributed.cli.dask_worker", *words)


def explored(path: Path, choice: ClusterChoice, watch: Callable[[Progress], None] = lambda _: None) -> Explored:
    return explore_study(read_study(path), Plugins.load(), choice, watch, resume=False)


@pytest.mark.usefixtures("cache")
def test_the_same_table_whatever_happens_to_workers(
    make_study: MakeStudy, scheduler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One worker is killed, one is suspended, one has too little memory for any task; a fourth one is sound."""
    monkeypatch.setattr(drive, "SILENT", 8.0)
    path = make_study(TEXT)
    expected = csv_text(explored(path, ClusterChoice(workers=2)).rows)
    with worker(scheduler) as killed, worker(scheduler) as suspended, worker(scheduler) as _:
        plain = explored(path, ClusterChoice(scheduler=scheduler))
        assert csv_text(plain.rows) == expected and plain.computed == 12
        seen: list[int] = []

        def watch(progress: Progress) -> None:
            if progress.point is not None:
                seen.append(progress.point.index)
            if len(seen) == 2:
                os.kill(killed.pid, signal.SIGKILL)
            if len(seen) == 4:
                os.kill(suspended.pid, signal.SIGSTOP)

        with worker(scheduler) as starved, little_memory(starved.pid):
            time.sleep(5)
            found = explored(path, ClusterChoice(scheduler=scheduler), watch)
        os.kill(suspended.pid, signal.SIGCONT)
    assert sorted(seen) == list(range(12))  # nothing is lost, nothing comes twice
    assert csv_text(found.rows) == expected
    assert {incident.kind for incident in found.retried} == {"died", "worker"}, found.retried
    assert not any(incident.worker for incident in plain.retried)


def test_nobody_answers(make_study: MakeStudy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("match_explore.engine.cluster._CONNECT_SECONDS", 1.0)
    for choice in (
        ClusterChoice(scheduler="tcp://127.0.0.1:9"),
        ClusterChoice(scheduler="tls://127.0.0.1:9"),
        ClusterChoice(scheduler="none.json"),
        ClusterChoice(scheduler="tls://127.0.0.1:9", tls_ca=Path("none.pem")),
        ClusterChoice(scheduler="nonsense"),
    ):
        with pytest.raises(MatchError) as caught:
            explored(make_study(TEXT), choice)
        assert caught.value.code == "MATCH-U114", choice


def test_a_scheduler_with_tls_refuses_who_has_none(
    make_study: MakeStudy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("match_explore.engine.cluster._CONNECT_SECONDS", 3.0)
    key, cert, file = tmp_path / "key.pem", tmp_path / "cert.pem", tmp_path / "scheduler.json"
    words = ("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost")
    subprocess.run(["openssl", *words, "-keyout", str(key), "-out", str(cert)], check=True, capture_output=True)
    tls = ("--tls-ca-file", str(cert), "--tls-cert", str(cert), "--tls-key", str(key))
    port = ("--host", "tls://127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file))
    with process("distributed.cli.dask_scheduler", *port, *tls):
        end = time.monotonic() + 60
        while not file.exists() and time.monotonic() < end:
            time.sleep(0.1)
        address = json.loads(file.read_text())["address"]
        for choice in (ClusterChoice(address), ClusterChoice(address.replace("tls", "tcp"))):
            with pytest.raises(MatchError) as caught:
                explored(make_study(TEXT), choice)
            assert caught.value.code == "MATCH-U114"
        with process("distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard", *tls):
            right = ClusterChoice(address, tls_ca=cert, tls_cert=cert, tls_key=key)
            found = explored(make_study("[axes]\nmemory.l1 = ['50%']"), right)
            assert [row["status"] for row in found.rows] == ["ok"]


@pytest.mark.usefixtures("cache")
def test_a_poisoned_model_costs_its_own_row_only(make_study: MakeStudy, tmp_path: Path) -> None:
    """A task that runs into its limit of time is tried twice, and others go on."""
    path = make_study("[limits]\ntime = '1ms'", targets='["gap9"]')
    found = explored(path, ClusterChoice(workers=2))
    assert [row["code"] for row in found.rows] == ["MATCH-T021"]
    path = make_study("[limits]\nmemory = '1MB'", targets='["gap9"]')
    assert [row["code"] for row in explored(path, ClusterChoice(workers=2)).rows] == ["MATCH-T022"]


@pytest.mark.usefixtures("cache")
def test_a_process_that_dies_is_replaced(make_study: MakeStudy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in the middle of a task that holds several points."""
    monkeypatch.setattr(drive, "TASK_SECONDS", 1000.0)
    monkeypatch.setattr(drive, "_PART_LEFT", 1)
    sent: list[int] = []
    send = drive.Driver._send

    def sends(driver: drive.Driver, points: tuple[Point, ...], attempt: int, avoid: frozenset[str]) -> None:
        sent.append(len(points))
        send(driver, points, attempt, avoid)

    monkeypatch.setattr(drive.Driver, "_send", sends)

    def kill() -> None:
        while not done.wait(0.05):
            if max(sent, default=0) < 2:
                continue
            for child in psutil.Process().children(recursive=True):
                if "match_explore.engine.runner" in " ".join(child.cmdline()):
                    child.kill()
                    return

    done = threading.Event()
    thread = threading.Thread(target=kill)
    thread.start()
    try:
        found = explored(make_study(TEXT), ClusterChoice(workers=2))
    finally:
        done.set()
        thread.join()
    assert [row["status"] for row in found.rows] == ["ok"] * 12 and found.computed == 12
    assert max(sent) > 1 and [incident.kind for incident in found.retried] == ["died"]
