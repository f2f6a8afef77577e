"""The C of 64-bit requantisation on its own: kernels against numpy, with and without SIMD."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from match_core import KernelInterface
from match_core.lower.interfaces import context_header
from match_gap9 import formulas
from match_gap9.cluster.layout import CLIP, FLIP, QUANTIZE, TRANSPOSE
from match_gap9.interfaces import ADD, CONV2D, DEPTHWISE2D, LINEAR, POOL2D
from match_gap9.timing import HEADER_NAME, render_timing_header
from match_gap9.wide.patterns import COLUMNS, column_bytes
from numpy.typing import NDArray

from tests.examples import examples

PACKAGE = Path(formulas.__file__).resolve().parent
ROOT = next(p for p in Path(__file__).resolve().parents if (p / "core").is_dir() and (p / "plugins").is_dir())
#: The cluster's kernels.
SOURCES = ("match_gap9_wide", "match_gap9_wide_depthwise", "match_gap9_wide_depthwise_rows")
TWIN_RUNTIME = ROOT / "core/src/match_core/run/runtime"
FLAGS = ("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", "-O1", "-fPIC", "-shared")
#: Undefined behaviour ends the process.
TRAP = ("-fsanitize=undefined", "-fsanitize-undefined-trap-on-error", "-fno-sanitize-recover=all")

#: Eight cores one after the other; no cycle hooks.
PMSIS = """#pragma once
struct pi_cluster_task;
typedef struct pi_task pi_task_t;
extern int match_test_core;
static inline int pi_core_id(void) { return match_test_core; }
#define pi_cl_team_barrier(n) ((void)0)
static inline void pi_cl_team_fork(int cores, void (*entry)(void *), void *argument)
{
    for (match_test_core = cores - 1; match_test_core >= 0; match_test_core--) { entry(argument); }
}
"""
#: What the XpulpV2 compiler has built in: the sum of four products of unsigned and signed bytes added to a third
#: operand, and a clip to 0..bound.
BUILTIN = """#include <stdint.h>
typedef uint8_t test_unsigned __attribute__((vector_size(4)));
typedef int8_t test_signed __attribute__((vector_size(4)));
static inline int32_t __builtin_pulp_sdotusp4(test_unsigned a, test_signed b, int32_t sum)
{
    for (int i = 0; i < 4; i++) { sum += (int32_t)a[i] * b[i]; }
    return sum;
}
static inline uint32_t __builtin_pulp_clipu_r(int32_t value, int32_t bound)
{
    return (uint32_t)(value < 0 ? 0 : value > bound ? bound : value);
}
"""
PROBE = """#include "match_gap9_api.h"
#include "match_gap9_wide_core.h"
int match_test_core = 0;
int requant(int32_t sum, int32_t m, int64_t b, uint32_t s);
int requant(int32_t sum, int32_t m, int64_t b, uint32_t s) { return match_gap9_wide_requant(sum, m, b, s); }
void match_gap9_team_launch(void (*entry)(void *), const void *tile)
{
    pi_cl_team_fork(NUM_CORES, entry, (void *)(uintptr_t)tile);
}
"""

INTERFACES = (ADD, CLIP, CONV2D, DEPTHWISE2D, FLIP, LINEAR, POOL2D, QUANTIZE, TRANSPOSE)


def _library(folder: Path, name: str, sources: list[Path], flags: tuple[str, ...]) -> ctypes.CDLL:
    output = folder / f"{name}.so"
    command = ["gcc", *FLAGS, *flags, *map(str, sources), "-o", str(output)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"
    return ctypes.CDLL(str(output))


@pytest.fixture(scope="module", params=["plain", "simd"])
def kernels(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The cluster's kernels, and ``requant``."""
    folder = tmp_path_factory.mktemp(request.param)
    for header in map(context_header, INTERFACES):
        (folder / header.name).write_text(header.text)
    (folder / "pmsis.h").write_text(PMSIS)
    (folder / "builtin.h").write_text(BUILTIN)
    (folder / "probe.c").write_text(PROBE)
    flags = (f"-I{folder}", f"-I{PACKAGE / 'runtime'}", *TRAP)
    if request.param == "simd":
        flags = (*flags, "-DMATCH_GAP9_XPULP", "-include", str(folder / "builtin.h"))
    return _library(
        folder, "kernels", [folder / "probe.c", *(PACKAGE / f"runtime/{name}.c" for name in SOURCES)], flags
    )


def _context(interface: KernelInterface, fields: Mapping[str, Any]) -> ctypes.Structure:
    """The kernel context, as ``context_header`` lays it out."""
    pointers = [name for name, _ in interface.operands] + ["scratch"]
    sizes = [dim.lower() for dim in interface.dims]
    for operand, axis in interface.windowed:
        sizes += [f"{operand}_{axis}", f"{operand}_{axis}_pad_before", f"{operand}_{axis}_pad_after"]
    layout = [
        *((name, ctypes.c_void_p) for name in pointers),
        *((name, ctypes.c_uint32) for name in sizes),
        *((name, ctypes.c_int32) for name in interface.geometry),
    ]
    assert set(fields) <= {name for name, _ in layout}
    context = type("Context", (ctypes.Structure,), {"_fields_": layout})()
    for name, value in fields.items():
        setattr(context, name, value.ctypes.data if isinstance(value, np.ndarray) else value)
    return context


def _requantised(sums: NDArray[np.int64], m: NDArray[np.int32], b: NDArray[np.int64], s: int) -> NDArray[np.uint8]:
    """In Python's integers."""
    exact = (sums.astype(object) * m.astype(object) + b.astype(object)) >> s
    return np.clip(exact, 0, 255).astype(np.uint8)


def _constants(rng: np.random.Generator, reach: int, k: int, s: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Multipliers and addends that let results of sums up to ``reach`` use their range, where S allows it."""
    scale = min(2**31 - 1, max(1, (256 << s) // max(reach, 1)))
    multiplier = rng.integers(scale // 2, scale, k, endpoint=True).astype(np.int32)
    addend = rng.integers(-(64 << s), 192 << s, k) if s < 54 else rng.integers(-(2**61), 2**61, k)
    return multiplier, addend


# ---- requantisation ----------------------------------------------------------------------------------------------


@settings(max_examples=examples(400), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    total=st.integers(-(2**31), 2**31 - 1),
    multiplier=st.integers(0, 2**31 - 1),
    addend=st.integers(-(2**62), 2**62),
    shift=st.integers(0, 62),
)
def test_requantisation_is_exact(kernels: ctypes.CDLL, total: int, multiplier: int, addend: int, shift: int) -> None:
    expected = min(255, max(0, (total * multiplier + addend) >> shift))
    got = kernels.requant(total, multiplier, ctypes.c_int64(addend), ctypes.c_uint32(shift))
    assert got == expected


@pytest.mark.parametrize("shift", range(63))
def test_every_shift_at_its_edges(kernels: ctypes.CDLL, shift: int) -> None:
    for level in (-1, 0, 1, 128, 254, 255, 256):
        for offset in (-1, 0, 1):
            addend = (level << shift) + offset
            if abs(addend) < 2**62:
                expected = min(255, max(0, addend >> shift))
                assert kernels.requant(0, 7, ctypes.c_int64(addend), ctypes.c_uint32(shift)) == expected


# ---- kernels -----------------------------------------------------------------------------------------------------

SIZES = st.integers(1, 7)
PADS = st.tuples(*[st.integers(0, 3)] * 4)
SHIFTS = st.sampled_from((0, 9, 31, 32, 33, 40, 50, 62))


def _windows(x: NDArray[np.uint8], pads: tuple[int, ...], value: int, kernel: tuple[int, int], stride: tuple[int, int]):
    """Windows (OY, OX, C, FY, FX) of the padded image."""
    top, bottom, left, right = pads
    padded = np.pad(x.astype(np.int64), ((top, bottom), (left, right), (0, 0)), constant_values=value)
    view = np.lib.stride_tricks.sliding_window_view(padded, kernel, axis=(0, 1))
    return view[:: stride[0], :: stride[1]]


def _spatial(
    x: NDArray[np.uint8], pads: tuple[int, ...], kernel: tuple[int, int], stride: tuple[int, int], out: tuple[int, ...]
) -> dict[str, int]:
    """Sizes of the context."""
    fields = {"oy": out[0], "ox": out[1], "fy": kernel[0], "fx": kernel[1]}
    fields |= {"stride_y": stride[0], "stride_x": stride[1]}
    for axis, size, before, after in (("y", x.shape[0], *pads[:2]), ("x", x.shape[1], *pads[2:])):
        fields |= {f"input_{axis}": size, f"input_{axis}_pad_before": before, f"input_{axis}_pad_after": after}
    return fields


def _check_convolution(
    kernels: ctypes.CDLL,
    x: NDArray[np.uint8],
    weight: NDArray[np.int8],
    pads: tuple[int, int, int, int],
    stride: tuple[int, int],
    *,
    value: int,
    shift: int,
    rng: np.random.Generator,
) -> None:
    """``weight``: (K, C, FY, FX), or (K, FY, FX) for a depthwise convolution. ``value`` of padding."""
    depthwise, k, kernel = weight.ndim == 3, weight.shape[0], (weight.shape[-2], weight.shape[-1])
    windows = _windows(x, pads, value, kernel, stride)
    if depthwise:
        sums = np.einsum("yxcij,cij->yxc", windows, weight.astype(np.int64))
        packed = weight
    else:
        sums = np.einsum("yxcij,kcij->yxk", windows, weight.astype(np.int64))
        rows = weight.transpose(0, 2, 3, 1).reshape(k, -1)
        packed = np.pad(rows, ((0, 0), (0, column_bytes(rows.shape[1]) - rows.shape[1])))
    multiplier, addend = _constants(rng, int(np.abs(sums).max()), k, shift)
    out = np.full(sums.size + 16, 0xA5, np.uint8)
    scratch = np.full(8 * COLUMNS * column_bytes(packed.shape[-1]) + 16, 0xA5, np.uint8)
    fields = {
        **_spatial(x, pads, kernel, stride, sums.shape),
        **{"input": x, "weight": packed, "multiplier": multiplier, "addend": addend, "output": out},
        **{"k": k, "shift": shift, "pad_value": value},
    }
    if depthwise:
        kernels.match_gap9_wide_depthwise(ctypes.byref(_context(DEPTHWISE2D, fields)))
    else:
        fields |= {"c": x.shape[-1], "scratch": scratch}
        kernels.match_gap9_wide_conv2d(ctypes.byref(_context(CONV2D, fields)))
    expected = _requantised(sums, multiplier, addend, shift)
    np.testing.assert_array_equal(out[: sums.size].reshape(sums.shape), expected)
    assert (out[sums.size :] == 0xA5).all() and (scratch[-16:] == 0xA5).all()


@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    image=st.tuples(SIZES, SIZES),
    kernel=st.tuples(st.integers(1, 4), st.integers(1, 4)),
    stride=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    pads=PADS,
    channels=st.integers(1, 9),
    outputs=st.integers(1, 19),
    depthwise=st.booleans(),
    shift=SHIFTS,
    seed=st.integers(0, 2**31),
)
def test_convolutions_equal_numpy(
    kernels: ctypes.CDLL,
    image: tuple[int, int],
    kernel: tuple[int, int],
    stride: tuple[int, int],
    pads: tuple[int, int, int, int],
    channels: int,
    outputs: int,
    depthwise: bool,
    shift: int,
    seed: int,
) -> None:
    if image[0] + pads[0] + pads[1] < kernel[0] or image[1] + pads[2] + pads[3] < kernel[1]:
        return
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 256, (*image, channels)).astype(np.uint8)
    shape = (channels, *kernel) if depthwise else (outputs, channels, *kernel)
    weight = rng.integers(-128, 128, shape).astype(np.int8)
    value = int(rng.integers(0, 256))
    _check_convolution(kernels, x, weight, pads, stride, value=value, shift=shift, rng=rng)


@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    image=st.tuples(st.integers(1, 5), st.integers(1, 13)),
    stride=st.tuples(st.integers(1, 3), st.integers(1, 4)),
    pads=PADS,
    channels=st.integers(1, 11),
    shift=SHIFTS,
    seed=st.integers(0, 2**31),
)
def test_rows_of_3x3_equal_numpy(
    kernels: ctypes.CDLL,
    image: tuple[int, int],
    stride: tuple[int, int],
    pads: tuple[int, int, int, int],
    channels: int,
    shift: int,
    seed: int,
) -> None:
    """The depthwise kernel that goes along rows: short and long ones, all of them padding too."""
    if image[0] + pads[0] + pads[1] < 3 or image[1] + pads[2] + pads[3] < 3:
        return
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 256, (*image, channels)).astype(np.uint8)
    weight = rng.integers(-128, 128, (channels, 3, 3)).astype(np.int8)
    value = int(rng.integers(0, 256))
    _check_convolution(kernels, x, weight, pads, stride, value=value, shift=shift, rng=rng)


@pytest.mark.parametrize(("side", "outputs"), [(1, 33), (2, 4), (3, 17), (5, 6), (9, 3), (8, 64)])
def test_blocks_of_one_and_two_pixels_equal_numpy(kernels: ctypes.CDLL, side: int, outputs: int) -> None:
    """Few blocks and many, whole and cut ones, read in place and gathered."""
    for channels, kernel in ((8, 1), (7, 1), (5, 3)):
        rng = np.random.default_rng(side)
        x = rng.integers(0, 256, (side, side, channels)).astype(np.uint8)
        weight = rng.integers(-128, 128, (outputs, channels, kernel, kernel)).astype(np.int8)
        pad = kernel // 2
        _check_convolution(kernels, x, weight, (pad,) * 4, (1, 1), value=7, shift=40, rng=rng)


@settings(max_examples=examples(80), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(n=st.integers(1, 5), c=st.integers(1, 40), k=st.integers(1, 40), seed=st.integers(0, 2**31))
def test_dense_layers_equal_numpy(kernels: ctypes.CDLL, n: int, c: int, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 256, (n, c)).astype(np.uint8)
    weight = np.zeros((k, column_bytes(c)), np.int8)
    weight[:, :c] = rng.integers(-128, 128, (k, c))
    sums = x.astype(np.int64) @ weight[:, :c].T.astype(np.int64)
    multiplier, addend = _constants(rng, int(np.abs(sums).max()), k, 41)
    out = np.full(n * k + 16, 0xA5, np.uint8)
    scratch = np.zeros(8 * COLUMNS * column_bytes(c), np.uint8)
    fields = {"input": x, "weight": weight, "multiplier": multiplier, "addend": addend, "output": out}
    fields |= {"scratch": scratch, "n": n, "k": k, "c": c, "shift": 41}
    kernels.match_gap9_wide_linear(ctypes.byref(_context(LINEAR, fields)))
    np.testing.assert_array_equal(out[: n * k].reshape(n, k), _requantised(sums, multiplier, addend, 41))
    assert (out[n * k :] == 0xA5).all()


def test_runtime_needs_only_the_sdk(tmp_path: Path) -> None:
    """Warning-free against the SDK's names alone, and nothing of the host's library but memcpy and memset."""
    for header in map(context_header, INTERFACES):
        (tmp_path / header.name).write_text(header.text)
    (tmp_path / HEADER_NAME).write_text(render_timing_header())
    allowed = {"memcpy", "memset", "pi_core_id"}
    for name in (*SOURCES, "match_gap9_ne16_wide"):
        output = tmp_path / f"{name}.o"
        folders = (tmp_path, PACKAGE / "runtime", PACKAGE / "twin/include")
        command = ["gcc", *FLAGS[:-3], "-Os", "-c", str(PACKAGE / f"runtime/{name}.c"), "-o", str(output)]
        subprocess.run([*command, *(f"-I{folder}" for folder in folders)], check=True)
        done = subprocess.run(["nm", "-u", str(output)], capture_output=True, text=True, check=True)
        needed = {line.split()[-1] for line in done.stdout.splitlines()}
        assert {symbol for symbol in needed if not symbol.startswith(("ne16_", "match_gap9_"))} <= allowed
