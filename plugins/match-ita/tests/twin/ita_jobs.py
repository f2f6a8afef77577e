"""Single jobs of ITA, written into its registers word by word."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ita_twin_harness import Script
from match_ita.arithmetic import RequantStep

ATTENTION, FEEDFORWARD, LINEAR, SINGLE_ATTENTION = range(4)
TRIGGER, ACQUIRE, STATUS, SOFT_CLEAR = 0x00, 0x04, 0x0C, 0x14
PRELOAD, NEXTLOAD, NO_BIAS, BY_ROW, NO_OUTPUT = (1 << bit for bit in range(5))


def word(index: int) -> int:
    """Offset of a word of the job."""
    return 0x20 + 4 * index


@dataclass(frozen=True)
class Job:
    """Offsets in L1; ``bias`` below 0: none. ``ends``: the last one of its sum."""

    input: int
    weight: int
    output: int
    ends: bool = True
    bias: int = -1
    by_row: bool = False
    engine: int | None = None


@dataclass
class Jobs:
    """A script of jobs: each loads the first weights of the next one."""

    script: Script = field(default_factory=Script)
    common: dict[int, int] = field(default_factory=dict)
    pending: Job | None = None
    preload: bool = True

    def setup(
        self,
        tiles: tuple[int, ...],
        layer: int,
        slots: Mapping[int, RequantStep],
        activation: tuple[int, ...] = (0,) * 6,
    ) -> None:
        """``tiles``: s, e, p, f; ``activation``: kind, b, c, multiplier, shift, add."""
        kind, b, c, multiplier, shift, add = activation
        words = {6: sum(count << 4 * i for i, count in enumerate(tiles)), **dict.fromkeys(range(7, 13), 0)}
        for slot, step in slots.items():
            for first, value in ((7, step.multiplier), (9, step.shift), (11, step.add)):
                words[first + slot // 4] |= (value & 0xFF) << 8 * (slot % 4)
        words[13] = layer | kind << 2
        words[15] = (b & 0xFFFF) | (c & 0xFFFF) << 16
        words[16] = (multiplier & 0xFF) | (shift & 0xFF) << 8 | (add & 0xFF) << 16
        self.common = words

    def add(self, job: Job) -> None:
        if self.pending is not None:
            self._write(self.pending, job.weight)
        self.pending = job

    def finish(self) -> None:
        """The last job of a sequence, and the wait for it."""
        if self.pending is not None:
            self._write(self.pending, None)
        self.pending, self.preload = None, True

    def _write(self, job: Job, next_weight: int | None) -> None:
        flags = (PRELOAD if self.preload else 0) | (0 if next_weight is None else NEXTLOAD)
        flags |= (NO_BIAS if job.bias < 0 else 0) | (BY_ROW if job.by_row else 0) | (0 if job.ends else NO_OUTPUT)
        self.preload = False
        self.script.add("acquire")
        for index, value in self.common.items():
            self.poke(word(index), job.engine if index == 13 and job.engine is not None else value)
        following = job.weight if next_weight is None else next_weight
        for index, offset in enumerate((job.input, job.weight, following, max(job.bias, 0), job.output)):
            self.poke(word(index), f"@{offset}")
        self.poke(word(14), flags)
        self.poke(TRIGGER, 0)
        self.script.add("wait")

    def poke(self, offset: int, value: object) -> None:
        self.script.add("poke", offset, value)
