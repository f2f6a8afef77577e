"""The twin of DIANA behind a driver of scripts: layouts in and out of L1, and the arithmetic in numpy."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from match_diana.constants import values
from match_diana.timing import CLOCKS, HEADER_NAME, render_timing_header
from numpy.typing import NDArray

from tests.c_objects import link_cached

HERE = Path(__file__).resolve().parent
ROOT = next(p for p in HERE.parents if (p / "core").is_dir() and (p / "plugins").is_dir())
PACKAGE = ROOT / "plugins/match-diana/src/match_diana"
CORE = ROOT / "core/src/match_core/run/runtime"
STRICT = ("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")
SANITIZE = ("-O1", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
LANES = 16
GROUP = 64
#: Byte in L1 before a script begins.
EMPTY = 0x33

Ints = NDArray[np.generic]
Bytes = NDArray[np.int8]


@dataclass(frozen=True)
class Driver:
    """An executable that runs scripts; see driver.c for the commands."""

    program: Path

    def attempt(self, script: str, mode: str = "eager") -> subprocess.CompletedProcess[str]:
        command = [str(self.program), mode]
        return subprocess.run(command, input=script, capture_output=True, text=True, timeout=300, check=False)

    def run(self, script: str, mode: str = "eager") -> list[str]:
        """Output lines of a script that must succeed."""
        done = self.attempt(script, mode)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    def fault(self, script: str) -> str:
        """The message of a script that must end in a twin fault."""
        done = self.attempt(script)
        assert done.returncode == -6 and "match twin fault: " in done.stderr, done.stdout + done.stderr
        return done.stderr.split("match twin fault: ")[1].strip()


def compile_driver(folder: Path, flags: tuple[str, ...] = SANITIZE) -> Driver:
    """Build the twin and the driver in ``folder``."""
    (folder / HEADER_NAME).write_text(render_timing_header(), encoding="utf-8")
    sources = [HERE / "driver.c", *sorted((PACKAGE / "twin/src").glob("*.c")), *sorted(CORE.glob("*.c"))]
    places = (folder, PACKAGE / "twin/include", PACKAGE / "twin/src", CORE)
    program = folder / "driver"
    link_cached(program, (*STRICT, *flags, "-pthread"), sources, places)
    return Driver(program)


# ---- layouts ---------------------------------------------------------------------------------------------------------


def reverse(data: Ints) -> NDArray[np.uint8]:
    """Bytes with every group of 4 turned round."""
    return np.ascontiguousarray(data).view(np.uint8).reshape(-1, 4)[:, ::-1].reshape(-1)


def up(size: int, multiple: int) -> int:
    return -(-size // multiple) * multiple


def rows(x: Bytes, junk: int = 0x7D) -> NDArray[np.uint8]:
    """[C, H, W] as rows whose width is a multiple of 16, with junk in the columns that are added."""
    c, h, w = x.shape
    padded = np.full((c, h, up(w, LANES)), junk, np.int8)
    padded[:, :, :w] = x
    return reverse(padded)


def from_rows(data: Ints, c: int, h: int, w: int) -> Bytes:
    """[c, h, w rounded up to 16]."""
    return reverse(data).view(np.int8).reshape(c, h, up(w, LANES))


def from_channels(data: Ints, c: int, h: int, w: int) -> Bytes:
    """[C rounded up to 64, h, w]."""
    groups = reverse(data).view(np.int8).reshape(up(c, GROUP) // GROUP, h, w, GROUP)
    channels: Bytes = groups.transpose(0, 3, 1, 2).reshape(-1, h, w)
    return channels


def planes(bias: Ints) -> NDArray[np.uint8]:
    """16 biases as four planes of bytes."""
    return reverse(np.ascontiguousarray(bias.astype("<i4").view(np.uint8).reshape(LANES, 4).T))


def conv_weights(w: Bytes, bias: Ints) -> NDArray[np.uint8]:
    """[K, C, Fy, Fx] with K a multiple of 16."""
    blocks = w.reshape(-1, LANES, *w.shape[1:]).transpose(0, 2, 3, 4, 1)
    return np.concatenate(
        [part for b, block in enumerate(blocks) for part in (reverse(block), planes(bias[b * LANES :][:LANES]))]
    )


def depthwise_weights(w: Bytes, bias: Ints) -> NDArray[np.uint8]:
    """[C, Fy, Fx]: each channel and three of zeros, and what the last fetches read behind the end."""
    channels = up(len(w), 4)
    wide, wide_bias = np.zeros((channels, 4, 1, *w.shape[1:]), np.int8), np.zeros((channels, 4), np.int64)
    wide[: len(w), 0, 0], wide_bias[: len(w), 0] = w, bias
    packed = conv_weights(wide.reshape(channels * 4, 1, *w.shape[1:]), wide_bias.reshape(-1))
    return np.concatenate([packed, np.full(12, 0x6B, np.uint8)])


def dense_weights(w: Bytes, bias: Ints) -> NDArray[np.uint8]:
    """[K, C], both multiples of 16."""
    k, c = w.shape
    blocks = w.reshape(k // LANES, LANES, c // LANES, LANES).transpose(0, 2, 1, 3)
    wide = np.frombuffer(b"".join(int(b).to_bytes(16, "little", signed=True) for b in bias.tolist()), np.uint8)
    biases = wide.reshape(k // LANES, LANES * 16)
    return np.concatenate(
        [part for block, b in zip(blocks, biases, strict=True) for part in (reverse(block), reverse(b))]
    )


# ---- layers ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Layer:
    """The kernel library's parameters; sizes are true ones, the padded ones follow."""

    c: int
    k: int
    w: int
    h: int
    fx: int = 1
    fy: int = 1
    stride: int = 1
    side: int = 0
    top: int = 0
    bottom: int = 0
    relu: bool = False
    shift: int = 0

    @property
    def ox(self) -> int:
        return (self.w + 2 * self.side - self.fx) // self.stride + 1

    @property
    def oy(self) -> int:
        return (self.h + self.top + self.bottom - self.fy) // self.stride + 1

    @property
    def numbers(self) -> tuple[int, ...]:
        width = up(self.w, LANES)
        padding = self.side | (width - self.w) << 4 | self.top << 8 | self.bottom << 12
        sizes = (self.c, self.k, width, self.h, self.fx, self.fy, up(self.ox, LANES), self.oy)
        return (*sizes, int(self.relu), self.shift, padding, 1, self.stride - 1)

    @property
    def output_bytes(self) -> int:
        return self.k * self.oy * up(self.ox, LANES)


def requantise(sums: Ints, layer: Layer) -> Bytes:
    """Sums wrap at 32 bits."""
    wrapped = (sums.astype(np.int64) + (1 << 31)) % (1 << 32) - (1 << 31)
    clipped: Bytes = np.clip(wrapped >> layer.shift, 0 if layer.relu else -128, 127).astype(np.int8)
    return clipped


def convolve(x: Bytes, w: Bytes, bias: Ints, layer: Layer) -> Bytes:
    """x [C, H, W] by w [K, C, Fy, Fx]: [K, OY, OX]."""
    padded = np.pad(x.astype(np.int64), ((0, 0), (layer.top, layer.bottom), (layer.side, layer.side)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (layer.fy, layer.fx), axis=(1, 2))
    windows = windows[:, :: layer.stride, :: layer.stride]
    sums = np.einsum("cyxij,kcij->kyx", windows, w.astype(np.int64), optimize=True)
    return requantise(sums + bias[:, None, None], layer)


# ---- scripts ---------------------------------------------------------------------------------------------------------


@dataclass
class Script:
    """Commands in order."""

    lines: list[str] = field(default_factory=lambda: ["enable"])

    def add(self, *words: object) -> None:
        self.lines.append(" ".join(str(word) for word in words))

    def near(self, offset: int, data: Ints) -> None:
        self.add("near", offset, data.tobytes().hex())

    def far(self, offset: int, data: Ints) -> None:
        self.add("far", offset, data.tobytes().hex())

    def read_near(self, offset: int, size_bytes: int) -> None:
        self.add("read_near", offset, size_bytes)

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


def parse(line: str) -> NDArray[np.uint8]:
    """Bytes of a printed line."""
    return np.frombuffer(bytes.fromhex(line), dtype=np.uint8)


def clocks(line: str) -> dict[str, tuple[int, int]]:
    """Time and busy cycles by clock."""
    words = line.split()
    return {words[i]: (int(words[i + 1]), int(words[i + 2])) for i in range(0, 3 * len(CLOCKS), 3)}


# ---- cycles by hand --------------------------------------------------------------------------------------------------


def fetch_cycles(size_bytes: int) -> int:
    """One contiguous chunk."""
    return values()["dma_chunk_cycles"] + -(-size_bytes // values()["dma_bytes_per_cycle"])
