"""Building an emitted program with the host compiler and its target's twin."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from match_core.emit.api import TwinApi, UnitApi
from match_core.emit.ctypes import c_type
from match_core.emit.templates import Templates
from match_core.errors import ToolError
from match_core.io.cache_dir import cache_directory, write_whole

RUNTIME = Path(__file__).resolve().parent / "runtime"
TWIN_TEMPLATES = Path(__file__).resolve().parent.parent / "templates" / "twin"
#: The emitted program must be free of these warnings; the twin's own C too.
STRICT = ("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")
SANITIZE = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g", "-O1")
#: Units as threads that run at the same time. Position independence is what the thread sanitizer asks for; it does not see
#: copies that the compiler writes out itself.
THREADS = ("-fsanitize=thread", "-fno-builtin", "-fPIE", "-g", "-O1", "-DMATCH_TWIN_CONCURRENT")
#: Header by which the program's counters are those of the twin.
SYNC = '-DMATCH_SYNC_HEADER="match_twin_sync.h"'


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """``sanitize``: address and undefined-behaviour sanitizers; ``strict``: warnings are errors; ``threads``: for the
    mode in which units are threads, with the thread sanitizer (which excludes ``sanitize``)."""

    sanitize: bool = False
    strict: bool = True
    threads: bool = False

    def __post_init__(self) -> None:
        if self.sanitize and self.threads:
            raise ValueError("the address sanitizer and the thread sanitizer exclude each other")

    @property
    def flags(self) -> tuple[str, ...]:
        """Arguments of the compiler, those of the linker too."""
        kind = SANITIZE if self.sanitize else THREADS if self.threads else ("-O2",)
        return (*(STRICT if self.strict else ("-std=c11",)), *kind, SYNC, "-pthread", "-DMATCH_PROFILE")


def host_compiler() -> str:
    """The C compiler to use: $CC, else cc. ToolError MATCH-T001 if there is none."""
    compiler = os.environ.get("CC", "cc")
    if shutil.which(compiler.split()[0]) is None:
        raise ToolError(
            code="MATCH-T001",
            what="the program cannot be built for this machine",
            where=f"C compiler {compiler!r}",
            why="it is not on the PATH",
            help=("install a C compiler (Debian: apt-get install gcc)", "set CC to the compiler's name"),
        )
    return compiler


def merge_twins(apis: Mapping[str, UnitApi]) -> TwinApi:
    """One twin from those of all units: files by name, clocks in order of first mention after the host's."""
    headers = {file.name: file for unit in sorted(apis) for file in apis[unit].twin.headers}
    sources = {file.name: file for unit in sorted(apis) for file in apis[unit].twin.sources}
    clocks = dict.fromkeys(clock for unit in sorted(apis) for clock in apis[unit].twin.clocks)
    arenas = {memory: text for unit in sorted(apis) for memory, text in apis[unit].twin.arenas.items()}
    defines = dict.fromkeys(define for unit in sorted(apis) for define in apis[unit].twin.defines)
    return TwinApi(
        headers=tuple(headers[name] for name in sorted(headers)),
        sources=tuple(sources[name] for name in sorted(sources)),
        clocks=tuple(clocks) or ("host",),
        arenas=arenas,
        defines=tuple(defines),
        load_store=next((apis[unit].twin.load_store for unit in sorted(apis) if apis[unit].twin.load_store), ""),
    )


def build(program: Path, work: Path, apis: Mapping[str, UnitApi], host: str, options: BuildOptions) -> Path:
    """Build the program in directory ``program`` (with its manifest) inside ``work``; the executable's path.

    ``apis``: of the units that the program uses; ``host``: name of the host unit.
    """
    from match_core.emit.manifest import NAME

    document = json.loads((program / NAME).read_text(encoding="utf-8"))
    twin = merge_twins(apis)
    work.mkdir(parents=True, exist_ok=True)
    for file in (*twin.headers, *twin.sources):
        (work / file.name).write_text(file.text, encoding="utf-8")
    runtime = sorted(path for path in RUNTIME.iterdir() if path.suffix in (".h", ".c"))
    for path in runtime:
        shutil.copyfile(path, work / path.name)
    (work / "harness.c").write_text(_harness(document, twin, host), encoding="utf-8")
    for store in document["stores"]:
        shutil.copyfile(program / store["file"], work / store["file"])
    builds = [api.build for api in apis.values() if api.build is not None]
    applications = {"example_main.c", *(name for build in builds for name in build.applications)}
    sources = sorted(path for path in program.glob("*.c") if path.name not in applications)
    own = [work / "harness.c", *(work / path.name for path in runtime if path.suffix == ".c")]
    own += [work / file.name for file in twin.sources]
    executable = work / "twin"
    _compile(sources, own, executable, [work, program], twin.defines, options)
    return executable


@dataclass(frozen=True, slots=True)
class _Job:
    """One source to compile. ``cached``: where its object is kept between builds (twin sources only)."""

    source: Path
    target: Path
    cached: Path | None


def _compile(
    program: list[Path],
    own: list[Path],
    executable: Path,
    includes: list[Path],
    defines: tuple[str, ...],
    options: BuildOptions,
) -> None:
    """Compile the program's and the twin's own sources, then link. Objects of the twin, which depend on no model, are
    kept in a cache directory."""
    flags = [*options.flags, *(f"-D{define}" for define in defines)]
    search = [f"-I{path}" for path in includes]
    compiler = host_compiler().split()
    key = _cache_key(compiler, flags, own)
    jobs = [_Job(path, executable.parent / f"program_{path.stem}.o", None) for path in program]
    jobs += [_Job(path, executable.parent / f"{path.stem}.o", _cached(path, key)) for path in own]
    running: list[tuple[_Job, subprocess.Popen[str]]] = []
    for job in jobs:
        if job.cached is not None and job.cached.is_file():
            shutil.copyfile(job.cached, job.target)
            continue
        command = [*compiler, *flags, *search, "-c", str(job.source), "-o", str(job.target)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        running.append((job, process))
        if len(running) >= max(1, os.cpu_count() or 1):
            _finish(*running.pop(0))
    for entry in running:
        _finish(*entry)
    link = subprocess.run(
        [*compiler, *flags, *(str(job.target) for job in jobs), "-lm", "-o", str(executable)],
        capture_output=True,
        text=True,
        check=False,
    )
    _check(link.returncode, "link", link.stderr)


def _cache_key(compiler: list[str], flags: list[str], own: list[Path]) -> str:
    """Digest of the compiler, the flags and all of the twin's files: any change rebuilds everything."""
    version = subprocess.run([*compiler, "--version"], capture_output=True, text=True, check=False).stdout
    digest = hashlib.sha256("\0".join([*compiler, version, *flags]).encode())
    folder = own[0].parent
    for path in sorted(path for path in folder.iterdir() if path.suffix in (".h", ".c") and path.name != "harness.c"):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:24]


def _cached(source: Path, key: str) -> Path | None:
    return None if source.name == "harness.c" else cache_directory("twin") / key / f"{source.stem}.o"


def _finish(job: _Job, process: subprocess.Popen[str]) -> None:
    output, _ = process.communicate()
    _check(process.returncode, job.source.name, output)
    if job.cached is not None:
        write_whole(job.cached, job.target.read_bytes())


def _check(status: int, what: str, output: str) -> None:
    if status == 0:
        return
    lines = [line for line in output.splitlines() if "error" in line or "warning" in line] or output.splitlines()
    raise ToolError(
        code="MATCH-T002",
        what="the C compiler refused the program",
        where=what,
        why="; ".join(lines[:3]) or f"exit status {status}",
        help=("this is a fault of match or of the target package: please report it with the model",),
    )


def _harness(document: dict[str, Any], twin: TwinApi, host: str) -> str:
    arenas = [
        {**arena, "expression": twin.arenas.get(arena["memory"], "").replace("{bytes}", f"{arena['size_bytes']}u")}
        for arena in document["arenas"]
    ]
    load = twin.load_store.replace("{data}", "data")
    stores = [
        {**store, "expression": load.replace("{bytes}", f"{store['size_bytes']}u")} for store in document["stores"]
    ]
    if (stores or document.get("swap")) and not load:
        raise ValueError(f"{document['name']} uses the store, but the twin of {document['target']} has none")
    host_cycles = [
        node["predicted_cycles"] if node["unit"] == host and node["emitted"] else 0 for node in document["nodes"]
    ]
    areas = [document["swap"]] if document.get("swap") else []
    swaps = [{**area, "expression": load.replace("{bytes}", f"{area['size_bytes']}u")} for area in areas]
    fields = [f".{arena['field']} = arena_{arena['field']}" for arena in arenas]
    fields += [f".{store['field']} = load_{store['field']}(argv[{6 + n}])" for n, store in enumerate(stores)]
    fields += [f".{area['field']} = swap_{area['field']}()" for area in swaps]
    queues = [queue for queue in document.get("queues", ()) if queue["tasks"]]
    signalling = document.get("signalling")
    costs = ("post_cycles", "wake_cycles", "notify_cycles", "task_cycles")
    view: dict[str, object] = {
        "name": document["name"],
        "headers": [file.name for file in twin.headers if twin.arenas or stores or swaps],
        "arenas": [_Record(arena) for arena in arenas],
        "stores": [_Record(store) for store in stores],
        "unit_queues": [n for n, queue in enumerate(queues) if queue["kind"] == "unit"],
        "swaps": [_Record(area) for area in swaps],
        "signalling": [signalling[name] for name in costs] if signalling else [],
        "instance": ", ".join([*fields, ".state = &state"]),
        "inputs": [_io(tensor) for tensor in document["inputs"]],
        "outputs": [_io(tensor) for tensor in document["outputs"]],
        "host_cycles": host_cycles,
        "clocks": twin.clocks,
        "host_clock": twin.clocks.index("host") if "host" in twin.clocks else 0,
    }
    return Templates((TWIN_TEMPLATES,)).render("harness.c.mako", view)


class _Record:
    """Attribute access to a manifest entry, for the template."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.__dict__.update(fields)


def _io(tensor: dict[str, Any]) -> _Record:
    elements = 1
    for size in tensor["shape"]:
        elements *= size
    return _Record({**tensor, "ctype": c_type(tensor["dtype"]), "elements": elements})
