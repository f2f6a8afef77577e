"""Prints the instructions of the kernels' loops: ``python -m benchmarks.carfield_counts``.

Needs ziglang (a pip package), gcc, and qemu-riscv32 and qemu-riscv64. Every figure is a difference of whole calls, so
that it counts one more step of one loop and nothing else. ``kernel_constants`` says what of them the cores save.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.carfield_counts.build import PULP, SPATZ, SPATZ_SCALAR, Counter, Machine

Count = Callable[..., int]


def _per(count: Count, kernel: str, name: str, low: int, high: int, **sizes: int) -> float:
    """Instructions of one more of ``name``."""
    difference = count(kernel, **{**sizes, name: high}) - count(kernel, **{**sizes, name: low})
    return difference / (high - low)


def _edge(count: Count, kernel: str, **sizes: int) -> float:
    """What a tap of a block costs more where a pixel of padding stands left and right of four, three taps in a row."""
    padded, inner = (_per(count, kernel, "oy", 2, 4, pad=pad, **sizes) for pad in (1, 0))
    return (padded - inner) / 3


def _products(count: Count, lanes: int) -> Iterator[tuple[str, float]]:
    """Convolutions and dense layers: c steps, taps, rows of taps, blocks."""
    four = _per(count, "c", "c", 16, 32, ox=4, k=lanes)
    one = _per(count, "c", "c", 16, 32, ox=1, k=lanes)
    yield "step of four pixels", four
    yield "step of one pixel", one
    yield "step of four pixels, 3 lanes", _per(count, "c", "c", 16, 32, ox=4, k=3)
    yield "step of one pixel, 3 lanes", _per(count, "c", "c", 16, 32, ox=1, k=3)
    tap = _per(count, "c", "fx", 2, 4, ox=4, k=lanes, c=16) - 16 * four
    yield "tap of four pixels", tap
    yield "tap of one pixel", _per(count, "c", "fx", 2, 4, ox=1, k=lanes, c=16) - 16 * one
    yield "row of taps", _per(count, "c", "fy", 2, 4, ox=4, k=lanes, c=16, fx=2) - 2 * (tap + 16 * four)
    inner = 4 * (tap + 16 * four)
    yield "block of four pixels", _per(count, "c", "oy", 2, 4, ox=4, k=lanes, c=16, fx=4) - inner
    edge = {"ox": 4, "k": lanes, "c": 16, "fx": 3}
    yield "edge, a tap more", _edge(count, "c", **edge) - 16 * (6 * one - 2 * four) / 3
    yield "call", count("c", ox=4, k=lanes, c=16, fx=4) - _per(count, "c", "oy", 2, 4, ox=4, k=lanes, c=16, fx=4)


def _channels(count: Count, lanes: int) -> Iterator[tuple[str, float]]:
    """Kernels that keep channels apart."""
    for kernel, name in (("d", "depthwise"), ("v", "average"), ("m", "maximum")):
        tap = _per(count, kernel, "fx", 2, 4, ox=4, k=lanes)
        yield f"{name}: tap of four pixels", tap
        yield f"{name}: row of taps", _per(count, kernel, "fy", 2, 4, ox=4, k=lanes, fx=2) - 2 * tap
        yield f"{name}: tap of one pixel", _per(count, kernel, "fx", 2, 4, ox=1, k=lanes)
        yield f"{name}: edge, a tap more", _edge(count, kernel, ox=4, k=lanes, fx=3)
        yield f"{name}: block of four pixels", _per(count, kernel, "oy", 2, 4, ox=4, k=lanes, fx=4) - 4 * tap
    yield "sum of a vector", _per(count, "a", "k", 4 * lanes, 8 * lanes) * lanes
    yield "gathered vector", _per(count, "t", "k", 4 * lanes, 8 * lanes) * lanes
    yield (
        "gathered row",
        _per(count, "t", "c", 2, 4, k=8 * lanes) - 8 * _per(count, "t", "k", 4 * lanes, 8 * lanes) * lanes,
    )


def _rows(count: Count) -> Iterator[tuple[str, float]]:
    """Kernels with binary32 inside."""
    for kernel, name in (("s", "softmax"), ("n", "normalisation")):
        element = _per(count, kernel, "c", 32, 64)
        yield f"{name}: element", element
        yield f"{name}: row", _per(count, kernel, "oy", 2, 4, c=64) - 64 * element
    yield "gelu: element", _per(count, "g", "c", 32, 64)


def copies(counter: Counter) -> Iterator[tuple[str, float]]:
    """Copies of the PULP cluster, the wait for one behind it not included."""
    program = counter.build_copies()

    def count(kind: str, planes: int = 1) -> int:
        return counter.instructions(PULP, program, kind, oy=planes, ox=4)

    idle = count("0")
    yield "dense", count("d") - idle
    yield "rows", count("s") - idle
    yield "planes of rows, two", count("p", 2) - idle
    yield "a plane more", (count("p", 8) - count("p", 2)) / 6


def _table(counter: Counter, machine: Machine, *parts: Callable[[Count], Iterator[tuple[str, float]]]) -> None:
    program = counter.build(machine)

    def count(kernel: str, **sizes: int) -> int:
        return counter.instructions(machine, program, kernel, **sizes)

    _print(f"{machine.name}: {machine.cpu}", (row for part in parts for row in part(count)))


def _print(title: str, rows: Iterator[tuple[str, float]]) -> None:
    sys.stdout.write(f"{title}\n")
    for name, instructions in rows:
        sys.stdout.write(f"  {name:34} {instructions:8.2f}\n")


def main() -> None:
    """Builds, counts, prints."""
    with tempfile.TemporaryDirectory() as folder:
        counter = Counter(Path(folder))
        _table(counter, PULP, lambda c: _products(c, 4), lambda c: _channels(c, 4), _rows)
        _table(counter, SPATZ, lambda c: _products(c, 64), lambda c: _channels(c, 64))
        _table(counter, SPATZ_SCALAR, _rows)
        _print("copies of pulp", copies(counter))


if __name__ == "__main__":
    main()
