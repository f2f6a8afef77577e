"""Building an emitted program with the host compiler and its target's twin."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from match_core.emit.api import RuntimeFile, TwinApi, UnitApi
from match_core.emit.ctypes import c_type
from match_core.emit.templates import Templates
from match_core.twin.compiler import BuildOptions, Objects, compile_sources

RUNTIME = Path(__file__).resolve().parent / "runtime"
TWIN_TEMPLATES = Path(__file__).resolve().parent.parent / "templates" / "twin"


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


def own_headers(apis: Mapping[str, UnitApi]) -> dict[str, tuple[RuntimeFile, ...]]:
    """By unit, the headers of its twin that another unit's twin has by the same name with another text: stand-ins of
    different SDKs that have a header of one name."""
    texts: dict[str, set[str]] = {}
    for api in apis.values():
        for file in api.twin.headers:
            texts.setdefault(file.name, set()).add(file.text)
    found = {unit: tuple(file for file in api.twin.headers if len(texts[file.name]) > 1) for unit, api in apis.items()}
    return {unit: files for unit, files in found.items() if files}


def _own_folders(name: str, work: Path, apis: Mapping[str, UnitApi]) -> dict[str, Path]:
    """Writes those headers into a folder for each unit; by file name the folder in which a unit's sources look first:
    its twin's, its runtime's, and that of its tasks in the program called ``name``."""
    folders: dict[str, Path] = {}
    for unit, headers in own_headers(apis).items():
        folder = work / f"own_{unit}"
        folder.mkdir(exist_ok=True)
        for file in headers:
            (folder / file.name).write_text(file.text, encoding="utf-8")
        api = apis[unit]
        sources = (file.name for file in (*api.twin.sources, *api.runtime) if file.name.endswith(".c"))
        folders.update(dict.fromkeys((*sources, f"{name}_{unit}.c"), folder))
    return folders


def build(program: Path, work: Path, apis: Mapping[str, UnitApi], host: str, options: BuildOptions) -> Path:
    """Build the program in directory ``program`` (with its manifest) inside ``work``; the executable's path.

    ``apis``: of the units that the program uses; ``host``: name of the host unit.
    """
    return compile_program(program, work, apis, host, options).link(work / "twin")


def compile_program(
    program: Path, work: Path, apis: Mapping[str, UnitApi], host: str, options: BuildOptions
) -> Objects:
    """The same up to the objects, for who wants to exchange some of them."""
    from match_core.emit.manifest import NAME

    document = json.loads((program / NAME).read_text(encoding="utf-8"))
    twin = merge_twins(apis)
    work.mkdir(parents=True, exist_ok=True)
    shared = _shared_headers(twin, apis)
    for file in (*shared, *twin.sources):
        (work / file.name).write_text(file.text, encoding="utf-8")
    runtime = sorted(path for path in RUNTIME.iterdir() if path.suffix in (".h", ".c"))
    for path in runtime:
        shutil.copyfile(path, work / path.name)
    (work / "harness.c").write_text(_harness(document, twin, host, shared), encoding="utf-8")
    for store in document["stores"]:
        shutil.copyfile(program / store["file"], work / store["file"])
    builds = [api.build for api in apis.values() if api.build is not None]
    applications = {"example_main.c", *(name for build in builds for name in build.applications)}
    sources = sorted(path for path in program.glob("*.c") if path.name not in applications)
    own = [work / "harness.c", *(work / path.name for path in runtime if path.suffix == ".c")]
    own += [work / file.name for file in twin.sources]
    shipped = {file.name for api in apis.values() for file in api.runtime}
    folders = _own_folders(document["name"], work, apis)
    return compile_sources(sources, own, shipped, [work, program], twin.defines, options, folders)


def _shared_headers(twin: TwinApi, apis: Mapping[str, UnitApi]) -> tuple[RuntimeFile, ...]:
    """The headers that all sources see."""
    own = {file.name for files in own_headers(apis).values() for file in files}
    return tuple(file for file in twin.headers if file.name not in own)


def _harness(document: dict[str, Any], twin: TwinApi, host: str, headers: Sequence[RuntimeFile]) -> str:
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
        "headers": [file.name for file in headers if twin.arenas or stores or swaps],
        "arenas": [_Record(arena) for arena in arenas],
        "stores": [_Record(store) for store in stores],
        "unit_queues": [n for n, queue in enumerate(queues) if queue["kind"] == "unit"],
        "swaps": [_Record(area) for area in swaps],
        "signalling": [signalling[name] for name in costs] if signalling else [],
        "instance": ", ".join([*fields, ".state = &state"]),
        "inputs": [_io(tensor, twin.arenas) for tensor in document["inputs"]],
        "outputs": [_io(tensor, twin.arenas) for tensor in document["outputs"]],
        "host_cycles": host_cycles,
        "clocks": twin.clocks,
        "host_clock": twin.clocks.index("host") if "host" in twin.clocks else 0,
    }
    return Templates((TWIN_TEMPLATES,)).render("harness.c.mako", view)


class _Record:
    """Attribute access to a manifest entry, for the template."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.__dict__.update(fields)


def _io(tensor: dict[str, Any], memories: Mapping[str, str]) -> _Record:
    """``expression``: room in a memory of the twin's own, where the tensor lies in one."""
    elements, ctype = 1, c_type(tensor["dtype"])
    for size in tensor["shape"]:
        elements *= size
    size_bytes = elements * np.dtype(tensor["dtype"]).itemsize
    room = memories.get(tensor.get("memory", ""), "").replace("{bytes}", f"{size_bytes}u")
    sizes = {"elements": elements, "size_bytes": size_bytes}
    return _Record({**tensor, **sizes, "ctype": ctype, "expression": f"({ctype} *){room}" if room else ""})
