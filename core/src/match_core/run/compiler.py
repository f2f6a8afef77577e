"""The host compiler: objects of a program and its twin, and the executable from them."""

from __future__ import annotations

import os
import re
import shutil
import signal
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from subprocess import DEVNULL, PIPE, STDOUT, Popen, TimeoutExpired
from types import MappingProxyType

from match_core.contract.errors import ToolError
from match_core.contract.unit_api import UnitApi
from match_core.run.object_cache import ObjectCache, keep_object, kept_object

#: The emitted program and the twin's own C must compile without these warnings.
STRICT = ("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")
#: Reports use line numbers (``-g1``), not variables, which would double the compile time.
SANITIZE = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g1", "-O1")
#: Units as concurrent threads. The thread sanitizer requires position-independent code; it does not see copies that the
#: compiler expands inline.
THREADS = ("-fsanitize=thread", "-fno-builtin", "-fPIE", "-g1", "-O1", "-DMATCH_TWIN_CONCURRENT")
#: Messages of linkers and compilers about a library or a header that is not installed.
_NO_LIBRARY = re.compile(
    r"(?:cannot find -l|unable to find library -l|library not found for -l|library not found: |library ')([\w.+-]+)"
)
_UNDEFINED = re.compile(r"(?:undefined reference to|undefined symbol:) [`'‘]?(\w+)|\"_(\w+)\", referenced from")
_NO_HEADER = re.compile(r"fatal error: '?([\w./+-]+\.h\w*)'?(?:: No such file| file not found)")
#: For one source, with the optimisation of sanitizers on a slow machine (an estimate); bytes of a line that is shown.
LIMIT_SECONDS, _LINE_MAX = 600, 300
#: Header that maps the program's counters to those of the twin.
SYNC = '-DMATCH_SYNC_HEADER="match_twin_sync.h"'


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """``sanitize``: address and undefined-behaviour sanitizers; ``strict``: warnings are errors; ``threads``: for the
    mode that runs units as threads, with the thread sanitizer (excludes ``sanitize``)."""

    sanitize: bool = False
    strict: bool = True
    threads: bool = False

    def __post_init__(self) -> None:
        if self.sanitize and self.threads:
            raise ValueError("the address sanitizer and the thread sanitizer exclude each other")

    @property
    def flags(self) -> tuple[str, ...]:
        """Arguments of the compiler, including those of the linker."""
        kind = SANITIZE if self.sanitize else THREADS if self.threads else ("-O2",)
        return (*(STRICT if self.strict else ("-std=c11",)), *kind, SYNC, "-pthread", "-DMATCH_PROFILE")


def host_compiler() -> list[str]:
    """The words of the C compiler's command: $CC, else cc. ToolError MATCH-T001 if there is none."""
    compiler = os.environ.get("CC", "cc")
    if not compiler.strip():
        raise _no_compiler(compiler, "it is empty")
    if shutil.which(compiler.split()[0]) is None:
        raise _no_compiler(compiler, "it is not on the PATH")
    return compiler.split()


def _no_compiler(compiler: str, why: str) -> ToolError:
    what, where = "the program cannot be built for this machine", f"C compiler {compiler!r}"
    help_ = ("install a C compiler (Debian: apt-get install gcc)", "name one that is installed, for example CC=gcc")
    return ToolError("MATCH-T001", what, where, why, help_)


@dataclass(frozen=True, slots=True)
class View:
    """What a source sees besides the common headers: ``folders`` that are searched first, and macros."""

    defines: tuple[str, ...] = ()
    folders: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Objects:
    """Compiled objects: ``command`` is the compiler with its flags, ``objects`` by source file, ``view``: what sources
    see, ``views``: what the sources of these names see instead; ``libraries`` are linked, each with the unit that
    requires it. ToolError MATCH-T002 if the compiler fails, MATCH-T005 if a unit's library is not installed."""

    command: tuple[str, ...]
    includes: tuple[Path, ...]
    objects: Mapping[Path, Path]
    view: View = View()
    views: Mapping[str, View] = field(default_factory=dict)
    libraries: Mapping[str, str] = field(default_factory=dict)

    def compile(self, source: Path, target: Path) -> Path:
        """One more object, with the same flags but no warnings."""
        quiet = replace(self, command=(*self.command, "-w"), objects={})
        _Running(quiet, _Job(source, target, None)).finish()
        return target

    def command_of(self, source: Path) -> tuple[str, ...]:
        """The compiler with all flags for a source."""
        view = self.views.get(source.name, self.view)
        places = (f"-I{path}" for path in (*view.folders, *self.includes))
        return (*self.command, *(f"-D{define}" for define in view.defines), *places)

    def link(self, executable: Path, replaced: Mapping[Path, Path] | None = None) -> Path:
        """The executable; ``replaced``: other objects for some of the sources."""
        objects = [str(path) for path in {**self.objects, **(replaced or {})}.values()]
        command = [*self.command, *objects, *(f"-l{name}" for name in self.libraries), "-lm", "-o", str(executable)]
        _Process(command, executable, "link", self.libraries, [*self.objects]).finish()
        return executable


@dataclass(frozen=True, slots=True)
class _Job:
    """One source to compile. ``cached``: the path of its object in the cache, None if it is not cached."""

    source: Path
    target: Path
    cached: Path | None


class _Process:
    """A running compiler or linker that makes ``target`` from ``what``."""

    def __init__(
        self, command: Sequence[str], target: Path, what: str, libraries: Mapping[str, str], linked: Sequence[Path] = ()
    ) -> None:
        self.target, self.what, self.libraries, self.linked = target, what, libraries, linked
        self.end = time.monotonic() + LIMIT_SECONDS
        try:
            self.process = Popen(command, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT, start_new_session=True)
        except (OSError, ValueError) as error:  # no program of this machine
            raise _no_compiler(command[0], f"it cannot be started: {error}") from error

    def finish(self) -> None:
        """Wait for it. ToolError MATCH-T002 if it fails, makes nothing, or takes longer than the limit."""
        try:
            output, _ = self.process.communicate(timeout=max(0.1, self.end - time.monotonic()))
        except TimeoutExpired:
            raise _rejected(self.what, f"the compiler did not end within {LIMIT_SECONDS} s") from None
        finally:
            if self.process.returncode is None:
                self.stop()
        text = output.decode("utf-8", "replace")
        for symbol in [first or second for first, second in _UNDEFINED.findall(text)][:1]:
            raise _undefined(symbol, self.linked)
        _check(self.process.returncode, self.what, text, self.libraries)
        if not self.target.is_file():
            raise _rejected(self.what, f"the compiler ended with status 0 and wrote no {self.target.name}")

    def stop(self) -> None:
        """End it, with the processes that it started."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class _Running(_Process):
    """A compiler that makes an object."""

    def __init__(self, objects: Objects, job: _Job) -> None:
        self.job = job
        command = [*objects.command_of(job.source), "-c", str(job.source), "-o", str(job.target)]
        super().__init__(command, job.target, job.source.name, objects.libraries)

    def finish(self) -> None:
        super().finish()
        if self.job.cached is not None:
            keep_object(self.job.cached, self.job.target.read_bytes())


def compile_sources(
    program: list[Path],
    own: list[Path],
    shipped: Collection[str],
    includes: list[Path],
    view: View,
    options: BuildOptions,
    views: Mapping[str, View] = MappingProxyType({}),
    libraries: Mapping[str, str] = MappingProxyType({}),
    folders: Sequence[Path] = (),
) -> Objects:
    """Compile the program's and the twin's ``own`` sources into the folder of the latter. Objects that do not depend on
    the model are cached on disk: the twin's, and those of the program's sources that ``shipped`` names. ``view``: what
    sources see, ``views``: what the sources of these names see instead; ``libraries`` to link, by the name for ``-l``,
    each with the unit that requires it; ``folders``: those of ``own_folders``, whose files give no warnings."""
    command = (*host_compiler(), *options.flags, *(f"-isystem{path}" for path in folders))
    folder, kind = own[0].parent, "_threads" if options.threads else ""
    caches = {
        seen: ObjectCache((*command, *(f"-D{define}" for define in seen.defines)), (*seen.folders, *includes, *folders))
        for seen in (view, *views.values())
    }

    def job_of(path: Path, target: str, is_cached: bool) -> _Job:
        cache = caches[views.get(path.name, view)]
        return _Job(path, folder / target, cache.path(path) if is_cached else None)

    jobs = [job_of(path, f"program_{path.stem}{kind}.o", path.name in shipped) for path in program]
    jobs += [job_of(path, f"{path.stem}{kind}.o", path.name != "harness.c") for path in own]
    objects = Objects(command, tuple(includes), {job.source: job.target for job in jobs}, view, views, libraries)
    running: list[_Running] = []
    try:
        for job in jobs:
            if job.cached is not None and (found := kept_object(job.cached)):
                job.target.write_bytes(found)
                continue
            running.append(_Running(objects, job))
            if len(running) >= max(1, os.cpu_count() or 1):
                running.pop(0).finish()
        while running:
            running.pop(0).finish()
    finally:  # no compiler writes any more when the caller cleans up
        for compiler in running:
            compiler.stop()
    return objects


def _check(status: int, what: str, output: str, libraries: Mapping[str, str]) -> None:
    if status == 0:
        return
    if libraries and (missing := _missing(output, libraries)) is not None:
        raise missing
    text = "".join(character if character.isprintable() or character == "\n" else "?" for character in output)
    lines = [line for line in text.split("\n") if "error" in line or "warning" in line] or text.split("\n")
    raise _rejected(what, "; ".join(line[:_LINE_MAX] for line in lines[:3] if line) or f"exit status {status}")


def _undefined(symbol: str, sources: Sequence[Path]) -> ToolError:
    """MATCH-T002: the files that call a symbol that no source defines, and those with the header that declares it."""
    call, folders = re.compile(rf"\b{symbol}\s*\("), {source.parent for source in sources}
    headers = [p.name for folder in folders for p in folder.glob("*.h") if call.search(p.read_text("utf-8", "replace"))]
    texts = {source: source.read_text("utf-8", "replace") for source in sources}
    users = [source for source, text in texts.items() if call.search(text)]
    should = [p for p, text in texts.items() if p not in users and any(f'"{header}"' in text for header in headers)]
    same = [path for path in should if f"{path.stem}.h" in headers]
    apart = [path for path in should if path.parent not in {user.parent for user in users}]
    named, calling = (" or ".join(path.name for path in paths) for paths in (same or apart or should, users))
    where = f"{named} should define it, with {', '.join(headers)}" if named else "no header declares it"
    return _rejected("link", f"no C file defines {symbol}, which {calling or 'the program'} calls; {where}")


def _rejected(what: str, why: str) -> ToolError:
    report = "if it compiles other programs, report this with the model: it is a fault of match or of a package"
    other = ("use another compiler, for example CC=gcc",) if os.environ.get("CC", "cc") != "cc" else ()
    return ToolError("MATCH-T002", "the C compiler failed", what, why, (*other, report))


def _missing(output: str, libraries: Mapping[str, str]) -> ToolError | None:
    """The error if the tool reports that a unit's library is missing, or a header that only such a library can have."""
    library, header = _NO_LIBRARY.search(output), _NO_HEADER.search(output)
    if library is not None and library[1] in libraries:
        names, why = [library[1]], f"the linker does not find lib{library[1]}"
    elif header is not None and not header[1].startswith("match_"):  # headers of this prefix ship with programs
        names, why = list(libraries), f"the compiler does not find the header {header[1]}"
    else:
        return None
    where = f"librar{'y' if len(names) == 1 else 'ies'} {', '.join(names)}"
    units = sorted({libraries[name] for name in names})
    return _not_there(where, why, "install it with its headers; see the README of the unit's package", units)


def _not_there(where: str, why: str, how: str, units: Sequence[str]) -> ToolError:
    without = f"compile without the unit: {' '.join(f'--without-unit {unit}' for unit in units)}"
    what = "a library that the program needs is not installed on this machine"
    return ToolError("MATCH-T005", what, f"{where}, unit {', '.join(units)}", why, (how, without))


def own_folders(apis: Mapping[str, UnitApi]) -> tuple[Path, ...]:
    """Folders of libraries that users have themselves (``UnitApi.folders``). ToolError MATCH-T005 without one."""
    found: dict[Path, None] = {}
    for unit, text in ((unit, text) for unit, api in sorted(apis.items()) for text in api.folders):
        variable, _, rest = text.partition("/")
        folder = os.environ.get(variable)
        if not folder or not Path(folder, rest).is_dir():
            why = f"there is no folder {Path(folder, rest)}" if folder else f"{variable} is not set"
            raise _not_there(f"folder ${text}", why, f"set {variable} to the folder of your copy", [unit])
        found[Path(folder, rest).resolve()] = None
    return tuple(found)
