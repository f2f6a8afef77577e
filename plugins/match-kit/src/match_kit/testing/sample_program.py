"""The program of a sample model: compiled once, built once per variant, run in every mode."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from match_core.contract.compilation import Compilation
    from match_core.contract.runner import RunResult
    from match_core.plugin.facade import Plugins
    from match_verify.first_difference import FirstDifference
    from match_verify.float_bounds import FloatBound

    from match_kit.testing.capabilities import SampleModel

Arrays = Mapping[str, NDArray[np.generic]]


@dataclass
class SampleProgram:
    """``directory`` holds the emitted program, ``work`` its builds."""

    compilation: Compilation
    directory: Path
    work: Path
    plugins: Plugins
    _built: dict[bool, Path] = field(default_factory=dict)
    _runs: dict[str, RunResult] = field(default_factory=dict)

    @property
    def digests(self) -> dict[str, str]:
        """Digest of every emitted file."""
        return {file.name: file.sha256 for file in self.compilation.sources.files}

    @cached_property
    def document(self) -> dict[str, Any]:
        """The manifest."""
        from match_core.run.compiled_program import read_manifest

        return read_manifest(self.directory)

    @property
    def units(self) -> frozenset[str]:
        """The units that run a layer."""
        return frozenset(node["unit"] for node in self.document["nodes"] if node["emitted"])

    @cached_property
    def inputs(self) -> Arrays:
        """Seeded samples."""
        from match_verify.verify import random_inputs

        return random_inputs(self.compilation.model)

    @cached_property
    def expected(self) -> Arrays:
        """The outputs of the integer graph in ONNX Runtime for these inputs."""
        from match_verify.verify import reference_outputs

        return reference_outputs(self.compilation.model, self.inputs, self._samples)

    @property
    def _samples(self) -> int:
        return len(next(iter(self.inputs.values()), ()))

    def executable(self, threads: bool = False) -> Path:
        """The program with its twin, strictly compiled: ToolError MATCH-T002 if the compiler warns."""
        from match_core.run.build import build
        from match_core.run.compiled_program import units_of_program
        from match_core.run.compiler import BuildOptions

        if threads not in self._built:
            host, apis = units_of_program(self.document, self.plugins)
            work = self.work / ("threads" if threads else "plain")
            self._built[threads] = build(self.directory, work, apis, host, BuildOptions(threads=threads))
        return self._built[threads]

    def run(self, mode: str) -> RunResult:
        """What the twin computes and counts in a mode; once. ToolError MATCH-T002 or T003."""
        from match_core.run.execute import run_twin
        from match_core.run.modes import is_threads

        if mode not in self._runs:
            executable = self.executable(is_threads(mode))
            arguments = (executable, self.document, self.inputs, executable.parent, mode)
            self._runs[mode] = run_twin(*arguments, timeout_seconds=120)
        return self._runs[mode]

    def wrong(self, mode: str) -> Iterator[str]:
        """Differences from the integer graph in a mode of the twin; empty if the program is right. ToolError MATCH-T003
        if it breaks a rule of the hardware."""
        from match_core.run.modes import is_threads
        from match_verify.float_bounds import float_bounds
        from match_verify.outputs import compare_output

        run = self.run(mode)
        bounds: Mapping[str, FloatBound] = float_bounds(self.compilation.model.graph, self.compilation.program)
        for name, bound in bounds.items():
            wanted = self.expected[name]
            check = compare_output(name, run.outputs[name], wanted, wanted, bound)
            if not check.within_bound:
                first = None if is_threads(mode) else self._first_difference(mode)
                yield f"output {name} is not {check.bound}: it differs by up to {check.worst_difference:g}" + (
                    f"; {first}" if first else ""
                )
                if first:  # the other outputs have the same cause
                    return

    def _first_difference(self, mode: str) -> FirstDifference | None:
        from match_verify.first_difference import first_difference

        work = self.work / f"first-{mode.replace(':', '-')}"
        return first_difference(self.compilation, self.directory, self.inputs, self.plugins, work, mode)


def compile_sample(
    model: SampleModel, path: Path, target: str, folder: Path, plugins: Plugins, without_units: tuple[str, ...]
) -> SampleProgram:
    """Compile a sample model, whose file is ``path``, for a target; the program gets its own folder in ``folder``."""
    from match_core.pipeline import CompileRequest, compile_model

    work = folder / "-".join((target, model.name, *without_units))
    work.mkdir(parents=True, exist_ok=True)
    request = CompileRequest(
        model=path,
        target=target,
        output=work / "program",
        without_units=without_units,
        precision=model.precision,
    )
    compilation = compile_model(request, plugins).compilation
    return SampleProgram(compilation, work / "program", work, plugins)
