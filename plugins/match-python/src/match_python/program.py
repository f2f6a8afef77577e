"""A compiled program: what runs where, in how many cycles and bytes; and what can be done with it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from match_python.files import named
from match_python.headline import Headline, MemoryUse, headline_of
from match_python.session import plugin_session
from match_python.tables import Tabular

if TYPE_CHECKING:
    import numpy as np
    from match_core.contract.compilation import Compilation
    from match_core.contract.hardware import Soc
    from match_core.contract.runner import NodeCycles
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True)
class Layer:
    """One step of the program: a title for tables, the source nodes, its unit and pattern, the number of tiles, and
    modelled cycles."""

    title: str
    onnx_names: tuple[str, ...]
    unit: str
    pattern: str
    tiles: int
    predicted_cycles: int


@dataclass(frozen=True, slots=True)
class Run(Tabular):
    """A run on the twin. ``outputs`` by name, with a sample axis if the inputs have one; ``cycles`` of one inference
    (the first sample), also by unit and by layer."""

    outputs: Mapping[str, NDArray[np.generic]]
    cycles: int
    cycles_by_unit: Mapping[str, int]
    layers: tuple[NodeCycles, ...]

    def summary(self) -> str:
        """Outputs and cycles."""
        return f"{', '.join(self.outputs)}: {self.cycles:,} cycles of one inference on the twin"

    def rows(self) -> list[dict[str, object]]:
        """Cycles of each layer, on the twin and modelled."""
        return [
            {"layer": n.title, "unit": n.unit, "cycles": n.cycles, "predicted cycles": n.predicted_cycles}
            for n in self.layers
        ]


@dataclass(frozen=True)
class Program(Tabular):
    """A compiled program. ``predicted_cycles`` of one inference; ``milliseconds`` at the target's clock, None if it has
    none; ``sequential_cycles``: modelled cycles with one unit at a time, None if that does not fit; ``output``: the
    folder that holds the files, None if none was given; ``compilation``: all decisions of the compiler."""

    headline: Headline
    name: str
    target: str
    preset: str
    predicted_cycles: int
    milliseconds: float | None
    sequential_cycles: int | None
    layers: tuple[Layer, ...]
    memory: tuple[MemoryUse, ...]
    notes: tuple[str, ...]
    output: Path | None
    compilation: Compilation = field(repr=False, compare=False)

    def summary(self) -> str:
        """Target, time and the fullest memory."""
        time = "" if self.milliseconds is None else f" ({self.milliseconds:.3g} ms)"
        fullest = max(self.memory, key=lambda use: use.used_bytes / max(1, use.available_bytes), default=None)
        full = "" if fullest is None else f", {fullest.name} {fullest.used_bytes / max(1, fullest.available_bytes):.0%}"
        return f"{self.name} on {self.target}: {self.predicted_cycles:,} modelled cycles{time}{full}"

    def rows(self) -> list[dict[str, object]]:
        """The layers in order."""
        return [
            {
                "layer": layer.title,
                "unit": layer.unit,
                "pattern": layer.pattern,
                "tiles": layer.tiles,
                "predicted cycles": layer.predicted_cycles,
            }
            for layer in self.layers
        ]

    @property
    def files(self) -> Mapping[str, bytes]:
        """The files of the program by name."""
        return {file.name: file.content for file in self.compilation.sources.files}

    def write(self, output: str | PathLike[str]) -> Path:
        """Write all files to a folder, or none. An existing folder is replaced only if it holds a program of match:
        UsageError MATCH-U010 otherwise, MATCH-U011 if it cannot be written."""
        from match_core.emit.write import check_output_directory, write_sources

        folder = Path(output)
        check_output_directory(folder)
        write_sources(self.compilation.sources, folder)
        return folder

    def run(self, inputs: Mapping[str, ArrayLike], sanitize: bool = False) -> Run:
        """Build the program for the target's twin and run all samples. ``inputs``: by name, with or without a leading
        sample axis. UsageError MATCH-U041 to U044 for wrong arrays, ToolError MATCH-T0xx if building or running fails.
        """
        import numpy as np
        from match_core.run.compiled_program import run_program

        arrays = {name: np.asarray(array) for name, array in named(inputs, "inputs").items()}
        with plugin_session() as plugins, self._folder() as folder:
            result = run_program(folder, arrays, plugins, sanitize)
        return Run(result.outputs, result.cycles_total, result.cycles_by_unit, result.nodes)

    def report(
        self, output: str | PathLike[str], inputs: Mapping[str, ArrayLike] | None = None, *, twin: bool = False
    ) -> Path:
        """Write the report of ``match report``; returns the path of its page. It has cycles of a run on the twin with
        ``inputs``, or with generated ones if ``twin`` is True."""
        import numpy as np
        from match_report.read import read_report
        from match_report.render import write_report
        from match_report.twin_run import with_measured

        with plugin_session() as plugins, self._folder() as folder:
            document = read_report(folder)
            if twin or inputs is not None:
                given = {} if inputs is None else named(inputs, "inputs")
                arrays = {name: np.asarray(array) for name, array in given.items()}
                document = with_measured(document, folder, arrays or None, plugins)
            write_report(document, Path(output))
        return Path(output) / "report.html"

    @contextmanager
    def _folder(self) -> Iterator[Path]:
        if self.output is not None:
            yield self.output
            return
        with tempfile.TemporaryDirectory(prefix="match-program-") as temporary:
            yield self.write(Path(temporary) / "program")


def program_of(compilation: Compilation, output: Path | None, named: str | None) -> Program:
    """The typed view of a compilation. ``named``: the target as the user named it."""
    from match_core.ir.titles import source_operators, task_title
    from match_core.summary.document import report_document

    program, model = compilation.program, compilation.model
    operators = source_operators(compilation.source)
    layers = tuple(
        Layer(
            task_title(model, operators, assignment),
            model.origin(assignment.candidate.match.nodes),
            assignment.candidate.unit,
            assignment.candidate.pattern.name,
            assignment.schedule.steps,
            assignment.schedule.cost.total_cycles,
        )
        for assignment in (task.assignment for task in program.tasks)
    )
    return Program(
        headline=headline_of(report_document(compilation, {}), named),
        name=model.name,
        target=compilation.soc.name,
        preset=compilation.soc.preset,
        predicted_cycles=program.predicted_cycles,
        milliseconds=milliseconds(program.predicted_cycles, compilation.soc),
        sequential_cycles=compilation.sequential_cycles,
        layers=layers,
        memory=tuple(MemoryUse(use.memory, use.used_bytes, use.available_bytes) for use in program.memory),
        notes=compilation.notes,
        output=output,
        compilation=compilation,
    )


def milliseconds(cycles: int, soc: Soc) -> float | None:
    """Time at the target's clock; None if it states none."""
    return None if soc.clock_hz is None else 1000 * cycles / soc.clock_hz.value
