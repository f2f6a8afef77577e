"""Binary16 kernels of both clusters and of RedMulE against numpy, bit for bit."""

from __future__ import annotations

import ctypes
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from match_carfield.half import interfaces
from match_core import KernelInterface
from numpy.typing import NDArray

from tests.examples import examples

from . import half_reference as reference
from .half_library import PACKAGE, RUNTIME, STRICT, build, context, write_headers
from .half_reference import Half, bits

TRAP = ("-fsanitize=undefined", "-fsanitize-undefined-trap-on-error", "-fno-sanitize-recover=all")
UNITS = ("pulp", "spatz")
GUARD = 0xA5A5

QUIET = settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
PAIR = st.tuples(st.integers(1, 3), st.integers(1, 3))
SEEDS = st.integers(0, 2**31)


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """Undefined behaviour ends the process."""
    return build(tmp_path_factory.mktemp("half"), *TRAP)


def numbers(rng: np.random.Generator, shape: tuple[int, ...], spread: float = 1.0) -> Half:
    """Of every size that a sum may lose or keep, zeros of both signs among them."""
    values = (rng.standard_normal(shape) * spread * 2.0 ** rng.integers(-12, 3, shape)).astype(np.float16)
    return np.where(rng.random(shape) < 0.1, np.copysign(np.float16(0), values), values)


class Run:
    """A kernel call with guarded outputs; arrays lie in the arena that RedMulE reaches."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library, self.used = library, 0
        self.arena = np.ctypeslib.as_array((ctypes.c_uint16 * (1 << 19)).in_dll(library, "test_l1"))

    def place(self, values: NDArray[Any]) -> NDArray[np.uint16]:
        flat = self.arena[self.used : self.used + values.size]
        flat[:] = values.reshape(-1).view(np.uint16)
        self.used += values.size + 2
        return flat

    def empty(self, size: int) -> NDArray[np.uint16]:
        return self.place(np.full(size + 8, GUARD, np.uint16))

    def __call__(self, name: str, interface: KernelInterface, output: NDArray[np.uint16], **fields: Any) -> Half:
        """``output`` as numbers; what lies behind it is untouched."""
        placed = {
            key: self.place(value) if isinstance(value, np.ndarray) and value.dtype == np.float16 else value
            for key, value in fields.items()
        }
        self.library[f"match_carfield_{name}"](ctypes.byref(context(interface, placed | {"output": output})))
        assert (output[-8:] == GUARD).all()
        return output[:-8].view(np.float16)


def check(got: Half, expected: Half) -> None:
    np.testing.assert_array_equal(bits(got), bits(expected.reshape(-1)))


def spatial(
    image: tuple[int, int],
    kernel: tuple[int, int],
    pads: tuple[int, int, int, int],
    stride: tuple[int, int],
    dilation: tuple[int, int],
) -> tuple[tuple[int, int], dict[str, int], dict[str, tuple[int, int]]] | None:
    """Output size, fields of the context, arguments of the reference; None where no window fits."""
    reach = [(size - 1) * step + 1 for size, step in zip(kernel, dilation, strict=True)]
    room = (image[0] + pads[0] + pads[1] - reach[0], image[1] + pads[2] + pads[3] - reach[1])
    if min(room) < 0:
        return None
    out = (room[0] // stride[0] + 1, room[1] // stride[1] + 1)
    fields = {"oy": out[0], "ox": out[1], "fy": kernel[0], "fx": kernel[1], "stride_y": stride[0]}
    fields |= {"stride_x": stride[1], "input_y": image[0], "input_x": image[1]}
    fields |= {"input_y_pad_before": pads[0], "input_y_pad_after": pads[1]}
    fields |= {"input_x_pad_before": pads[2], "input_x_pad_after": pads[3]}
    return out, fields, {"pads": (pads[0], pads[2]), "stride": stride, "dilation": dilation}


SPATIAL = {
    "image": st.tuples(st.integers(1, 8), st.integers(1, 14)),
    "kernel": st.tuples(st.integers(1, 4), st.integers(1, 4)),
    "pads": st.tuples(*[st.integers(0, 3)] * 4),
    "stride": PAIR,
    "dilation": PAIR,
    "relu": st.booleans(),
    "seed": SEEDS,
}


def _dilations(dilation: tuple[int, int]) -> dict[str, int]:
    return {"dilation_y": dilation[0], "dilation_x": dilation[1]}


@QUIET
@given(channels=st.integers(1, 12), outputs=st.integers(1, 150), **SPATIAL)
def test_convolution(kernels: ctypes.CDLL, channels: int, outputs: int, relu: bool, seed: int, **shape: Any) -> None:
    made = spatial(**shape)
    if made is None:
        return
    out, fields, geometry = made
    rng = np.random.default_rng(seed)
    x, w = numbers(rng, (*shape["image"], channels)), numbers(rng, (*shape["kernel"], channels, outputs))
    mul, add = numbers(rng, (outputs,)), numbers(rng, (outputs,))
    expected = reference.finished(reference.sums(x, w, out, **geometry), mul, add, relu)
    fields |= {"k": outputs, "c": channels, "relu": int(relu), **_dilations(shape["dilation"])}
    units = (*UNITS, "redmule") if channels % 4 == 0 and shape["stride"][1] == 1 else UNITS
    for unit in units:
        run = Run(kernels)
        output = run.empty(expected.size)
        got = run(f"{unit}_conv2d", interfaces.HALF_CONV2D, output, input=x, weight=w, mul=mul, add=add, **fields)
        check(got, expected)


@QUIET
@given(groups=st.integers(1, 4), inputs=st.integers(1, 5), outputs=st.integers(1, 9), **SPATIAL)
def test_grouped_convolution(
    kernels: ctypes.CDLL, groups: int, inputs: int, outputs: int, relu: bool, seed: int, **shape: Any
) -> None:
    made = spatial(**shape)
    if made is None:
        return
    out, fields, geometry = made
    rng = np.random.default_rng(seed)
    x = numbers(rng, (*shape["image"], groups, inputs))
    w = numbers(rng, (groups, *shape["kernel"], inputs, outputs))
    mul, add = numbers(rng, (groups, outputs)), numbers(rng, (groups, outputs))
    parts = [reference.sums(x[:, :, g], w[g], out, **geometry) for g in range(groups)]
    expected = reference.finished(np.stack(parts, 2), mul, add, relu)
    fields |= {"g": groups, "kg": outputs, "cg": inputs, "relu": int(relu), **_dilations(shape["dilation"])}
    for unit in UNITS:
        run = Run(kernels)
        output = run.empty(expected.size)
        got = run(f"{unit}_group2d", interfaces.HALF_GROUP2D, output, input=x, weight=w, mul=mul, add=add, **fields)
        check(got, expected)


@QUIET
@given(channels=st.integers(1, 40), **SPATIAL)
def test_depthwise_convolution(kernels: ctypes.CDLL, channels: int, relu: bool, seed: int, **shape: Any) -> None:
    made = spatial(**shape)
    if made is None:
        return
    out, fields, geometry = made
    rng = np.random.default_rng(seed)
    x, w = numbers(rng, (*shape["image"], channels)), numbers(rng, (*shape["kernel"], channels))
    mul, add = numbers(rng, (channels,)), numbers(rng, (channels,))
    expected = reference.finished(reference.channel_sums(x, w, out, **geometry), mul, add, relu)
    fields |= {"k": channels, "relu": int(relu), **_dilations(shape["dilation"])}
    for unit in UNITS:
        run = Run(kernels)
        output, constants = run.empty(expected.size), {"weight": w, "mul": mul, "add": add}
        got = run(f"{unit}_depthwise2d", interfaces.HALF_DEPTHWISE2D, output, input=x, **constants, **fields)
        check(got, expected)


@QUIET
@given(n=st.integers(1, 9), c=st.integers(1, 40), k=st.integers(1, 300), relu=st.booleans(), seed=SEEDS)
def test_dense_layer(kernels: ctypes.CDLL, n: int, c: int, k: int, relu: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, w, mul, add = numbers(rng, (n, c)), numbers(rng, (c, k)), numbers(rng, (k,)), numbers(rng, (k,))
    expected = reference.finished(reference.product(x, w), mul, add, relu)
    for unit in (*UNITS, "redmule") if c % 4 == 0 else UNITS:
        run = Run(kernels)
        output, sizes = run.empty(expected.size), {"n": n, "k": k, "c": c, "relu": int(relu)}
        got = run(f"{unit}_linear", interfaces.HALF_LINEAR, output, input=x, weight=w, mul=mul, add=add, **sizes)
        check(got, expected)


@QUIET
@given(
    sizes=st.tuples(st.integers(1, 4), st.integers(1, 9), st.integers(1, 40), st.integers(1, 20)),
    between=st.tuples(*[st.booleans()] * 3),
    transposed=st.booleans(),
    scale=st.sampled_from((1.0, 0.125, 0.1)),
    seed=SEEDS,
)
def test_product(
    kernels: ctypes.CDLL,
    sizes: tuple[int, int, int, int],
    between: tuple[bool, bool, bool],
    transposed: bool,
    scale: float,
    seed: int,
) -> None:
    b, m, k, c = sizes
    rng, factor = np.random.default_rng(seed), np.float16(scale)
    left, right = numbers(rng, (b, m, c)), numbers(rng, (b, c, k))
    sums = np.stack([reference.product(left[i], right[i]) for i in range(b)])
    expected = reference.rounded(sums * float(factor)).astype(np.float16)
    stored = {"left": left.transpose(1, 0, 2) if between[0] else left, "right": right}
    if transposed:
        stored["right"] = right.transpose(0, 2, 1)
    if between[1]:
        stored["right"] = stored["right"].transpose(1, 0, 2)
    fields = {"b": b, "m": m, "k": k, "c": c, "b_transposed": int(transposed), "scale_bits": int(bits(factor))}
    fields |= dict(zip(("a_between", "b_between", "output_between"), map(int, between), strict=True))
    dense = b == 1 or not (between[0] or between[2] or (between[1] and not transposed))
    for unit in (*UNITS, "redmule") if c % 4 == 0 and dense else UNITS:
        run = Run(kernels)
        output, scratch = run.empty(expected.size), run.empty(right.size)
        operands = {name: np.ascontiguousarray(value) for name, value in stored.items()}
        got = run(f"{unit}_matmul", interfaces.HALF_MATMUL, output, scratch=scratch, **operands, **fields)
        check(got, expected.transpose(1, 0, 2) if between[2] else expected)
        assert (scratch[-8:] == GUARD).all()


@QUIET
@given(channels=st.integers(1, 40), average=st.booleans(), **{k: v for k, v in SPATIAL.items() if k != "relu"})
def test_pooling(kernels: ctypes.CDLL, channels: int, average: bool, seed: int, **shape: Any) -> None:
    shape["dilation"] = (1, 1)
    made = spatial(**shape)
    if made is None:
        return
    out, fields, geometry = made
    rng = np.random.default_rng(seed)
    x, scale = numbers(rng, (*shape["image"], channels)), np.float16(1 / np.prod(shape["kernel"]))
    if not average:
        x[rng.random(x.shape) < 0.3] = np.nan
    expected = reference.pooled(x, out, shape["kernel"], scale if average else None, **geometry)
    fields |= {"c": channels, "average": int(average), "scale_bits": int(bits(scale))}
    for unit in UNITS:
        run = Run(kernels)
        check(run(f"{unit}_pool2d", interfaces.HALF_POOL2D, run.empty(expected.size), input=x, **fields), expected)


@QUIET
@given(shape=st.tuples(st.integers(1, 5), st.integers(1, 9), st.integers(1, 40)), relu=st.booleans(), seed=SEEDS)
def test_addition(kernels: ctypes.CDLL, shape: tuple[int, int, int], relu: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = numbers(rng, shape, 9.0), numbers(rng, shape, 9.0)
    expected = np.maximum(a + b, np.float16(0)) if relu else a + b
    expected = np.where(expected == 0, np.abs(expected), expected) if relu else expected
    fields = dict(zip(("y", "x", "c"), shape, strict=True))
    for unit in UNITS:
        run = Run(kernels)
        output = run.empty(expected.size)
        got = run(f"{unit}_add", interfaces.HALF_ADD, output, input_a=a, input_b=b, relu=int(relu), **fields)
        check(got, expected)


@QUIET
@given(r=st.integers(1, 40), c=st.integers(1, 150), seed=SEEDS)
def test_transposition(kernels: ctypes.CDLL, r: int, c: int, seed: int) -> None:
    x = numbers(np.random.default_rng(seed), (r, c))
    for unit in UNITS:
        run = Run(kernels)
        got = run(f"{unit}_transpose", interfaces.HALF_TRANSPOSE, run.empty(x.size), input=x, r=r, c=c)
        check(got, np.ascontiguousarray(x.T))


#: Instructions of RI5CY on pairs, and its conversions.
PAIR_INSTRUCTIONS = {"vfmac.h", "vfmac.r.h", "vfadd.h", "vfmax.h", "vfmul.r.h", "fcvt.h.s", "fcvt.s.h"}


@pytest.mark.parametrize("name", ["pulp", "redmule"])
def test_pairs_compile(name: str, tmp_path: Path) -> None:
    """The form for silicon, free of warnings; no assembler here knows its instructions."""
    write_headers(tmp_path)
    source, output = RUNTIME / f"match_carfield_half_{name}.c", tmp_path / "pairs.s"
    folders = (tmp_path, RUNTIME, PACKAGE / "twin/include")
    command = ["gcc", *STRICT, "-O1", "-S", "-DMATCH_CARFIELD_XPULP", *(f"-I{path}" for path in folders)]
    done = subprocess.run([*command, str(source), "-o", str(output)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = set(re.findall(r"^\s+(vf[a-z.]+|fcvt[a-z.]+)", output.read_text(), re.MULTILINE))
    assert {"vfmac.h", "vfmul.r.h"} <= found <= PAIR_INSTRUCTIONS


# ---- binary32 inside -----------------------------------------------------------------------------------------------


def near(got: Half, exact: NDArray[np.float64], last_places: float) -> None:
    """Within so many last places of binary16 of the true value."""
    place = np.maximum(np.abs(exact), 2.0**-14) * 2.0**-10
    assert (np.abs(got.astype(np.float64).reshape(exact.shape) - exact) <= last_places * place).all()


@QUIET
@given(r=st.integers(1, 12), c=st.integers(1, 60), spread=st.sampled_from((0.1, 4.0, 300.0)), seed=SEEDS)
def test_softmax(kernels: ctypes.CDLL, r: int, c: int, spread: float, seed: int) -> None:
    x = (np.random.default_rng(seed).standard_normal((r, c)) * spread).astype(np.float16)
    powers = np.exp(x.astype(np.float64) - x.astype(np.float64).max(1, keepdims=True))
    for unit in UNITS:
        run = Run(kernels)
        got = run(f"{unit}_softmax", interfaces.HALF_SOFTMAX, run.empty(x.size), input=x, r=r, c=c)
        check(got, reference.softmax(x))
        near(got, powers / powers.sum(1, keepdims=True), 0.51)


@QUIET
@given(r=st.integers(1, 12), c=st.integers(2, 60), seed=SEEDS)
def test_layer_normalisation(kernels: ctypes.CDLL, r: int, c: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, scale, bias = rng.standard_normal((r, c)).astype(np.float16), numbers(rng, (c,)), numbers(rng, (c,))
    epsilon = np.float32(1e-5)
    wide = x.astype(np.float64)
    exact = (wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + float(epsilon)) * scale + bias
    fields = {"r": r, "c": c, "epsilon_bits": int(epsilon.view(np.int32))}
    for unit in UNITS:
        run, constants = Run(kernels), {"scale": scale, "bias": bias}
        got = run(f"{unit}_layernorm", interfaces.HALF_LAYERNORM, run.empty(x.size), input=x, **constants, **fields)
        check(got, reference.layernorm(x, scale, bias, epsilon))
        assert np.allclose(got.reshape(r, c), exact, rtol=2e-3, atol=2e-3)


def test_gelu_of_all_numbers(kernels: ctypes.CDLL) -> None:
    from math import erf

    x = np.arange(0x7C00, dtype=np.uint16)
    values = np.concatenate([x, x | 0x8000]).view(np.float16)
    exact = np.array([v * (1 + erf(v / 2**0.5)) / 2 for v in values.astype(float)])
    for unit in UNITS:
        run = Run(kernels)
        sizes = {"y": 4, "x": 16, "c": values.size // 64}
        got = run(f"{unit}_gelu", interfaces.HALF_GELU, run.empty(values.size), input=values, **sizes)
        check(got, reference.gelu(values))
        error = np.abs(got.astype(float) - exact)
        assert (error <= np.maximum(np.abs(exact) * 2.0**-10.9, 1.5e-6)).all()
