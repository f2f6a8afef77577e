"""Building an emitted program with the host compiler and its target's twin."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Set
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from match_core.contract.element_types import c_type
from match_core.contract.unit_api import TwinApi, UnitApi
from match_core.emit.manifest import NAME
from match_core.lower.templates import Templates
from match_core.run.compiler import BuildOptions, Objects, View, compile_sources, own_folders
from match_core.run.merge import Merged, merge

RUNTIME = Path(__file__).resolve().parent / "runtime"
TWIN_TEMPLATES = Path(__file__).resolve().parent.parent / "templates" / "twin"


def build(program: Path, work: Path, apis: Mapping[str, UnitApi], host: str, options: BuildOptions) -> Path:
    """Build the program in directory ``program`` (with its manifest) inside ``work``; returns the path of the
    executable.

    ``apis``: of the units that the program uses; ``host``: name of the host unit.
    """
    return compile_program(program, work, apis, host, options).link(work / "twin")


def compile_program(
    program: Path, work: Path, apis: Mapping[str, UnitApi], host: str, options: BuildOptions
) -> Objects:
    """Like ``build``, but returns the objects, so that the caller can replace some of them."""
    document = json.loads((program / NAME).read_text(encoding="utf-8"))
    merged = merge(apis, document["name"])
    twin = merged.twin
    work.mkdir(parents=True, exist_ok=True)
    for file in (*twin.headers, *twin.sources):
        (work / file.name).write_text(file.text, encoding="utf-8")
    runtime = sorted(path for path in RUNTIME.iterdir() if path.suffix in (".h", ".c"))
    for path in runtime:
        shutil.copyfile(path, work / path.name)
    untimed = {host, *(unit for unit, api in apis.items() if not api.twin.sources)}
    started = {unit for unit, api in apis.items() if api.queue is not None and api.queue.done}
    (work / "harness.c").write_text(_harness(document, twin, untimed, started), encoding="utf-8")
    for store in document["stores"]:
        shutil.copyfile(program / store["file"], work / store["file"])
    sources = sorted(
        p for p in program.glob("*.c") if p.name in document["files"]
    )  # a user's files do not belong to it
    own = [work / "harness.c", *(work / path.name for path in runtime if path.suffix == ".c")]
    own += [work / file.name for file in twin.sources]
    shipped = {name for api in apis.values() for name in api.shipped}
    views = _views(work, merged)
    libraries = {name: unit for unit, api in sorted(apis.items()) for name in api.libraries}
    view, places = View(twin.defines), [work, program]
    return compile_sources(sources, own, shipped, places, view, options, views, libraries, own_folders(apis))


def _views(work: Path, merged: Merged) -> dict[str, View]:
    """The headers and macros that each package's sources see, by source name; writes the headers first."""
    views: dict[str, View] = {}
    for unit, own in merged.own.items():
        folder = work / f"own_{unit}"
        folder.mkdir(exist_ok=True)
        for file in own.headers:
            (folder / file.name).write_text(file.text, encoding="utf-8")
        views[unit] = View(own.defines, (folder,))
    return {name: views[unit] for name, unit in merged.readers.items()}


def _harness(document: dict[str, Any], twin: TwinApi, untimed: Set[str], started: Set[str]) -> str:
    """``untimed``: units without a twin of their own (the host, and engines that run directly on this machine), whose
    nodes take the modelled cycles; ``started``: units without a loop, for which the host counts tasks."""
    arenas = [
        {**arena, "expression": twin.arenas.get(arena["memory"], "").replace("{bytes}", f"{arena['size_bytes']}u")}
        for arena in document["arenas"]
    ]
    load = twin.load_store.replace("{data}", "data")
    stores = [
        {**store, "expression": load.replace("{bytes}", f"{store['size_bytes']}u")} for store in document["stores"]
    ]
    host_cycles = [
        node["predicted_cycles"] if node["unit"] in untimed and node["emitted"] else 0 for node in document["nodes"]
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
        "unit_queues": [(n, q["name"] in started) for n, q in enumerate(queues) if q["kind"] == "unit"],
        "swaps": [_Record(area) for area in swaps],
        "signalling": [signalling[name] for name in costs] if signalling else [],
        "instance": ", ".join([*fields, ".state = &state"]),
        "inputs": [_io(tensor, twin.arenas) for tensor in document["inputs"]],
        "outputs": [_io(tensor, twin.arenas) for tensor in document["outputs"]],
        "states": [
            (io["field"], out["field"], min(_size(io), _size(out)))
            for state in document.get("states", ())
            for io in document["inputs"]
            for out in document["outputs"]
            if (io["name"], out["name"]) == (state["input"], state["output"])
        ],
        "host_cycles": host_cycles,
        "clocks": twin.clocks,
        "host_clock": twin.clocks.index("host") if "host" in twin.clocks else 0,
    }
    return Templates((TWIN_TEMPLATES,)).render("harness.c.mako", view)


class _Record:
    """Attribute access to a manifest entry, for the template."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.__dict__.update(fields)


def _size(tensor: dict[str, Any]) -> int:
    return int(prod(tensor["shape"]) * np.dtype(tensor["dtype"]).itemsize)


def _io(tensor: dict[str, Any], memories: Mapping[str, str]) -> _Record:
    """``expression``: room in a memory of the twin, if the tensor is stored in one."""
    elements, ctype, size_bytes = prod(tensor["shape"]), c_type(tensor["dtype"]), _size(tensor)
    room = memories.get(tensor.get("memory", ""), "").replace("{bytes}", f"{size_bytes}u")
    sizes = {"elements": elements, "size_bytes": size_bytes}
    return _Record({**tensor, **sizes, "ctype": ctype, "expression": f"({ctype} *){room}" if room else ""})
