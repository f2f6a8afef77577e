"""The twin of ITA behind a driver of scripts: layouts in and out of L1, and one function per kernel."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from match_core.lower.interfaces import context_header
from match_core.lower.templates import Templates
from match_ita.arithmetic import RequantStep
from match_ita.emit import config_header
from match_ita.ita.interfaces import ITA_INTERFACES
from match_ita.timing import HEADER_NAME, render_timing_header
from numpy.typing import NDArray

from tests.c_objects import link_cached

HERE = Path(__file__).resolve().parent
ROOT = next(p for p in HERE.parents if (p / "core").is_dir() and (p / "plugins").is_dir())
PACKAGE = ROOT / "plugins/match-ita/src/match_ita"
CORE = ROOT / "core/src/match_core/run/runtime"
STRICT = ("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")
SANITIZE = ("-O1", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
FAST = ("-O2",)
THREADS = ("-O1", "-g1", "-fsanitize=thread", "-fno-builtin", "-fPIE", "-DMATCH_TWIN_CONCURRENT")
L1_BYTES = 128 * 1024
SIDE = 64

Ints = NDArray[np.generic]


def write_headers(folder: Path, preset: str) -> None:
    """The generated headers that runtime and twin include."""
    files = (config_header(preset), *(context_header(interface) for interface in ITA_INTERFACES))
    for file in files:
        (folder / file.name).write_text(file.text, encoding="utf-8")
    (folder / HEADER_NAME).write_text(render_timing_header(preset), encoding="utf-8")
    runtime = Templates().render("match_runtime.h.mako", {})
    (folder / "match_runtime.h").write_text(runtime, encoding="utf-8")


def runtime_sources() -> list[Path]:
    """C of the runtime that this part of the package owns."""
    return sorted((PACKAGE / "runtime").glob("match_ita_*.c"))


@dataclass(frozen=True)
class Driver:
    """An executable that runs scripts; see driver.c for the commands."""

    program: Path

    def attempt(self, script: str, mode: str = "eager", *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(self.program), mode, *arguments]
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


def compile_driver(folder: Path, preset: str, flags: tuple[str, ...], main: str = "driver.c") -> Driver:
    """Build runtime, twin and ``main`` in ``folder``."""
    write_headers(folder, preset)
    sources = [HERE / main, *runtime_sources(), *sorted((PACKAGE / "twin/src").glob("*.c")), *sorted(CORE.glob("*.c"))]
    places = (folder, PACKAGE / "twin/include", PACKAGE / "twin/src", PACKAGE / "runtime", CORE)
    program = folder / "driver"
    sync = '-DMATCH_SYNC_HEADER="match_twin_sync.h"'
    link_cached(program, (*STRICT, *flags, sync, "-pthread"), sources, places)
    return Driver(program)


# ---- layouts ---------------------------------------------------------------------------------------------------------


def columns(matrix: Ints) -> Ints:
    """[S, C] as column blocks [C1][S][64]."""
    rows, width = matrix.shape
    return np.ascontiguousarray(matrix.reshape(rows, width // SIDE, SIDE).transpose(1, 0, 2))


def from_columns(data: Ints, rows: int, width: int) -> Ints:
    """The other way round."""
    return data.reshape(width // SIDE, rows, SIDE).transpose(1, 0, 2).reshape(rows, width)


def blocks(matrix: Ints) -> Ints:
    """[A, B] as blocks [A1][B1][64][64]."""
    a, b = matrix.shape
    return np.ascontiguousarray(matrix.reshape(a // SIDE, SIDE, b // SIDE, SIDE).transpose(0, 2, 1, 3))


def from_blocks(data: Ints, a: int, b: int) -> Ints:
    """The other way round."""
    return data.reshape(a // SIDE, b // SIDE, SIDE, SIDE).transpose(0, 2, 1, 3).reshape(a, b)


def pack_bias(bias: Ints) -> Ints:
    """Three bytes each, least significant first."""
    values = bias.astype(np.int64) & 0xFFFFFF
    return np.stack([values & 255, values >> 8 & 255, values >> 16], axis=-1).astype(np.uint8)


# ---- scripts ---------------------------------------------------------------------------------------------------------


@dataclass
class Script:
    """Commands in order, with an allocator of L1 that begins again with each kernel."""

    lines: list[str] = field(default_factory=list)
    top: int = 0

    def place(self, data: Ints) -> int:
        """Writes the array to L1 and returns its offset."""
        offset = self.reserve(data.nbytes)
        self.lines.append(f"write {offset} {data.tobytes().hex()}")
        return offset

    def reserve(self, size_bytes: int) -> int:
        offset = self.top
        self.top = -(-(offset + size_bytes) // SIDE) * SIDE
        assert self.top <= L1_BYTES, f"{self.top} bytes of L1"
        return offset

    def add(self, *words: object) -> None:
        self.lines.append(" ".join(str(word) for word in words))

    def dump(self, offset: int, size_bytes: int) -> None:
        self.add("dump", offset, size_bytes)

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


def parse(line: str) -> NDArray[np.int8]:
    """Bytes of a dumped line."""
    return np.frombuffer(bytes.fromhex(line), dtype=np.int8)


def _step(step: RequantStep) -> tuple[int, int, int]:
    return step.multiplier, step.shift, step.add


def linear(
    script: Script, x: Ints, w: Ints, bias: Ints, step: RequantStep, activation: tuple[int, ...] = (0,) * 6
) -> None:
    """x [S, C] by w [C, K]; dumps [K1][S][64]. ``activation``: kind, b, c, multiplier, shift, add."""
    script.top = 0
    rows, width = x.shape
    outputs = w.shape[1]
    places = [script.place(columns(x)), script.place(blocks(w.T)), script.place(pack_bias(bias))]
    output = script.reserve(rows * outputs)
    fence = script.place(np.full(SIDE, 0x5C, np.uint8))
    scratch = script.reserve(8192)
    script.add("linear", *places, output, scratch, rows, outputs // SIDE, width // SIDE, *_step(step), *activation)
    script.dump(output, rows * outputs)
    script.dump(fence, SIDE)


def turned(script: Script, x: Ints, w: Ints, bias: Ints, step: RequantStep) -> None:
    """(x [T, C] by w [C, P]) turned; dumps [P1][T1][64][64]."""
    script.top = 0
    rows, width = x.shape
    outputs, row_blocks = w.shape[1], -(-rows // SIDE)
    places = [script.place(columns(x)), script.place(blocks(w.T)), script.place(pack_bias(bias))]
    output, scratch = script.reserve(outputs * row_blocks * SIDE), script.reserve(SIDE)
    script.add("turned", *places, output, scratch, outputs // SIDE, row_blocks, width // SIDE, rows, *_step(step))
    script.dump(output, outputs * row_blocks * SIDE)


def attention(
    script: Script, q: Ints, k: Ints, vt: Ints, qk: RequantStep, av: RequantStep, dump_logits: bool = False
) -> None:
    """Heads of q [H, S, P], k [H, T, P], vt [H, P, Tp]; dumps [H][P1][S][64], a fence, the logits of the last group."""
    script.top = 0
    heads, rows, depth = q.shape
    keys, row_blocks = k.shape[1], vt.shape[2] // SIDE
    mask = np.zeros(SIDE, np.int64)
    mask[keys % SIDE or SIDE :] = -(1 << 23)
    places = [script.place(np.stack([columns(head) for head in part])) for part in (q, k)]
    # [T1][P1][64 p][64 t]: blocks of columns outside
    places.append(script.place(np.stack([blocks(head).transpose(1, 0, 2, 3) for head in vt])))
    places.append(script.place(pack_bias(mask)))
    output = script.reserve(heads * rows * depth)
    fence = script.place(np.full(SIDE, 0x5C, np.uint8))
    scratch = script.reserve((row_blocks + 2) * 4096)
    masked = int(keys % SIDE != 0)
    script.add("attention", *places, output, scratch, heads, rows, keys, row_blocks, depth // SIDE, masked,
               *_step(qk), *_step(av))  # fmt: skip
    script.dump(output, heads * rows * depth)
    script.dump(fence, SIDE)
    if dump_logits:
        script.dump(scratch, row_blocks * 4096)


def matmul(script: Script, a: Ints, b: Ints, step: RequantStep) -> None:
    """a [H, M, C] by b [H, N, C] turned; dumps [H][N1][M][64]."""
    script.top = 0
    heads, rows, width = a.shape
    outputs = b.shape[1]
    places = [script.place(np.stack([columns(head) for head in part])) for part in (a, b)]
    output = script.reserve(heads * rows * outputs)
    fence = script.place(np.full(SIDE, 0x5C, np.uint8))
    scratch = script.reserve(8192)
    script.add("matmul", *places, output, scratch, heads, rows, outputs // SIDE, width // SIDE, *_step(step))
    script.dump(output, heads * rows * outputs)
    script.dump(fence, SIDE)
