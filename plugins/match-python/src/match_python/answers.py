"""Results of quantize, verify and targets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, overload

from match_python.tables import Tabular

if TYPE_CHECKING:
    import numpy as np
    import onnx
    from match_quant.losses import Distance
    from match_quant.search import Trial
    from match_quant.static import Scheme
    from match_quant.wider import LayerLoss
    from match_verify.judge import AccuracyError, OutputLoss
    from match_verify.labels import LabelCheck
    from match_verify.layers import LayerNoise
    from match_verify.outputs import OutputCheck
    from numpy.typing import NDArray

    from match_python.headline import Headline
    from match_python.program import Program, Run


@dataclass(frozen=True)
class QuantizedModel(Tabular):
    """A quantised network, as a proto and, if ``output`` was given, as a file.

    ``distances``: differences of each output from the float network, over ``compared`` of the ``samples`` (with a
    search, those that did not determine ranges); ``scheme``: how ranges and scales were chosen; ``trials`` of a search;
    ``losses``: what each layer loses if it alone is in 8 bits, the one that loses most first; ``wider``: layers that
    stay in float; ``labels``: both networks against the labels; ``notes``: how samples were read."""

    model: onnx.ModelProto = field(repr=False)
    output: Path | None
    samples: int
    compared: int
    distances: tuple[Distance, ...]
    scheme: Scheme
    trials: tuple[Trial, ...]
    losses: tuple[LayerLoss, ...]
    wider: tuple[LayerLoss, ...]
    labels: tuple[LabelCheck, ...]
    notes: tuple[str, ...]

    def summary(self) -> str:
        """The worst difference and the agreement."""
        worst = max(self.distances, key=lambda d: d.mean_abs / max(d.largest, 1e-30))
        same = "" if worst.top1_agreement is None else f", same largest element in {worst.top1_agreement:.1%}"
        return (
            f"int8 network: {worst.name} differs by {worst.mean_abs:.3g} on average (largest value "
            f"{worst.largest:.3g}){same} of {self.compared} samples"
        )

    def rows(self) -> list[dict[str, object]]:
        """The differences of each output."""
        return [
            {
                "output": d.name,
                "largest difference": d.max_abs,
                "mean difference": d.mean_abs,
                "largest value": d.largest,
                "SQNR (dB)": d.sqnr_db,
                "same top-1": d.top1_agreement,
            }
            for d in self.distances
        ]


@dataclass(frozen=True)
class Verification(Tabular):
    """The comparison of a program on the twin with its integer graph and the original model.

    ``ok``: the program computes the integer graph and is close enough to the original; ``bit_exact``: every output
    equals the integer graph's; ``outputs`` and ``losses``: the comparison of each output with either; ``error``: the
    limit that does not hold (MATCH-V001), None if all do; ``labels``: the original and the program against the labels;
    ``layers``: the noise of each layer, None if it was not measured; ``falls_at``: the layer where the accuracy falls,
    if one does; ``notes``: how samples were read; ``run``: outputs and cycles."""

    headline: Headline
    ok: bool
    bit_exact: bool
    samples: int
    outputs: tuple[OutputCheck, ...]
    losses: tuple[OutputLoss, ...]
    error: AccuracyError | None
    labels: tuple[LabelCheck, ...]
    layers: tuple[LayerNoise, ...] | None
    falls_at: LayerNoise | None
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    program: Program = field(repr=False)
    run: Run = field(repr=False)

    @property
    def cycles(self) -> int:
        """Cycles of one inference on the twin."""
        return self.run.cycles

    @property
    def arrays(self) -> Mapping[str, NDArray[np.generic]]:
        """The program's outputs by name, first axis the sample."""
        return self.run.outputs

    def summary(self) -> str:
        """Whether the program is right, and its cycles."""
        exact = "bit exact" if self.bit_exact else "within its bounds" if self.ok or self.error else "wrong"
        verdict = "ok" if self.ok else "not ok"
        lost = "" if self.error is None else f", {self.error.why}"
        return f"{verdict}: {self.program.name} on {self.program.target} is {exact}, {self.cycles:,} cycles{lost}"

    def rows(self) -> list[dict[str, object]]:
        """One row for each output."""
        losses = {loss.name: loss for loss in self.losses}
        return [
            {
                "output": o.name,
                "bit exact": o.bit_exact,
                "largest distance": o.max_abs_lsb,
                "mean distance": o.mean_abs_lsb,
                "SQNR (dB)": losses[o.name].sqnr_db if o.name in losses else None,
                "agreement": losses[o.name].agreement if o.name in losses else None,
            }
            for o in self.outputs
        ]


@dataclass(frozen=True, slots=True)
class Target:
    """An installed target: its package with version, units, (memory, bytes), presets (the default first), and the clock
    in Hz, None if it states none."""

    name: str
    description: str
    package: str
    units: tuple[str, ...]
    memories: tuple[tuple[str, int], ...]
    presets: tuple[str, ...]
    clock_hz: float | None


@dataclass(frozen=True)
class Targets(Tabular, Sequence[Target]):
    """The installed targets by name: a sequence that also takes names as index."""

    targets: tuple[Target, ...]

    @overload
    def __getitem__(self, index: int | str) -> Target: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Target, ...]: ...
    def __getitem__(self, index: int | str | slice) -> Target | tuple[Target, ...]:
        """By position or name. IndexError or KeyError if there is none."""
        if isinstance(index, str):
            return {target.name: target for target in self.targets}[index]
        return self.targets[index]

    def __len__(self) -> int:
        return len(self.targets)

    def __iter__(self) -> Iterator[Target]:
        return iter(self.targets)

    def summary(self) -> str:
        """Their names."""
        return f"{len(self.targets)} targets: {', '.join(target.name for target in self.targets)}"

    def rows(self) -> list[dict[str, object]]:
        """One row for each target."""
        return [
            {
                "target": target.name,
                "package": target.package,
                "units": ", ".join(target.units),
                "memories": ", ".join(f"{name} {size / 1024:,.0f} KiB" for name, size in target.memories),
                "clock (MHz)": None if target.clock_hz is None else target.clock_hz / 1e6,
            }
            for target in self.targets
        ]
