"""The regions of a program: their views, their files, and their entries in the manifest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from match_core.contract.unit_api import RuntimeFile
from match_core.emit.region_views import code_views, prototypes, region_view
from match_core.ir.naming import comment_text
from match_core.lower.sections import constant_section

if TYPE_CHECKING:
    from match_core.emit.tasks import EmitRequest
    from match_core.emit.view import TaskView


class ProgramRegions:
    """``tasks``: views of the tasks that have code."""

    def __init__(self, request: EmitRequest, tasks: Sequence[TaskView]) -> None:
        self.request, self.name = request, request.model.name
        self.lowered = tuple(
            (task, lowered.region)
            for task, lowered in zip(request.program.tasks, request.lowered, strict=True)
            if lowered is not None and lowered.region is not None
        )
        titles = {task.index: f"{task.title} on {task.unit}" for task in tasks}
        self.views = tuple(
            region_view(number, region, titles[task.index], request.program.queues, task.index)
            for number, (task, region) in enumerate(self.lowered)
        )
        self.prototypes = prototypes(self.views)

    def files(self, render: Callable[..., str]) -> dict[str, str]:
        """Tables and code, empty without regions; code in C is a separate file; JSON text is also written as a file for
        readers. ``render`` renders the template with tables and code, with further values."""
        if not self.views:
            return {}
        section = constant_section(self.name, self.request.program.soc)
        codes = code_views(self.request.pool, comment_text, section)
        size = sum(len(content) for _, content, _ in self.request.pool.codes)
        files = {f"{self.name}_regions.c": render("model_regions.c.mako", codes=codes, code_bytes=size)}
        for task, region in self.lowered:
            if region.code.format == "c":
                files[f"{region.name}.c"] = region.code.content.decode("utf-8")
            elif region.code.format == "json":
                files[f"{self.name}_region_{task.index:02d}.json"] = region.code.content.decode("utf-8")
        return files

    def for_images(self, runtime: Mapping[str, tuple[RuntimeFile, ...]]) -> dict[str, tuple[RuntimeFile, ...]]:
        """Runtime files by unit, plus the regions' code in C, which the host loads and the unit runs."""
        found = dict(runtime)
        for task, region in self.lowered:
            if region.code.format == "c":
                found[task.assignment.candidate.unit] += (RuntimeFile(f"{region.name}.c", ""),)
        return found

    def manifest(self) -> list[dict[str, object]]:
        """An entry for each region."""
        return [
            {
                "name": region.name,
                "node": task.index,
                "unit": task.assignment.candidate.unit,
                "format": region.code.format,
                "code_bytes": region.code_bytes,
                "constants": len(region.constants),
                "constant_bytes": region.constant_bytes,
                "nodes": len(region.region.nodes),
                "inputs": len(region.inputs),
                "outputs": len(region.outputs),
                "scratch_bytes": region.code.scratch_bytes,
            }
            for task, region in self.lowered
        ]
