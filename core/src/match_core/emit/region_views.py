"""The regions of a program as the templates print them: code, tables of tensors, and the functions of their units."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from match_core.contract.unit_api import REGION_FORMATS, RuntimeFile
from match_core.lower.ctypes import array_definition
from match_core.lower.templates import CORE_TEMPLATES
from match_core.lower.text import WIDTH, comment, noted

if TYPE_CHECKING:
    from match_core.contract.program import Queue
    from match_core.lower.constants import ConstantPool
    from match_core.lower.region_code import BorderTensor, LoweredRegion

REGION_HEADER = "match_region.h"


@lru_cache(maxsize=1)
def region_header() -> RuntimeFile:
    """The C interface of units that take regions; ships with every program that uses such a unit's runtime."""
    return RuntimeFile(REGION_HEADER, (CORE_TEMPLATES / REGION_HEADER).read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class CodeView:
    """The bytes of a region's code as an array; ``comment`` is a complete comment."""

    comment: str
    definition: str


@dataclass(frozen=True, slots=True)
class RegionView:
    """A region in the tables. ``number``: of its handle in the state; ``name``: prefix of its C names; ``dims`` and
    ``tensors``: lines of the arrays, inputs first, then outputs, then constants; ``code``: C name of the array, empty
    if the code is C; ``queue`` and ``position``: in a concurrent program, the queue that runs it, and how many of its
    tasks are done when the region is."""

    number: int
    name: str
    heading: str
    dims: tuple[str, ...]
    tensors: tuple[str, ...]
    inputs: int
    outputs: int
    constants: int
    code: str
    code_bytes: int
    load: str
    run: str
    unload: str
    queue: str = ""
    position: int = 0


def code_views(pool: ConstantPool, safe: Callable[[str], str], section: str) -> tuple[CodeView, ...]:
    """All code of regions that is data; ``safe`` makes text safe in a comment; ``section``: its macro."""
    attributes = f"{section} static _Alignas(16)"
    return tuple(
        CodeView(
            comment(safe(f"{words}: {len(content)} bytes")),
            array_definition(name, np.frombuffer(content, np.uint8), attributes),
        )
        for name, content, words in pool.codes
    )


def region_view(number: int, region: LoweredRegion, title: str, queues: Sequence[Queue], task: int) -> RegionView:
    """The view of one region; ``title`` names it and is safe in a comment; ``task``: index of the task that runs it."""
    borders = (*region.inputs, *region.outputs, *region.constants)
    words = [f"{kind} {n}" for kind in ("input", "output", "constant") for n in range(len(getattr(region, f"{kind}s")))]
    rows: list[str] = []
    sizes: list[int] = []
    for border, what in zip(borders, words, strict=True):
        rows.append(_row(region.name, border, what, len(sizes)))
        sizes += border.shape
    lines = textwrap.wrap(", ".join(f"{size}u" for size in sizes), WIDTH - 4)
    queue = next((queue for queue in queues if task in queue.tasks), None)
    return RegionView(
        number=number,
        name=region.name,
        heading=comment(title, _detail(region)),
        dims=tuple(lines),
        tensors=tuple(rows),
        inputs=len(region.inputs),
        outputs=len(region.outputs),
        constants=len(region.constants),
        code=region.array,
        code_bytes=region.code_bytes,
        load=region.code.load,
        run=region.code.run,
        unload=region.code.unload,
        queue="" if queue is None else queue.name,
        position=0 if queue is None else queue.tasks.index(task) + 1,
    )


def _detail(region: LoweredRegion) -> str:
    """Nodes, code and constants in words."""
    words = [_count(len(region.region.nodes), "node"), f"{REGION_FORMATS[region.code.format]} code"]
    words.append(f"{_count(len(region.constants), 'constant')}, {region.constant_bytes} bytes")
    return "; ".join(words)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _row(name: str, border: BorderTensor, what: str, first: int) -> str:
    """A tensor as an initialiser; ``first``: position of its sizes in the region's array of sizes."""
    dims = f"{name}_dims + {first}" if border.shape else "NULL"
    fields = (f"{border.element_type}u", f"{len(border.shape)}u", dims, border.array or "NULL")
    shape = "x".join(map(str, border.shape)) or "scalar"
    return noted(f"{{{', '.join(fields)}}},", f"{what}: {shape}", indent=4)


def prototypes(regions: Iterable[RegionView]) -> tuple[str, ...]:
    """Declarations of the functions that load, run and unload regions, each once."""
    found: dict[str, None] = {}
    for region in regions:
        found[f"int {region.load}(const match_region_t *region, void **handle);"] = None
        found[f"int {region.run}(void *handle, const void *const *in, void *const *out, void *scratch);"] = None
        found[f"void {region.unload}(void *handle);"] = None
    return tuple(found)
