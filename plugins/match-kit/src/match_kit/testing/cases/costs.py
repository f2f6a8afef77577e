"""Level ``costs``: costs that can be compared. Tiles are those of the sample models' workloads, halved repeatedly."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from match_kit.testing.findings import Case, Finding

if TYPE_CHECKING:
    from match_core.contract.cost import CostModel
    from match_core.contract.hardware import Unit
    from match_core.contract.workload import Workload

    from match_kit.testing.subject import Subject

LEVEL = "costs"
Sizes = NDArray[np.int64]
#: The most tile sizes of a dimension that a case tests.
_SIZES_MAX = 6


@dataclass(frozen=True)
class _Priced:
    """A pattern's cost model with a workload."""

    part: str
    unit: Unit
    model: CostModel
    workload: Workload

    @property
    def whole(self) -> dict[str, Sizes]:
        """One tile: the whole workload."""
        return {dim.name: np.array([dim.size], np.int64) for dim in self.workload.dims}

    def grown(self, name: str) -> dict[str, Sizes]:
        """Tiles with growing allowed sizes in one dimension and whole sizes in the others."""
        dim = self.workload.dim(name)
        sizes = {dim.size}
        while dim.tileable and len(sizes) < _SIZES_MAX and min(sizes) // 2 >= dim.granularity:
            sizes.add(min(sizes) // 2 // dim.granularity * dim.granularity)
        tile = {other: np.repeat(values, len(sizes)) for other, values in self.whole.items()}
        return {**tile, name: np.array(sorted(sizes), np.int64)}

    def functions(self) -> Iterator[tuple[str, Callable[[Mapping[str, Sizes]], Sizes]]]:
        """The functions of tiles."""
        yield "kernel_cycles", lambda tile: self.model.kernel_cycles(self.workload, tile)
        yield "launch_cycles", lambda tile: self.model.launch_cycles(self.workload, tile)


def _priced(subject: Subject) -> Iterator[_Priced]:
    """Each distinct workload of each pattern of the package's units."""
    by_name = {unit.name: unit for unit in subject.units}
    seen = set()
    for model in subject.models:
        for candidate in subject.prepared(model).candidates.legal:
            key = (candidate.unit, candidate.pattern.name, candidate.workload)
            if candidate.unit in by_name and not candidate.pattern.view and key not in seen:
                seen.add(key)
                unit = by_name[candidate.unit]
                part = f"match_cost, unit {unit.name}, pattern {candidate.pattern.name}"
                cost = subject.plugins.cost(subject.soc, unit, candidate.pattern)
                yield _Priced(part, unit, cost, candidate.workload)


def _integers(subject: Subject) -> Iterator[Finding]:
    for item in _priced(subject):
        for name, function in item.functions():
            for dim in item.workload.dims:
                tile = item.grown(dim.name)
                together = function(tile)
                count = len(tile[dim.name])
                if (
                    not isinstance(together, np.ndarray)
                    or together.shape != (count,)
                    or together.dtype.kind not in "iu"
                ):
                    yield Finding(f"{item.part}, {name}", f"for {count} tiles it returns {_shown(together)}")
                    break
                each = [
                    int(function({key: values[i : i + 1] for key, values in tile.items()})[0]) for i in range(count)
                ]
                if together.tolist() != each:
                    yield Finding(
                        f"{item.part}, {name}", "costs of tiles differ between one call for all and one call for each"
                    )
                if min(each) < 0:
                    yield Finding(f"{item.part}, {name}", f"it returns {min(each)} cycles")
        layer = item.model.layer_cycles(item.workload)
        if not isinstance(layer, (int, np.integer)) or layer < 0:
            yield Finding(f"{item.part}, layer_cycles", f"it returns {layer!r}")


def _monotone(subject: Subject) -> Iterator[Finding]:
    least = subject.capabilities.slow_below
    for item in _priced(subject):
        if item.workload.macs == 0:  # moving more bytes may be faster if they make whole words
            continue
        for dim in item.workload.dims:
            tile = item.grown(dim.name)
            regular = tile[dim.name] >= min(least.get(item.unit.name, 1), dim.size)
            tile = {name: sizes[regular] for name, sizes in tile.items()}
            cycles = item.model.kernel_cycles(item.workload, tile)
            for small, large in zip(range(len(cycles) - 1), range(1, len(cycles)), strict=True):
                if cycles[large] < cycles[small]:
                    sizes = tile[dim.name]
                    yield Finding(
                        f"{item.part}, kernel_cycles",
                        f"{dim.name} {sizes[small]} costs {cycles[small]} cycles; {sizes[large]} costs {cycles[large]}",
                    )


def _rooflines(subject: Subject) -> Iterator[Finding]:
    peaks = subject.capabilities.peak_macs_per_cycle
    for unit in subject.units:
        if unit.name not in peaks:
            yield Finding(f"unit {unit.name}", "its peak_macs_per_cycle is not stated", "skip")
    for item in _priced(subject):
        peak = peaks.get(item.unit.name)
        if peak is None:
            continue
        cycles = int(item.model.kernel_cycles(item.workload, item.whole)[0])
        if cycles * peak < item.workload.macs:
            yield Finding(
                f"{item.part}, kernel_cycles",
                f"{item.workload.macs} multiply-accumulates in {cycles} cycles exceed {peak:g} per cycle",
            )


def _transfers(subject: Subject) -> Iterator[Finding]:
    from match_core.contract.cost import TransferShape

    soc = subject.soc
    row_bytes, rows, planes = (
        np.array(sizes, np.int64) for sizes in ((64, 256, 256, 4096), (1, 1, 16, 16), (1, 1, 2, 2))
    )
    seen = set()
    for item in _priced(subject):
        near = item.unit.memory
        link = soc.link_between(near, soc.home) if near is not None else None
        if near is None or link is None or (item.unit.name, item.model.name) in seen:
            continue
        seen.add((item.unit.name, item.model.name))
        for direction in ("in", "out"):
            shape = TransferShape(direction, row_bytes, rows, planes, soc.home, near)
            cycles = item.model.transfer_cycles(item.workload, shape)
            part = f"{item.part}, transfer_cycles"
            for name in ("issue", "data", "wait"):
                values = getattr(cycles, name)
                if values.shape != rows.shape or values.dtype.kind not in "iu" or values.min() < 0:
                    yield Finding(part, f"{name} of {len(rows)} copies is {_shown(values)}")
            busy = cycles.data + cycles.issue
            least = row_bytes * rows * planes / (link.bytes_per_cycle * link.channels)
            for index in np.nonzero(busy < np.floor(least))[0]:
                moved = int((row_bytes * rows * planes)[index])
                yield Finding(part, f"{moved} bytes in {busy[index]} cycles exceed the rate of link {link.name}")
            if (np.diff(busy) < 0).any():
                yield Finding(part, f"larger copies cost less: {busy.tolist()}")


def _shown(values: object) -> str:
    if isinstance(values, np.ndarray):
        return f"{values.dtype} of shape {values.shape}, least {values.min() if values.size else 'none'}"
    return f"a {type(values).__name__}"


CASES = (
    Case(LEVEL, "integers", "costs are whole, non-negative cycles, equal for one call or several", _integers),
    Case(LEVEL, "monotone", "more multiply-accumulates never cost fewer cycles", _monotone),
    Case(LEVEL, "rooflines", "no kernel exceeds the stated peak rate", _rooflines),
    Case(LEVEL, "transfers", "no copy exceeds the rate of its link", _transfers),
)
