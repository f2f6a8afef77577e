"""The cluster of a study: one in this process, or one that runs already."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import Thread
from typing import TYPE_CHECKING, Any

from match_explore.engine.choice import ClusterChoice
from match_explore.engine.remote import StudyFiles, code_here
from match_explore.errors import other_code, scheduler_error

if TYPE_CHECKING:
    from distributed import Client

#: Memory that one process needs for networks of a few megabytes, measured for MobileNet on GAP9, rounded up.
_WORKER_BYTES = 1 << 30
_CONNECT_SECONDS, _WORKER_SECONDS, _END_SECONDS = 10.0, 60.0, 5.0


def workers_here() -> int:
    """As many workers as cores, and as the free memory holds."""
    import psutil

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, int(psutil.virtual_memory().available) // _WORKER_BYTES))


@contextmanager
def cluster(choice: ClusterChoice, name: str, files: Mapping[str, tuple[str, bytes]], code: str) -> Iterator[Client]:
    """A client of the cluster, whose workers have the study's ``files`` (digest -> name, content) as the plugin
    ``name``. ``code``: the digest that workers must have, too. UsageError MATCH-U114, MATCH-U115."""
    with _embedded(choice) if choice.scheduler is None else _connected(choice) as client:
        if choice.scheduler is not None:
            _check_workers(client, choice.scheduler, code)
        client.register_plugin(StudyFiles(name, files))
        try:
            yield client
        finally:
            if client.status == "running":  # a worker that is suspended never answers
                ending = Thread(target=_unregister, args=(client, name), daemon=True)
                ending.start()
                ending.join(_END_SECONDS)


def _unregister(client: Client, name: str) -> None:
    with suppress(OSError):  # workers that are gone have no files of the study
        client.unregister_worker_plugin(name)


@contextmanager
def _embedded(choice: ClusterChoice) -> Iterator[Client]:
    """The scheduler and its workers as threads of this process; the work is done by processes of their own."""
    import dask
    from distributed import Client, LocalCluster

    count = choice.workers or workers_here()
    options: dict[str, Any] = {"n_workers": count, "threads_per_worker": 1, "processes": False, "memory_limit": None}
    logging.getLogger("distributed").setLevel(logging.ERROR)
    link = {"distributed.dashboard.link": "http://127.0.0.1:{port}/status"}
    with (
        dask.config.set(link),
        LocalCluster(**options, dashboard_address="127.0.0.1:0", silence_logs=logging.ERROR) as local,
        Client(local) as client,
    ):
        yield client


@contextmanager
def _connected(choice: ClusterChoice) -> Iterator[Client]:
    from distributed import Client
    from distributed.security import Security

    address = str(choice.scheduler)
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    where = {"scheduler_file": address} if choice.by_file else {"address": address}
    try:
        security = Security(**choice.tls, require_encryption=True) if choice.tls else None
        client = Client(**where, timeout=_CONNECT_SECONDS, security=security, set_as_default=False)
    except (OSError, TimeoutError, ValueError, TypeError, RuntimeError) as error:
        said = [
            line for each in (error.__cause__, error) if each is not None for line in str(each).strip().splitlines()
        ]
        why = said[0] if said else type(error).__name__
        help_ = ("start one: dask scheduler", "give its address: --scheduler tcp://HOST:8786")
        tls = ("with TLS, give --tls-ca, --tls-cert and --tls-key, and an address that begins with tls://",)
        raise scheduler_error(address, why[:300], *help_, *tls) from error
    with client:
        yield client


def _check_workers(client: Client, scheduler: str, code: str) -> None:
    try:
        client.wait_for_workers(1, timeout=_WORKER_SECONDS)
    except TimeoutError as error:
        why = f"it has no worker, after {_WORKER_SECONDS:g} s"
        raise scheduler_error(scheduler, why, f"start one: dask worker {scheduler}") from error
    found = client.run(code_here, on_error="return")
    here = {worker: digest for worker, digest in found.items() if not isinstance(digest, OSError)}  # others are gone
    if not here:
        raise scheduler_error(scheduler, "none of its workers answers", f"start one: dask worker {scheduler}")
    for worker, digest in sorted(here.items()):
        if digest != code:
            shown = (
                f"{type(digest).__name__}: {digest}"[:200] if isinstance(digest, BaseException) else str(digest)[:12]
            )
            why = f"its code is {shown}, here it is {code[:12]}"
            raise other_code(f"worker {worker}", why, "install the same versions of match and of all packages there")
