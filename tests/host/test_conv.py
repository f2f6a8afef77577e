"""Convolutions in tiles: every way to write one, on all kinds of shapes, exact for integers, for both machines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import onnx_graphsurgeon as gs
import pytest
from host_harness import Array, Case, expected, make_model
from match_host.kernels.products.conv import build_conv
from match_host.machine import MACHINES

from tests.examples import all_examples

RNG = np.random.default_rng(23)
node = onnx.helper.make_node
#: batch, groups, inputs and outputs of a group, sizes, kernel, strides, dilations, pads before and after.
SHAPES = {
    "line of tiles": (1, 1, 16, 16, (5, 40), (3, 3), (1, 1), (1, 1), (1, 1), (1, 1)),
    "outputs that are no whole block": (1, 1, 5, 21, (4, 19), (3, 3), (1, 1), (1, 1), (1, 1), (1, 1)),
    "few outputs": (1, 1, 7, 3, (6, 13), (3, 2), (1, 1), (1, 1), (1, 0), (1, 2)),
    "asymmetric pads, stride": (1, 1, 3, 24, (9, 30), (5, 4), (2, 2), (1, 1), (3, 0), (1, 3)),
    "dilated": (1, 1, 4, 9, (9, 33), (3, 3), (1, 1), (2, 3), (2, 3), (2, 3)),
    "groups": (2, 3, 6, 10, (5, 18), (3, 3), (1, 2), (1, 1), (1, 1), (1, 1)),
    "points": (1, 1, 20, 17, (6, 7), (1, 1), (1, 1), (1, 1), (0, 0), (0, 0)),
    "points, stride": (1, 1, 18, 33, (6, 9), (1, 1), (2, 2), (1, 1), (0, 0), (0, 0)),
    "one input": (1, 1, 1, 40, (13, 10), (10, 4), (2, 2), (1, 1), (4, 1), (4, 1)),
    "kernel wider than the input": (1, 1, 4, 5, (3, 4), (5, 7), (1, 1), (1, 1), (2, 3), (2, 3)),
    "pads wider than the kernel": (1, 1, 2, 4, (3, 5), (2, 2), (1, 1), (1, 1), (4, 4), (4, 4)),
    "short lines, stride": (2, 1, 3, 8, (9, 37), (3, 3), (2, 2), (1, 1), (0, 1), (1, 1)),
    "short lines, kernel wider than the input": (1, 1, 2, 9, (3, 4), (5, 7), (1, 1), (1, 1), (2, 3), (2, 3)),
    "points of few inputs": (1, 1, 8, 16, (5, 9), (1, 1), (1, 1), (1, 1), (0, 0), (0, 0)),
    "one channel": (2, 1, 1, 1, (9, 21), (3, 3), (1, 1), (1, 1), (1, 1), (1, 1)),
    "one channel, stride": (1, 1, 1, 1, (7, 30), (4, 5), (2, 2), (1, 1), (3, 1), (1, 3)),
    "one channel, kernel wider than the input": (1, 1, 1, 1, (3, 4), (5, 7), (1, 1), (1, 1), (2, 3), (2, 3)),
    "one dimension": (1, 1, 6, 11, (30,), (3,), (1,), (1,), (1,), (1,)),
    "three dimensions": (1, 1, 3, 9, (4, 5, 20), (2, 3, 3), (1, 2, 1), (1, 1, 2), (1, 0, 2), (0, 1, 2)),
}


def values(dtype: str, *shape: int) -> Array:
    if dtype.startswith("float"):
        return RNG.normal(0, 1, shape).astype(dtype)
    info = np.iinfo(dtype)
    return RNG.integers(info.min, int(info.max) + 1, shape, dtype=dtype)


def model(name: str, dtype: str, last: bool, fill: int | None = None) -> tuple[onnx.ModelProto, dict[str, Array]]:
    """A convolution of a shape; ``last``: channels last; ``fill``: a Pad of its own writes this value, and a
    requantisation follows."""
    batch, groups, inputs, outputs, sizes, kernel, strides, dilations, before, after = SHAPES[name]
    space = (*sizes, groups * inputs) if last else (groups * inputs, *sizes)
    x = values(dtype, batch, *space)
    attributes: dict[str, Any] = {"strides": strides, "dilations": dilations, "group": groups}
    weight = values(dtype if dtype.startswith("float") else "int8", groups * outputs, inputs, *kernel)
    constants: dict[str, Array] = {"w": weight}
    domain, nodes, source = "match.nhwc" if last else "", [], "x"
    pads = (*before, *after)
    if fill is not None:
        edges = (0, *before, 0) if last else (0, 0, *before)
        ends = (0, *after, 0) if last else (0, 0, *after)
        constants |= {"pads": np.array((*edges, *ends), np.int64), "fill": np.array(fill, dtype)}
        nodes.append(node("Pad", ["x", "pads", "fill"], ["padded"]))
        source, pads = "padded", (0,) * len(pads)
    attributes |= {"pads": pads, "kernel_shape": kernel}
    if dtype.startswith("float"):
        constants["b"] = values(dtype, groups * outputs)
        nodes.append(node("Conv", [source, "w", "b"], ["y"], domain=domain, **attributes))
        return make_model(nodes, {"x": x}, constants), {"x": x}
    nodes.append(node("ConvInteger", [source, "w"], ["sums" if fill is not None else "y"], domain=domain, **attributes))
    if fill is not None:
        channel = (1,) * (1 + len(sizes)) + (-1,) if last else (1, -1) + (1,) * len(sizes)
        constants |= {
            "M": RNG.integers(1, 2**30, groups * outputs).astype(np.int64).reshape(channel),
            "B": RNG.integers(-(2**40), 2**40, groups * outputs).astype(np.int64).reshape(channel),
            "D": np.array(2**38),
            "lo": np.array(-128),
            "hi": np.array(127),
        }
        requant = ["sums", "M", "B", "D", "lo", "hi"]
        nodes.append(node("RequantI8", requant, ["y"], domain="match.arith"))
    return make_model(nodes, {"x": x}, constants), {"x": x}


def keys() -> list[tuple[str, str, str, bool, int | None]]:
    """Machine, shape, element type, channels last, what a Pad writes: three combinations of each shape and layout, in
    turns; every second one in CI."""
    places = [
        (name, last) for name, shape in SHAPES.items() for last in (False, True) if not last or len(shape[4]) == 2
    ]
    found: list[tuple[str, str, str, bool, int | None]] = []
    for turn, machine in enumerate(MACHINES):
        for number, (name, last) in enumerate(places, turn):
            floating = "float64" if not last and number % 3 == 0 else "float32"
            found.append((machine, name, floating, last, None))
            found.append((machine, name, ("uint8", "int8")[number % 2], last, None))
            found.append((machine, name, "int8", last, (5, -128, 0)[number % 3]))
    return found if all_examples() else [key for number, key in enumerate(found) if (number // 3 + number) % 2]


@pytest.fixture(scope="module")
def results(
    run_cases: Callable[..., list[list[dict[str, Array]]]],
) -> dict[tuple[str, str, str, bool, int | None], tuple[Case, dict[str, Array]]]:
    cases = {}
    for key in keys():
        machine, name, dtype, last, fill = key
        made, sample = model(name, dtype, last, fill)
        cases[key] = Case(made, [sample], machine=machine)
    found = run_cases(list(cases.values()))
    return {key: (case, samples[0]) for (key, case), samples in zip(cases.items(), found, strict=True)}


@pytest.mark.parametrize("key", keys(), ids=lambda key: "-".join(map(str, key)))
def test_equals_the_reference(
    key: tuple[str, str, str, bool, int | None],
    results: dict[tuple[str, str, str, bool, int | None], tuple[Case, dict[str, Array]]],
) -> None:
    case, outputs = results[key]
    want = expected(case.model, case.samples[0])["y"]
    if want.dtype.kind == "f":
        scale = float(np.abs(want).max())
        np.testing.assert_allclose(
            outputs["y"], want, rtol=0, atol=scale * (1e-5 if want.dtype == np.float32 else 1e-13)
        )
    else:
        np.testing.assert_array_equal(outputs["y"], want)


def _c_of(name: str, machine: str, fill: int | None = None) -> str:
    """The kernel of a shape in NHWC."""
    graph = gs.import_onnx(model(name, "int8", True, fill)[0])
    return build_conv(tuple(graph.nodes), "f", MACHINES[machine]).code.definition


@pytest.mark.parametrize("name", ["short lines, stride", "points of few inputs"])
def test_short_pieces_of_lines_become_words_for_vectors_only(name: str) -> None:
    assert "int32_t line[" in _c_of(name, "generic")
    assert "int32_t line[" not in _c_of(name, "scalar")


def test_lines_of_one_channel_are_copied_with_their_padding_if_they_have_several_tiles() -> None:
    several, one = _c_of("one channel", "scalar"), _c_of("one channel, kernel wider than the input", "scalar")
    assert "int8_t lines[" in several and "*from[" not in several
    assert "int8_t lines[" not in one and "*from[" in one
    assert "*from[" in _c_of("few outputs", "scalar") and "lines[" not in _c_of("one channel", "generic")


def test_bytes_are_stored_in_a_loop_of_their_own_for_vectors_only() -> None:
    assert "= (int8_t)sums[" in _c_of("points", "generic", fill=0)
    assert "= (int8_t)sums[" not in _c_of("points", "scalar", fill=0)
