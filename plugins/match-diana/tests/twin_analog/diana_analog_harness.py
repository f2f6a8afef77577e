"""The twin of DIANA behind a driver of scripts, and scripts of jobs of its analog array."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from diana_analog_reference import Cells, Ints, Scaling, Shape, encode, encode_norm, load, store
from match_diana.timing import HEADER_NAME, render_timing_header

from tests.c_objects import link_cached

HERE = Path(__file__).resolve().parent
ROOT = next(p for p in HERE.parents if (p / "core").is_dir() and (p / "plugins").is_dir())
TWIN = ROOT / "plugins/match-diana/src/match_diana/twin"
CORE = ROOT / "core/src/match_core/run/runtime"
STRICT = ("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")
SANITIZE = ("-O1", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")

#: Bits of word 0: stages that are left out.
SKIP_ALL, QUANT, ACTIVATION, NORM, PARTIAL_SUM = 0x3F, 0x02, 0x04, 0x10, 0x20


def compile_driver(folder: Path) -> Driver:
    """The twin and its driver under the address and undefined-behaviour sanitizers."""
    (folder / HEADER_NAME).write_text(render_timing_header(), encoding="utf-8")
    sources = [HERE / "diana_analog_driver.c", *sorted((TWIN / "src").glob("*.c")), *sorted(CORE.glob("*.c"))]
    places = (folder, TWIN / "include", TWIN / "src", CORE)
    program = folder / "driver"
    link_cached(program, (*STRICT, *SANITIZE, "-pthread"), sources, places)
    return Driver(program)


@dataclass(frozen=True)
class Driver:
    """An executable that runs scripts; see diana_analog_driver.c for the commands."""

    program: Path

    def attempt(
        self, script: str, mode: str = "eager", environment: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        variables = {key: value for key, value in os.environ.items() if key != "MATCH_DIANA_NOISE_SEED"}
        return subprocess.run(
            [str(self.program), mode],
            input=script,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            env={**variables, **(environment or {})},
        )

    def run(self, script: str, mode: str = "eager", environment: Mapping[str, str] | None = None) -> list[str]:
        """Output lines of a script that must succeed."""
        done = self.attempt(script, mode, environment)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    def fault(self, script: str, environment: Mapping[str, str] | None = None) -> str:
        """The message of a script that must end in a twin fault."""
        done = self.attempt(script, environment=environment)
        assert done.returncode == -6 and "match twin fault: " in done.stderr, done.stdout + done.stderr
        return done.stderr.split("match twin fault: ")[1].strip()


@dataclass
class Script:
    """Commands in order, with an allocator for either memory."""

    lines: list[str] = field(default_factory=lambda: ["enable", "boot"])
    near_top: int = 0
    far_top: int = 0

    def add(self, *words: object) -> None:
        self.lines.append(" ".join(str(word) for word in words))

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    def reserve(self, size_bytes: int) -> int:
        offset = self.near_top
        self.near_top += -(-size_bytes // 16) * 16
        return offset

    def near(self, data: bytes) -> int:
        """Writes bytes to L1 and returns where."""
        offset = self.reserve(len(data))
        self.add("near", offset, data.hex())
        return offset

    def far(self, data: bytes) -> int:
        """Writes bytes to L2 and returns where; -1 without any."""
        if not data:
            return -1
        offset = self.far_top
        self.far_top += -(-len(data) // 4) * 4
        self.add("far", offset, data.hex())
        return offset


def numbers(shape: Shape) -> tuple[int, ...]:
    """The fields of Layer_parameters that the encoder reads, in the driver's order."""
    bottom, top, right, left = shape.pads
    padding = bottom | top << 2 | right << 4 | left << 6
    sizes = (shape.c, shape.k, shape.cx, shape.cy, shape.fx, shape.fy, shape.ox // shape.unroll, shape.oy)
    return (*sizes, shape.unroll, shape.stride, padding)


def output_bytes(shape: Shape) -> int:
    return -(-shape.k // 64) * shape.oy * shape.ox * 64


@dataclass
class Job:
    """A job in a script: where its operands lie and what its words say. ``partial`` is where partial sums lie."""

    shape: Shape
    scaling: Scaling
    input: int
    output: int
    cells: int
    norm: int
    partial: int | None = None

    def skips(self) -> int:
        left_out = SKIP_ALL
        if self.scaling.mul is not None:
            left_out &= ~(NORM | QUANT)
        if self.scaling.relu:
            left_out &= ~ACTIVATION
        if self.partial is not None:
            left_out &= ~PARTIAL_SUM
        return left_out

    def command(self) -> tuple[object, ...]:
        places = (self.input, self.output, self.cells, self.norm)
        scaling = self.scaling.shift | self.scaling.gain << 8
        return ("layer", *places, *numbers(self.shape), self.skips(), self.partial or 0, scaling)


def place(script: Script, shape: Shape, x: Ints, weights: Cells, scaling: Scaling) -> Job:
    """A job with its operands in memory; not yet started."""
    cells, norm = script.far(encode(weights)), script.far(encode_norm(scaling))
    source = script.near(store(x))
    return Job(shape, scaling, source, script.reserve(output_bytes(shape)), cells, norm)


def start(script: Script, job: Job) -> None:
    """Triggers it and waits."""
    script.add(*job.command())
    script.add("sync")


def dump(script: Script, job: Job) -> None:
    script.add("dump_near", job.output, output_bytes(job.shape))


def result(line: str, shape: Shape) -> Ints:
    """[K, OY, OX] of a dumped output."""
    return load(bytes.fromhex(line), shape.k, shape.oy, shape.ox)
