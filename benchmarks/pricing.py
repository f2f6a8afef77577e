"""Cycles of all combinations of depths and buffers of one nest of loops at once.

The step formula of docs/scheduling.md, written a second time: numpy arrays with one axis per operand (its depths and
buffers) and one over the distinct steps of the nest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal

import numpy as np
from match_core.contract.cost import TransferShape
from match_core.contract.geometry import axis_levels
from match_core.contract.loops import ScheduleRequest, TileLoop
from match_core.contract.workload import Operand
from match_core.validate.schedule_pieces import parts_of, stored
from numpy.typing import NDArray

from benchmarks.kernel_turns import turns_of
from benchmarks.schedule_space import Choice, Space, dims_of, is_sum

Array = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Clock:
    """The core's time and the two channels of the link."""

    def __init__(self, now: Array) -> None:
        self.now = now
        self.ends = {False: np.zeros_like(now), True: np.zeros_like(now)}

    def issue(self, out: bool, present: Flags, issue: Array, data: Array) -> None:
        self.now = self.now + issue
        end = self.ends[out]
        self.ends[out] = np.where(present, np.maximum(end, self.now) + data, end)

    def finished(self, waits: Mapping[str, int]) -> Array:
        inward, outward = self.ends[False], self.ends[True]
        end = np.maximum(inward, outward)
        wait = np.where(inward == outward, max(waits.values()), np.where(inward > outward, waits["in"], waits["out"]))
        return np.where(end > self.now, end + wait, self.now)


@dataclass(frozen=True, slots=True)
class _Copies:
    """Copies of all pieces of an operand at one depth: cycles by piece, and bytes of the largest."""

    issue: Array
    data: Array
    bytes: int


class Pricer:
    """Prices all points of one nest after the other."""

    def __init__(self, request: ScheduleRequest, space: Space) -> None:
        self.request, self.space = request, space
        self.workload, self.model = request.workload, request.cost_model
        self.operands = request.workload.operands
        memory = request.unit.memory or ""
        self.near, self.alignment = memory, request.soc.memory(memory).alignment_bytes
        if self.model.overlap == "none" or request.streamed:
            raise ValueError("copies that block, and streamed operands, are not priced here")
        self.waits = {"in": self._wait("in"), "out": self._wait("out")}
        self.layer = self.model.layer_cycles(self.workload)
        self._copies: dict[object, _Copies] = {}
        self._is_legal: dict[object, bool] = {}
        self._calls: dict[object, tuple[Array, Array]] = {}

    def _wait(self, direction: Literal["in", "out"]) -> int:
        """The wait of a direction, which must be one number: only the last copy of a step counts."""
        sizes = np.array([1, 64, 4096], dtype=np.int64)
        far = self.request.soc.home
        parts = self.model.transfer_cycles(self.workload, TransferShape(direction, sizes, sizes, sizes, far, self.near))
        (wait,) = set(np.asarray(parts.wait).tolist())
        return int(wait)

    def price(self, loops: tuple[TileLoop, ...]) -> tuple[list[list[Choice]], Array] | None:
        """Choices of every operand, and the cycles of all their combinations (an axis per operand; -1 where they do
        not fit). None where no combination is legal."""
        whole = {dim.name: dim.size for dim in self.workload.dims}
        tile = {**whole, **{loop.dim: loop.tile for loop in loops}}
        choices, sizes = [], []
        for operand in self.operands:
            legal = [c for c in self.space.choices(operand, loops) if self._legal(operand, loops, c[0])]
            if not legal:
                return None
            choices.append(legal)
            sizes.append(np.array([self._bytes(operand, loops, *choice) for choice in legal]))
        scratch = sum(c * prod(tile[name] for name in names) for names, c in self.workload.scratch)
        total = np.array(self._up(scratch))
        for place, size in enumerate(sizes):
            total = total + size.reshape([-1 if place == other else 1 for other in range(len(sizes))])
        fits = total <= self.request.memory_bytes
        if not fits.any():
            return None
        return choices, np.where(fits, self._cycles(loops, choices), -1)

    def runs(self, loops: tuple[TileLoop, ...], choices: Sequence[Choice]) -> bool:
        """Whether one point, of the space or not, is legal and fits."""
        left = {dim.name: dim.size for dim in self.workload.dims}
        left.update({loop.dim: loop.tile for loop in loops})
        total = self._up(sum(c * prod(left[name] for name in names) for names, c in self.workload.scratch))
        for operand, (depth, buffers) in zip(self.operands, choices, strict=True):
            sums = operand.role == "output" and any(loop.dim not in dims_of(operand) for loop in loops[:depth])
            if sums and any(is_sum(self.request, self.workload.dim(loop.dim)) for loop in loops[:depth]):
                return False
            if not self._legal(operand, loops, depth):
                return False
            total += self._bytes(operand, loops, depth, buffers)
        return total <= self.request.memory_bytes

    def piece_bytes(self, operand: Operand, loops: Sequence[TileLoop], depth: int) -> int:
        """Bytes of an operand's largest piece inside of the first ``depth`` loops."""
        return self._copy(operand, loops, depth).bytes

    def _up(self, size: int) -> int:
        return -(-size // self.alignment) * self.alignment

    def _bytes(self, operand: Operand, loops: Sequence[TileLoop], depth: int, buffers: int) -> int:
        return self._up(self._copy(operand, loops, depth).bytes) * buffers

    def _key(self, operand: Operand, loops: Sequence[TileLoop], depth: int) -> object:
        moves = dims_of(operand)
        return operand.name, tuple(sorted((loop.dim, -loop.tile) for loop in loops[:depth] if loop.dim in moves))

    def _legal(self, operand: Operand, loops: Sequence[TileLoop], depth: int) -> bool:
        """Whether kernel calls have something to work on in whole groups, and find it in one block."""
        key = (self._key(operand, loops, depth), self._key(operand, loops, len(loops)))
        if key not in self._is_legal:
            held = parts_of(self.workload, operand, loops, depth, len(loops))
            calls = parts_of(self.workload, operand, loops, len(loops), len(loops))
            legal, cut = np.ones(1, dtype=np.bool_), np.zeros(1, dtype=np.bool_)
            for axis, outer, inner in reversed(list(zip(operand.axes, held, calls, strict=True))):
                group = (inner.first % axis.round_up == 0) & (inner.end > inner.first)
                legal = legal & group & (~cut | (stored(axis, inner) == 1))
                cut = cut | (stored(axis, inner) != stored(axis, outer))
            self._is_legal[key] = bool(legal.all())
        return self._is_legal[key]

    def _copy(self, operand: Operand, loops: Sequence[TileLoop], depth: int) -> _Copies:
        key = self._key(operand, loops, depth)
        if key not in self._copies:
            whole = {dim.name: dim.size for dim in self.workload.dims}
            tile = {**whole, **{loop.dim: loop.tile for loop in loops[:depth]}}
            parts = parts_of(self.workload, operand, loops, depth, depth)
            extents = np.broadcast_arrays(*(stored(axis, part) for axis, part in zip(operand.axes, parts, strict=True)))
            levels = [np.ones_like(extents[0]) for _ in range(3)]
            repeats = np.ones_like(extents[0])
            for number, group in enumerate(axis_levels(operand, tile, whole)):
                joined = np.prod([extents[axis] for axis in group], axis=0, dtype=np.int64)
                if number < 3:
                    levels[number] = levels[number] * joined
                else:
                    repeats = repeats * joined
            row_bytes = -(-levels[0] * operand.element_bits // 8)
            direction: Literal["in", "out"] = "out" if operand.role == "output" else "in"
            flat = [np.ascontiguousarray(values).reshape(-1) for values in (row_bytes, levels[1], levels[2])]
            shape = TransferShape(direction, flat[0], flat[1], flat[2], self.request.soc.home, self.near)
            cycles = self.model.transfer_cycles(self.workload, shape)
            size = int((row_bytes * levels[1] * levels[2] * repeats).max())
            spread = repeats.reshape(-1)
            issue, data = (np.asarray(v, dtype=np.int64) * spread for v in (cycles.issue, cycles.data))
            self._copies[key] = _Copies(issue.reshape(repeats.shape), data.reshape(repeats.shape), size)
        return self._copies[key]

    def _kernels(self, loops: Sequence[TileLoop], sizes: Mapping[str, Array]) -> tuple[Array, Array]:
        whole = {dim.name: dim.size for dim in self.workload.dims}
        count = next(iter(sizes.values())).size if sizes else 1
        tile = {name: sizes.get(name, np.full(count, size, dtype=np.int64)) for name, size in whole.items()}
        # Few sizes are distinct: full tiles and remainders.
        key = np.zeros(count, dtype=np.int64)
        for name, values in sizes.items():
            key = key * (whole[name] + 1) + values
        _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
        some = {name: np.ascontiguousarray(values[first]) for name, values in tile.items()}
        kernel = np.asarray(self.model.kernel_cycles(self.workload, some), dtype=np.int64)
        launch = np.asarray(self.model.launch_cycles(self.workload, some), dtype=np.int64)
        return kernel[inverse.reshape(-1)], launch[inverse.reshape(-1)]

    def _cycles(self, loops: tuple[TileLoop, ...], choices: Sequence[Sequence[Choice]]) -> Array:
        turns = turns_of(loops)
        kernel, launch = self._kernels(loops, turns.sizes)
        steps = kernel.size
        loads: list[dict[int, tuple[Flags, Array, Array]]] = []
        for operand, options in zip(self.operands, choices, strict=True):
            by_depth = {}
            for depth in sorted({depth for depth, _ in options}):
                copies = self._copy(operand, loops, depth)
                places = turns.pieces(operand, depth)
                changes = turns.changes(depth)
                by_depth[depth] = (changes, copies.issue[places], copies.data[places])
            loads.append(by_depth)
        last = np.zeros(steps, dtype=np.bool_)
        last[-1] = True
        columns: list[Array] = [kernel, launch, last.astype(np.int64)]
        rows: list[dict[int, list[int]]] = []  # operand -> depth -> columns of (present, issue, data) at three times
        for operand, by_depth in zip(self.operands, loads, strict=True):
            rows.append({})
            for depth, (changes, issue, data) in by_depth.items():
                names = []
                if operand.role == "output":
                    ends = np.append(changes[1:], True)
                    for present in (ends, np.append(False, ends[:-1])):
                        shift = 0 if present is ends else -1
                        names += _append(columns, present, np.roll(issue, -shift), np.roll(data, -shift))
                else:
                    present = np.append(changes[1:], False)
                    names += _append(columns, present, np.roll(issue, -1), np.roll(data, -1))
                rows[-1][depth] = names
        table = np.stack(columns)
        random = np.random.default_rng(7).integers(1 << 62, size=table.shape[0], dtype=np.int64) | 1
        with np.errstate(over="ignore"):
            key = (table * random[:, None]).sum(axis=0)
        _, first, counts = np.unique(key, return_index=True, return_counts=True)
        distinct = np.ascontiguousarray(table[:, first])
        lengths = self._lengths(distinct, choices, rows)
        total: Array = (lengths * counts).sum(axis=-1) + self._first_loads(choices, loads) + self.layer
        return total

    def _first_loads(
        self,
        choices: Sequence[Sequence[Choice]],
        loads: Sequence[Mapping[int, tuple[Flags, Array, Array]]],
    ) -> Array:
        rank = len(self.operands)
        now: Array = np.zeros((1,) * rank, dtype=np.int64)
        channel = now
        for place, (operand, options) in enumerate(zip(self.operands, choices, strict=True)):
            if operand.role == "output":
                continue
            shape = [-1 if place == other else 1 for other in range(rank)]
            issue, data = (np.array([loads[place][d][n][0] for d, _ in options]).reshape(shape) for n in (1, 2))
            now = now + issue
            channel = np.maximum(channel, now) + data
        return np.where(channel > now, channel + self.waits["in"], now)

    def _lengths(
        self,
        table: Array,
        choices: Sequence[Sequence[Choice]],
        rows: Sequence[Mapping[int, Sequence[int]]],
    ) -> Array:
        """Lengths of the distinct steps, which are the last axis."""
        rank = len(self.operands)
        kernel, launch = table[0], table[1]
        clock = Clock(np.zeros((1,) * (rank + 1), dtype=np.int64))

        def copies(outputs: bool, buffers: int, time: int, only: Flags | None = None) -> None:
            for place, operand in enumerate(self.operands):
                if (operand.role == "output") != outputs:
                    continue
                here = np.array([count == buffers for _, count in choices[place]])
                if not here.any():
                    continue
                names = [rows[place][depth][3 * time : 3 * time + 3] for depth, _ in choices[place]]
                present, issue, data = (table[[entry[n] for entry in names]] for n in range(3))
                flags = (present != 0) & here[:, None]
                if only is not None:
                    flags = flags & only
                shape = [-1 if place == other else 1 for other in range(rank)] + [table.shape[1]]
                clock.issue(
                    outputs, flags.reshape(shape), (issue * flags).reshape(shape), (data * flags).reshape(shape)
                )

        if self.model.overlap == "data":
            copies(False, 2, 0)
            copies(True, 2, 1)
            clock.now = clock.now + launch + kernel
        else:
            clock.now = clock.now + launch
            copies(False, 2, 0)
            copies(True, 2, 1)
            clock.now = np.maximum(clock.now, launch + kernel)
        copies(True, 1, 0)
        copies(True, 2, 0, only=table[2] != 0)
        copies(False, 1, 0)
        return clock.finished(self.waits)


def _append(columns: list[Array], present: Flags, issue: Array, data: Array) -> list[int]:
    columns += [present.astype(np.int64), issue * present, data * present]
    return [len(columns) - 3, len(columns) - 2, len(columns) - 1]
