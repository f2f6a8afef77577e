"""The command ``match`` in children that are forked from a server, which has imported what ``match`` imports.

A child has the arguments, the folder, the environment and the streams of a process of its own, at a fraction of its
time. What a fork cannot have runs in a new process: another setting of the interpreter or of the locale, and modules on
PYTHONPATH that hide some that are already imported. Tests of signals, pipes and start-up start processes themselves.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

#: The command in a process of its own, whatever the PATH says.
MATCH = (sys.executable, "-c", "from match_core.cli.main import main; main()")
#: What ``match`` imports besides itself; not onnxruntime, which starts a thread.
THIRD_PARTY = (
    *("numpy", "onnx.inliner", "onnx.reference.ops", "ortools.sat.python.cp_model", "mako.lookup", "rich.table"),
    *("typer._adapters", "pydantic.type_adapter", "pydantic.json_schema"),  # of some versions of typer
)
#: Modules that every interpreter imports from its path.
_CUSTOM = frozenset({"sitecustomize", "usercustomize"})
#: What only a shell understands.
_SYNTAX = re.compile(r"[|&;<>$`*?\[\](){}~#!\\\n]")


def match(
    arguments: Sequence[object],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdout: int | None = None,
    merged: bool = False,
    timeout: float = 300,
) -> subprocess.CompletedProcess[str]:
    """Like ``subprocess.run([*MATCH, *arguments], ...)``: exit code and text. ``env``: the whole environment;
    ``stdout``: an open file instead of text; ``merged``: messages go to stdout too."""
    words = [str(argument) for argument in arguments]
    environment = dict(os.environ if env is None else env)
    code = None
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, Path(os.devnull).open("rb") as nothing:
        printed = out.fileno() if stdout is None else stdout
        streams = [nothing.fileno(), printed, printed if merged else err.fileno()]
        if _settings(environment) == _settings(os.environ):
            request = {"arguments": words, "cwd": str(cwd or Path.cwd()), "env": environment, "timeout": timeout}
            code = _server().answer(request, streams)
        if code is None:
            code = subprocess.run(
                [*MATCH, *words],
                **dict(zip(("stdin", "stdout", "stderr"), streams, strict=True)),
                cwd=cwd,
                env=environment,
                timeout=timeout,
                check=False,
            ).returncode
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode())
    return subprocess.CompletedProcess(["match", *words], code, *texts)


def shell(command: str, *, cwd: Path, env: Mapping[str, str], timeout: float = 300) -> str:
    """What a line prints, messages too: in bash unless it is ``match`` and its arguments, or those with nothing shown
    of what goes to stdout."""
    line = command.replace("\\\n", " ").strip()
    shown = line.removesuffix(" > /dev/null")
    if shown.startswith("match ") and not _SYNTAX.search(shown):
        done = match(shlex.split(shown)[1:], cwd=cwd, env=env, merged=shown == line, timeout=timeout)
        return done.stdout if shown == line else done.stderr
    return subprocess.run(
        ["bash", "-c", command],
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=timeout,
        check=False,
    ).stdout


def _settings(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that an interpreter reads only when it starts."""
    return {
        name: value
        for name, value in environment.items()
        if name.startswith(("PYTHON", "LC_", "LANG", "LD_")) and name != "PYTHONPATH" and value
    }


class _Server:
    """The process that forks, seen from the tests."""

    def __init__(self) -> None:
        self._control, other = socket.socketpair()
        with other:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(other.fileno())],
                pass_fds=[other.fileno()],
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            )
        atexit.register(self.close)

    def answer(self, request: dict[str, Any], streams: Sequence[int]) -> int | None:
        """The exit code of a child that did the request; None where no fork can do it."""
        ours, its = socket.socketpair()
        with ours:
            with its:
                socket.send_fds(self._control, [b"+"], [its.fileno(), *streams])
            ours.sendall(json.dumps(request).encode())
            ours.shutdown(socket.SHUT_WR)
            reply = _all(ours)
        assert reply, f"the server of tests.forked died: {self._process.poll()}"
        code = json.loads(reply)
        if code == "late":
            raise subprocess.TimeoutExpired(["match", *request["arguments"]], request["timeout"])
        assert code is None or isinstance(code, int), code
        return code

    def close(self) -> None:
        self._control.close()
        self._process.wait(timeout=30)


@lru_cache(maxsize=1)
def _server() -> _Server:
    return _Server()


def _all(connection: socket.socket) -> bytes:
    return b"".join(iter(lambda: connection.recv(1 << 16), b""))


# In the server
# ----------------------------------------------------------------------------------------------------------------


def _serve(control: socket.socket) -> None:
    """Fork one process for each request; it forks the one that becomes ``match``, waits for it, and replies."""
    base = _preload()
    while True:
        with contextlib.suppress(ChildProcessError):  # of those that have replied
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        message, received, _, _ = socket.recv_fds(control, 1, 4)
        if not message:
            with contextlib.suppress(ChildProcessError):
                while os.wait():
                    pass
            return
        if os.fork() == 0:
            control.close()
            with contextlib.suppress(BaseException):
                _reply(socket.socket(fileno=received[0]), received[1:], base)
            os._exit(0)
        for descriptor in received:
            os.close(descriptor)


def _preload() -> list[str]:
    """Import everything that has no threads; the path of modules behind PYTHONPATH."""
    own = len(list(filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))))
    base = sys.path[1 + own :]
    packages = {"match_core", *(point.module.split(".")[0] for point in entry_points(group="match.plugins"))}
    sys.path[0] = str(Path(sys.executable).parent)
    for name in THIRD_PARTY:
        with contextlib.suppress(ImportError):  # then the children do not import it either, or they say why
            importlib.import_module(name)
    for name in sorted(packages):
        with contextlib.suppress(ImportError):
            for module in pkgutil.walk_packages(importlib.import_module(name).__path__, f"{name}."):
                if not module.name.endswith("__main__"):
                    importlib.import_module(module.name)
    importlib.import_module("match_core.plugin.discovery").find_plugins()  # its reading is kept, in the children too
    assert threading.active_count() == 1 and "onnxruntime" not in sys.modules
    gc.collect()
    gc.freeze()
    return base


def _reply(connection: socket.socket, streams: Sequence[int], base: list[str]) -> None:
    request = json.loads(_all(connection))
    paths = [entry for entry in request["env"].get("PYTHONPATH", "").split(os.pathsep) if entry]
    if _hidden(Path(request["cwd"], entry) for entry in paths if entry not in sys.path):
        connection.sendall(b"null")
        return
    child = os.fork()
    if child == 0:
        connection.close()
        _become(request, streams, [str(Path(sys.executable).parent), *paths, *base])

    def late(*_: object) -> NoReturn:
        raise TimeoutError

    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, request["timeout"])
    try:
        _, status = os.waitpid(child, 0)
        connection.sendall(str(os.waitstatus_to_exitcode(status)).encode())
    except TimeoutError:
        os.killpg(child, signal.SIGKILL)
        connection.sendall(b'"late"')


def _hidden(folders: Iterator[Path]) -> bool:
    """Whether modules of these folders stand before some that are imported here, or are run at the start."""
    names = {entry.name.split(".")[0] for folder in folders if folder.is_dir() for entry in folder.iterdir()}
    return not names.isdisjoint({module.split(".")[0] for module in sys.modules} | _CUSTOM)


def _become(request: dict[str, Any], streams: Sequence[int], path: list[str]) -> NoReturn:
    """Be ``match``, to its end."""
    code: object = 1
    try:
        os.setpgid(0, 0)
        for number, descriptor in enumerate(streams):
            os.dup2(descriptor, number)
        os.closerange(3, max(streams) + 1)
        sys.stdin, sys.stdout, sys.stderr = (  # as an interpreter opens them
            open(0, closefd=False),  # noqa: SIM115
            open(1, "w", closefd=False),  # noqa: SIM115
            open(2, "w", 1, errors="backslashreplace", closefd=False),  # noqa: SIM115
        )
        os.chdir(request["cwd"])
        os.environ.clear()
        os.environ.update(request["env"])
        sys.path[:] = path
        sys.argv[:] = [str(Path(sys.executable).parent / "match"), *request["arguments"]]
        sys.modules["__main__"] = ModuleType("__main__")
        importlib.invalidate_caches()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        main = importlib.import_module("match_core.cli.main").main
        try:
            main()
        except SystemExit as exit:
            code = exit.code
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        if code is not None and not isinstance(code, int):
            print(code, file=sys.stderr)
            code = 1
    except BaseException:
        traceback.print_exc()
    try:
        sys.stdout.flush()
    except OSError:
        code = 120  # as an interpreter ends then
    with contextlib.suppress(OSError):
        sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
