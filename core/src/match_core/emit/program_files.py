"""From the planned program to source files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from match_core.contract.geometry import round_up
from match_core.contract.sources import SourceFile
from match_core.contract.unit_api import (
    BuildImage,
    BuildNode,
    BuildRequest,
    InlineCode,
    Kernel,
    RegionKernel,
    RuntimeFile,
    SwapApi,
)
from match_core.emit.images import images
from match_core.emit.memory_views import arena_views, store_views, swap_area_views, tensor_views
from match_core.emit.places import Places
from match_core.emit.queues import QueueWriter
from match_core.emit.region_files import ProgramRegions
from match_core.emit.region_views import region_header
from match_core.emit.shipped import by_name
from match_core.emit.stack import stack_bytes
from match_core.emit.swaps import copies_of
from match_core.emit.tasks import EmitRequest, TaskWriter
from match_core.ir.naming import comment_text
from match_core.lower.interfaces import context_header
from match_core.lower.sections import code_section, constant_section
from match_core.lower.templates import Templates

if TYPE_CHECKING:
    from match_core.contract.program import Task

#: Where applications are, and the core's own.
EXAMPLE_FOLDER = "example"
EXAMPLE = f"{EXAMPLE_FOLDER}/main.c"

__all__ = ["EmitRequest", "ProgramEmitter"]


class ProgramEmitter:
    """Emits one program. One instance per program; ``emit`` returns all files except the manifest."""

    def __init__(self, request: EmitRequest) -> None:
        self.request = request
        self.name = request.model.name
        self.guard = self.name.upper()
        self.soc = request.program.soc
        self.templates = Templates()
        self.arenas = arena_views(request.program)
        ends = {**request.stated, **request.model.quantised_ends}
        self.inputs = tensor_views(request.model.graph.inputs, request.program, "in", ends, request.model.states)
        self.outputs = tensor_views(request.model.graph.outputs, request.program, "out", ends)
        self.stores = store_views(request.program, self.name, request.pool.image)
        self.swap_areas = swap_area_views(request.program)
        self.copies = copies_of(request.program, request.apis)
        places = Places(
            request.program,
            self.arenas,
            {view.name: view for view in self.inputs},
            {view.name: view for view in self.outputs},
        )
        writer = TaskWriter(request, places)
        self.tasks = tuple(
            writer.view(task, lowered)
            for task, lowered in zip(request.program.tasks, request.lowered, strict=True)
            if lowered is not None
        )
        self.bases = places.bases
        self.queues = QueueWriter(request, places, {task.index: task for task in self.tasks}).write()
        self.regions = ProgramRegions(request, self.tasks)

    def emit(self) -> tuple[SourceFile, ...]:
        """All files of the program, sorted by name."""
        constants = self.request.pool.views(comment_text, constant_section(self.name, self.soc))
        common = {
            "name": self.name,
            "guard": self.guard,
            "arenas": self.arenas,
            "inputs": self.inputs,
            "outputs": self.outputs,
            "stores": self.stores,
            "swap_areas": self.swap_areas,
            "home": self.soc.home,
            "queues": self.queues,
            "bases": self.bases,
            "regions": self.regions.views,
            "const_sections": (constant_section(self.name, self.soc),),
            "code_sections": {unit: code_section(self.name, unit) for unit in self._files()},
        }
        main, pool = "model_queues.c.mako" if self.queues else "model.c.mako", self.request.pool
        named = {"tasks": self.tasks, "constants": constants, "prototypes": self.regions.prototypes}
        files = {
            f"{self.name}.c": self._render(main, **common, **self._run_view()),
            f"{self.name}_port.h": self._render("model_port.h.mako", **common),
            f"{self.name}_tasks.h": self._render("model_tasks.h.mako", **common, **named),
            f"{self.name}_weights.c": self._render(
                "model_weights.c.mako", **common, **named, total_bytes=pool.size_bytes
            ),
            "match_runtime.h": self._render("match_runtime.h.mako"),
            EXAMPLE: self._render("example_main.c.mako", **common),
        }
        for unit in self._files():
            files[f"{self.name}_{unit}.c"] = self._unit_file(unit)
        files.update(self.regions.files(lambda name, **view: self.templates.render(name, {**common, **view})))
        shipped = by_name("runtime file", (file for unit in self._shipped_units() for file in self._runtime(unit)))
        files.update((file.name, file.text) for file in shipped.values())
        if any('"match_float.h"' in text for text in files.values()):
            files["match_float.h"] = self._render("match_float.h")
        c_files = self.c_files(files)
        apis = [self.request.apis[unit] for unit in self._shipped_units()]
        links = {"libraries": _unique(name for api in apis for name in api.libraries)}
        build = {"name": self.name, "c_files": c_files, **links, "folders": _unique(f for a in apis for f in a.folders)}
        files["Makefile"] = self._render("Makefile.mako", **build)
        files["CMakeLists.txt"] = self._render("CMakeLists.txt.mako", **build)
        stack = stack_bytes(files[name] for name in c_files if name != f"{self.name}_weights.c")
        content = {name: text.encode("utf-8") for name, text in files.items()}
        content.update({store.file: pool.image for store in self.stores})
        parts = (content[name] for name in sorted(content) if name.endswith((".c", ".h", ".bin")) and "/" not in name)
        digest = hashlib.sha256(b"".join(parts)).hexdigest()
        facts = {"model": self.request.model, "soc": self.soc, "version": self.request.version}
        header = self._render("model.h.mako", **common, **facts, stack_bytes=stack, program_sha256=digest)
        content[f"{self.name}.h"] = header.encode("utf-8")
        for name, text in self._build_files({name: files[name] for name in c_files}).items():
            content[name] = text.encode("utf-8")
        return tuple(SourceFile(name, content[name]) for name in sorted(content))

    def _render(self, template: str, **view: object) -> str:
        return self.templates.render(template, view)

    def _units(self) -> tuple[str, ...]:
        return tuple(sorted({task.unit for task in self.tasks}))

    def _files(self) -> tuple[str, ...]:
        """The units that have a C file, including the host if it only hands tasks to other units."""
        return tuple(sorted({*self._units(), *(queue.name for queue in self.queues if queue.kind == "host")}))

    def _shipped_units(self) -> tuple[str, ...]:
        """The units whose runtime files the program includes; in a concurrent program also the host, which waits; in a
        sequential one also a unit that the host copies with."""
        waiting = {self.soc.host} if self.queues and self.soc.host in self.request.apis else set()
        busy = {unit for task in self.request.program.tasks for unit in task.assignment.candidate.pattern.occupies}
        copying = sorted(name for name, api in self.request.apis.items() if api.swap == self.copies)
        return tuple(sorted({*self._units(), *waiting, *busy, *(copying[:1] if self.copies is not None else ())}))

    def _runtime(self, unit: str) -> tuple[RuntimeFile, ...]:
        api, kernels = self.request.apis[unit], self._kernels(unit)
        headers = {kernel.interface.kind: context_header(kernel.interface) for kernel in kernels}
        shipped = [header for code in self._inline(unit) for header in code.headers]
        shipped += [file for kernel in kernels for file in kernel.files]
        shipped += self.copies.files if self.copies is not None and api.swap == self.copies else ()
        if any(isinstance(kernel, RegionKernel) for kernel in api.kernels.values()):
            shipped.append(region_header())
        return (*api.runtime, *(headers[kind] for kind in sorted(headers)), *shipped)

    def _kernels(self, unit: str) -> tuple[Kernel, ...]:
        """The kernels of a unit that come with every program, and those that this program calls."""
        chosen = (task.assignment.candidate for task in self.request.program.tasks)
        called = {c.pattern.name for c in chosen if c.unit == unit}
        kernels = [(name, k) for name, k in self.request.apis[unit].kernels.items() if isinstance(k, Kernel)]
        return tuple(kernel for name, kernel in kernels if not kernel.files or name in called)

    def _inline(self, unit: str) -> tuple[InlineCode, ...]:
        """The inline kernels of a unit's tasks."""
        own = {task.function for task in self.tasks if task.unit == unit}
        return tuple(
            low.inline
            for low in self.request.lowered
            if low is not None and low.inline is not None and low.function in own
        )

    @property
    def state_bytes(self) -> int:
        """Bytes of a run's state on a machine with addresses of 64 bits."""
        handles = 8 * (len(self.regions.views) + 1)
        if not self.queues:
            return 8 * (max(1, len(self.inputs)) + len(self.outputs) + 2) + handles
        words = 3 + len(self.stores) + 2 * len(self.swap_areas)
        lines = 128 * len(self.queues) + 64 * len(self.regions.views)
        return round_up(lines + 8 * len(self.bases) + handles + 4 * words, 64)

    def c_files(self, names: Iterable[str]) -> tuple[str, ...]:
        """The C files of the library among these, in order."""
        return tuple(sorted(name for name in names if name.endswith(".c") and "/" not in name))

    def _build_files(self, sources: dict[str, str]) -> dict[str, str]:
        request = BuildRequest(
            name=self.name,
            guard=self.guard,
            sources=sources,
            arenas=self.arenas,
            stores=self.stores,
            inputs=self.inputs,
            outputs=self.outputs,
            nodes=tuple(self._nodes()),
            images=self.images(tuple(sources)),
            areas=self.swap_areas,
        )
        builds = [build for unit in self._shipped_units() if (build := self.request.apis[unit].build) is not None]
        return {
            f"{EXAMPLE_FOLDER}/{file.name}" if file.name in build.applications else file.name: file.text
            for build in builds
            for file in build.render(request)
        }

    def _nodes(self) -> Iterator[BuildNode]:
        for task, lowered in zip(self.request.program.tasks, self.request.lowered, strict=True):
            if lowered is not None:
                candidate = task.assignment.candidate
                yield BuildNode(task.index, candidate.unit, candidate.pattern.name, self.title(task))

    def title(self, task: Task) -> str:
        """The work of the task, in the source's names (not yet safe for C)."""
        return self.request.title(task.assignment)

    def images(self, sources: Sequence[str]) -> tuple[BuildImage, ...]:
        """The C files that each side requires if units are separate images; empty in a sequential program."""
        if not self.queues:
            return ()
        units = {queue.name: f"{self.name}_{queue.name}.c" for queue in self.queues if queue.kind == "unit"}
        runtime = {unit: self._runtime(unit) for unit in self._shipped_units()}
        return images(self.soc.host, units, self.regions.for_images(runtime), sources)

    def _run_view(self) -> dict[str, object]:
        units = self._shipped_units()
        platforms = [self.request.apis[unit].platform for unit in units]
        return {
            "tasks": self.tasks,
            "swap_api": self._swap_api(),
            "swap_wait": self.copies.wait if self.copies is not None else "",
            "units": self._units(),
            "cycles": self.request.program.predicted_cycles,
            "headers": self._headers(units),
            "platforms": tuple(dict.fromkeys((p.start, p.stop) for p in platforms)),
            "uses_home": any(arena.memory == self.soc.home for arena in self.arenas),
        }

    def _swap_api(self) -> SwapApi | None:
        if not any(queue.kind == "link" for queue in self.queues):
            return None
        apis = self.request.apis
        found = next((api.swap for name in sorted(apis) if (api := apis[name]).swap is not None), None)
        if found is None or not self.swap_areas:
            raise ValueError(f"{self.soc.name}: swaps without functions or without an area in the store")
        return found

    def _headers(self, units: tuple[str, ...]) -> tuple[str, ...]:
        files = [f for unit in units for k in self._kernels(unit) for f in k.files]
        files += self.copies.files if self.copies is not None else ()
        own = [file.name for file in files if file.name.endswith(".h")]
        return _unique((*(header for unit in units for header in self.request.apis[unit].headers), *own))

    def _unit_file(self, unit: str) -> str:
        common = {
            "name": self.name,
            "guard": self.guard,
            "unit": unit,
            "home": self.soc.home,
            "tasks": [task for task in self.tasks if task.unit == unit],
            "queue": next((queue for queue in self.queues if queue.name == unit), None),
            "stores": self.stores,
            "section": code_section(self.name, unit),
        }
        headers = self._headers((unit, *self._called(unit)))
        if self.request.apis[unit].memory is not None:
            return self._render("model_unit.c.mako", **common, headers=headers)
        codes = self._inline(unit)
        own = {"stddef.h"} if any(queue.has_calls for queue in self.queues if queue.name == unit) else set()
        helpers = dict(pair for code in codes for pair in code.helpers)
        return self._render(
            "model_inline.c.mako",
            **common,
            headers=_unique((*headers, *(h.name for code in codes for h in code.headers if h.name.endswith(".h")))),
            includes=sorted({*(include for code in codes for include in code.includes), *own} - {"stdint.h"}),
            helpers=tuple(helpers.values()),
        )

    def _called(self, unit: str) -> tuple[str, ...]:
        """The units to which this unit's queue hands tasks."""
        indices = {row.index for queue in self.queues if queue.name == unit for row in queue.rows}
        return tuple(sorted({task.unit for task in self.tasks if task.index in indices} - {unit}))


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    """The names that are not empty, without repeats, in order."""
    return tuple(dict.fromkeys(name for name in names if name))
