"""A network compiled for one task after another and for units side by side, on the twin or modelled only."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from match_core.contract.compilation import Compilation
from match_core.contract.errors import InfeasibleError, ToolError
from match_core.contract.mapping import Bounds, Parallel
from match_core.contract.observe import NullObserver
from match_core.contract.passes import Precision
from match_core.contract.runner import RunResult
from match_core.deploy.compile_options import CompileOptions, Execution
from match_core.pipeline import CompileRequest, build_program
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, verify_model
from numpy.typing import NDArray

from benchmarks.published import SIDE_BY_SIDE_GAIN, SIDE_BY_SIDE_PLATFORM
from benchmarks.runs import MODELS, NETWORKS

#: The networks of each target that can run units side by side.
NETWORKS_OF: Mapping[str, tuple[str, ...]] = {
    "carfield": tuple(SIDE_BY_SIDE_GAIN),
    "carfield_matcha": tuple(SIDE_BY_SIDE_GAIN),
    "carfield_poll": tuple(SIDE_BY_SIDE_GAIN),
    "gap9": tuple(f"mlperf_{name}_int8_qdq" for name in NETWORKS),
    "ita": tuple(f"ita_{name}_l1_int8_qdq" for name in ("dinov2", "mobilebert", "whisper")),
}
#: Sizes of a home memory that shrinks, in per cent of what the first program uses.
PARTS = (100, 90, 80, 70, 60, 50, 45, 40, 35, 30, 25, 20, 15, 10, 5)
ALIGNMENT = 64


@dataclass(frozen=True, slots=True)
class Case:
    """What is compiled, but for how its units run. ``preset`` None: the target's default; ``memory``: as in
    CompileOptions."""

    network: str
    target: str
    preset: str | None = None
    memory: tuple[tuple[str, int], ...] = ()
    precision: Precision = "exact"

    @property
    def published_gain(self) -> float | None:
        """Per cent that the paper reports, None where it reports none."""
        return SIDE_BY_SIDE_GAIN.get(self.network) if self.published_on else None

    @property
    def published_on(self) -> str | None:
        """What the paper's figures are of, None where there are none."""
        return SIDE_BY_SIDE_PLATFORM.get(self.target)


@dataclass(frozen=True, slots=True)
class Made:
    """One program. ``seconds``: to compile it; ``run``: None where it was not run; ``within_bound``: its outputs are
    what the integer graph gives (float ones within their bound), True where it was not run."""

    compilation: Compilation
    seconds: float
    run: RunResult | None = None
    within_bound: bool = True

    @property
    def modelled_cycles(self) -> int:
        """Of one inference."""
        return self.compilation.program.predicted_cycles

    @property
    def cycles(self) -> int:
        """On the twin; modelled where it was not run."""
        return self.modelled_cycles if self.run is None else self.run.cycles_total


@dataclass(frozen=True, slots=True)
class Pair:
    """A network ``before``: one task after another, on the best unit each, and with its units ``beside`` each other."""

    case: Case
    before: Made
    beside: Made

    @property
    def gain(self) -> float:
        """The part of the cycles that is saved."""
        return 1 - self.beside.cycles / self.before.cycles

    @property
    def bounds(self) -> Bounds | None:
        """None where the target has no programs with units side by side."""
        return self.beside.compilation.mapping.bounds

    @property
    def gain_bound(self) -> float | None:
        """The part of the cycles that can be saved at most."""
        return None if self.bounds is None else max(0.0, 1 - self.bounds.cycles / self.before.cycles)

    @property
    def kept(self) -> bool:
        """Whether the compiler takes the program with units side by side where it may choose."""
        uncertain = self.before.compilation.soc.uncertain_share("concurrent")
        return self.beside.modelled_cycles * (1 + uncertain) < self.before.modelled_cycles

    @property
    def equal(self) -> bool | None:
        """Whether all outputs of all samples are the same bytes; None where the programs were not run."""
        if self.before.run is None or self.beside.run is None:
            return None
        return same_outputs(self.before.run, self.beside.run)


def same_outputs(one: RunResult, two: RunResult) -> bool:
    """Whether all outputs of all samples are the same bytes."""
    return all(values.tobytes() == two.outputs[name].tobytes() for name, values in one.outputs.items())


@dataclass
class _Stopwatch(NullObserver):
    """Seconds until the program is emitted."""

    begun: float = field(default_factory=time.perf_counter)
    seconds: float = 0.0

    def stage_finished(self, name: str, facts: Mapping[str, int | float | str]) -> None:
        if name == "emit":
            self.seconds = time.perf_counter() - self.begun


def stored_networks() -> tuple[str, ...]:
    """The networks in ../shared/models that are more than one layer."""
    folders = sorted(path.parent.name for path in MODELS.glob("*/model.onnx"))
    return tuple(name for name in folders if not name.startswith("micro_"))


def stored(network: str, samples: int | None) -> dict[str, NDArray[np.generic]]:
    """The stored inputs of a network, or the first few of them."""
    with np.load(MODELS / network / "inputs.npz") as archive:
        return {key: archive[key][:samples] for key in archive.files}


def make(
    case: Case,
    execution: Execution,
    plugins: Plugins,
    samples: int | None = None,
    parallel: Parallel = "pipeline",
    run: bool = True,
    units: tuple[str, ...] = (),
) -> Made:
    """Compile, and run the stored samples unless ``run`` is False. ``samples`` None: all of them; ``units``: the only
    ones, all if empty."""
    model, watch = MODELS / case.network / "model.onnx", _Stopwatch()
    options = CompileOptions(
        preset=case.preset,
        memory=case.memory,
        precision=case.precision,
        execution=execution,
        parallel=parallel,
        only_units=units,
    )
    if not run:
        compilation = build_program(CompileRequest(model, case.target, **options.choices()), plugins, watch)
        return Made(compilation, watch.seconds)
    request = VerifyRequest(model=model, target=case.target, arrays=stored(case.network, samples), **options.choices())
    result = verify_model(request, plugins, watch)
    return Made(result.compilation, watch.seconds, result.run, result.ok)


def pair(case: Case, plugins: Plugins, samples: int | None = None, run: bool = True) -> Pair:
    """Both programs, whichever the compiler would keep."""
    before = make(case, "sequential", plugins, samples, run=run)
    return Pair(case, before, make(case, "concurrent", plugins, samples, run=run))


@dataclass(frozen=True, slots=True)
class Point:
    """A network with a home memory of ``size_bytes``. ``made`` None: it does not fit, or the twin stopped it (then
    ``same`` is False); ``failure`` says why. ``same``: whether its outputs are those with the whole memory, None where
    it was not run."""

    case: Case
    size_bytes: int
    made: Made | None
    failure: str = ""
    same: bool | None = None


def shrunk(case: Case, plugins: Plugins, run: bool = True, samples: int | None = None) -> Iterator[Point]:
    """The program that the compiler chooses, with the whole home memory, then with parts of what that program uses,
    until it does not fit."""
    full = make(case, "auto", plugins, samples, run=run)
    soc = full.compilation.soc
    yield Point(case, soc.memory(soc.home).size_bytes, full, same=None if full.run is None else True)
    used = next(use.used_bytes for use in full.compilation.program.memory if use.memory == soc.home)
    for part in PARTS:
        size = used * part // 100 // ALIGNMENT * ALIGNMENT
        try:
            made = make(replace(case, memory=((soc.home, size),)), "auto", plugins, samples, run=run)
        except InfeasibleError as error:
            yield Point(case, size, None, f"{error.code}: {error.why}")
            return
        except ToolError as error:
            yield Point(case, size, None, f"FAILURE: {error.code}: {error.why}", False)
            continue
        same = None if made.run is None or full.run is None else same_outputs(full.run, made.run)
        yield Point(case, size, made, same=same)
