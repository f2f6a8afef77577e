"""The package's own NE16 job words against those of the published driver's setters."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from match_core.lower.interfaces import context_header
from match_gap9.interfaces import CONV2D, DEPTHWISE2D, LINEAR
from match_gap9.timing import HEADER_NAME, render_timing_header

from tests.c_objects import link_cached
from tests.examples import examples

from .conftest import HERE, WARNINGS, sources

WORDS = 24
POINTERS = ("input", "weight", "multiplier", "addend", "output")
SIZES = (
    "in_y", "in_x", "c", "row_bytes", "pixel_bytes", "oy", "ox", "k", "out_bytes", "kernel", "depthwise", "stride",
    "weight_bits", "shift", "top", "bottom", "left", "right", "pad_value",
)  # fmt: skip


class Tile(ctypes.Structure):
    """``match_gap9_ne16_tile_t``."""

    _fields_ = (*((name, ctypes.c_void_p) for name in POINTERS), *((name, ctypes.c_uint32) for name in SIZES))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("words")
    for header in map(context_header, (CONV2D, DEPTHWISE2D, LINEAR)):
        (folder / header.name).write_text(header.text)
    (folder / HEADER_NAME).write_text(render_timing_header())
    files, folders = sources()
    runtime = next(path for path in folders if path.name == "runtime" and path.parent.name == "match_gap9")
    files += [runtime / "match_gap9_ne16_job.c", HERE / "ne16_words.c"]
    flags = [*WARNINGS, "-O1", "-fPIC", "-shared", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"]
    output = folder / "words.so"
    link_cached(output, flags, files, (folder, *folders))
    return ctypes.CDLL(str(output))


@st.composite
def tiles(draw: Callable[..., int]) -> Tile:
    def number(low: int, high: int) -> int:
        return draw(st.integers(low, high))

    kernel, stride = draw(st.sampled_from(((3, 1), (3, 2), (1, 1))))
    depthwise = number(0, 1) if kernel == 3 else 0
    k = 2 * number(1, 40) if stride == 2 else number(1, 80)
    c = k if depthwise else number(1, 70)
    oy, ox = number(1, 12), number(1, 12)
    pads = [number(0, 1) if kernel == 3 else 0 for _ in range(4)]
    in_y = max((oy - 1) * stride + kernel - pads[0] - pads[1], 3)
    in_x = max((ox - 1) * stride + kernel - pads[2] - pads[3], 3)
    step_y, step_x = (number(1, 2), number(1, 2)) if kernel == 1 else (1, 1)
    addresses = {name: 4 * number(0, 1 << 15) for name in POINTERS}
    return Tile(
        **addresses,
        in_y=in_y, in_x=in_x, c=c, row_bytes=in_x * c * step_y, pixel_bytes=c * step_x, oy=oy, ox=ox, k=k,
        out_bytes=draw(st.sampled_from((1, 4))), kernel=kernel, depthwise=depthwise, stride=stride,
        weight_bits=number(2, 8), shift=number(0, 31), top=pads[0], bottom=pads[1], left=pads[2], right=pads[3],
        pad_value=draw(st.sampled_from((0, 0, 1, 255))) if kernel == 3 else 0,
    )  # fmt: skip


@settings(max_examples=examples(400), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tile=tiles())
def test_words_equal_the_drivers(library: ctypes.CDLL, tile: Tile) -> None:
    words = [(ctypes.c_uint32 * WORDS)() for _ in range(2)]
    library.by_driver(ctypes.byref(tile), words[0])
    library.by_runtime(ctypes.byref(tile), words[1])
    assert [hex(word) for word in words[1]] == [hex(word) for word in words[0]], {s: getattr(tile, s) for s in SIZES}
