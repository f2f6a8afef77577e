"""Cycles of the binary16 kernels: the twin charges what the formulas say; the formulas keep to the units' bounds."""

from __future__ import annotations

import ctypes
import subprocess

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from match_carfield.constants import values
from match_carfield.half import formulas, interfaces
from match_core import KernelInterface

from tests.examples import examples

from .half_library import PACKAGE, RUNTIME, STRICT, TWIN, context, write_headers

UNITS = ("pulp", "spatz")
NAMES = {interface.kind.removeprefix("half_"): interface for interface in interfaces.HALF_INTERFACES}
KERNELS = [f"{unit}_{name}" for unit in UNITS for name in NAMES]
KERNELS += [f"redmule_{name}" for name in ("conv2d", "linear", "matmul")]

PROBE = """#include "carfield_twin.h"
uint64_t spent;
void carfield_kernel(carfield_unit_t unit, const char *name, uint64_t cycles)
{
    (void)unit;
    (void)name;
    spent = cycles;
}
"""


@pytest.fixture(scope="module")
def charges(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("charges")
    write_headers(folder)
    (folder / "probe_cost.c").write_text(PROBE)
    output, folders = folder / "charges.so", (folder, PACKAGE / "twin/src", PACKAGE / "twin/include", RUNTIME, TWIN)
    sources = (PACKAGE / "twin/src/carfield_cost_half.c", folder / "probe_cost.c")
    command = ["gcc", *STRICT, "-O1", "-fPIC", "-shared", *(f"-I{path}" for path in folders), *map(str, sources)]
    done = subprocess.run([*command, "-o", str(output)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(output))


def _interface(kernel: str) -> KernelInterface:
    return NAMES[kernel.partition("_")[2]]


SIZES = st.sampled_from((1, 2, 3, 4, 5, 7, 8, 12, 13, 16, 31, 33, 64, 70, 128, 200, 256))


@settings(max_examples=examples(400), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(kernel=st.sampled_from(KERNELS), data=st.data())
def test_twin_charges_what_the_formulas_say(charges: ctypes.CDLL, kernel: str, data: st.DataObject) -> None:
    interface = _interface(kernel)
    tile = {dim: data.draw(st.integers(1, 4) if dim in ("FY", "FX") else SIZES) for dim in interface.dims}
    parameters = {name: data.draw(st.integers(1, 2)) for name in interface.geometry if name.startswith("stride")}
    parameters |= {name: data.draw(st.integers(0, 1)) for name in interface.geometry if name == "b_transposed"}
    arrays = {name: np.array([size], np.int64) for name, size in tile.items()}
    expected = formulas.work_cycles(values(), kernel, parameters, arrays)
    fields = {name.lower(): size for name, size in tile.items()} | parameters
    charges[f"match_carfield_twin_{kernel}"](ctypes.byref(context(interface, fields)))
    assert expected.shape == (1,)
    assert ctypes.c_uint64.in_dll(charges, "spent").value == int(expected[0])


#: Multiply-adds that a unit can do in a cycle (sheet 3.1, 3.2).
PEAK = {"pulp": 16, "spatz": 32, "redmule": 48}


@settings(max_examples=examples(200), deadline=None)
@given(
    unit=st.sampled_from(tuple(PEAK)),
    sizes=st.tuples(st.integers(1, 40), st.integers(1, 40), st.integers(1, 300), st.integers(1, 300)),
    kernel=st.tuples(st.integers(1, 5), st.integers(1, 5)),
)
def test_no_kernel_is_faster_than_its_unit(
    unit: str, sizes: tuple[int, int, int, int], kernel: tuple[int, int]
) -> None:
    names = ("OY", "OX", "K", "C", "FY", "FX")
    tile = {name: np.array([size], np.int64) for name, size in zip(names, (*sizes, *kernel), strict=True)}
    stride = {"stride_y": 1, "stride_x": 1}
    cycles = int(formulas.kernel_cycles(values(), f"{unit}_conv2d", stride, tile)[0])
    assert cycles * PEAK[unit] > np.prod([*sizes, *kernel], dtype=np.int64)


def test_more_work_takes_longer() -> None:
    base = {"OY": 8, "OX": 8, "K": 64, "C": 64, "FY": 3, "FX": 3}
    stride = {"stride_y": 1, "stride_x": 1}
    for unit in PEAK:
        for name in base:
            grown = {key: np.array([size, 2 * size if key == name else size]) for key, size in base.items()}
            less, more = formulas.kernel_cycles(values(), f"{unit}_conv2d", stride, grown)
            assert less < more, (unit, name)


def test_scales_move_one_unit_alone() -> None:
    tile = {name: np.array([64]) for name in ("N", "K", "C")}
    figures = dict(values())
    before = {unit: int(formulas.work_cycles(figures, f"{unit}_linear", {}, tile)[0]) for unit in PEAK}
    figures["pulp_scale_percent"] = 130
    after = {unit: int(formulas.work_cycles(figures, f"{unit}_linear", {}, tile)[0]) for unit in PEAK}
    assert after["spatz"] == before["spatz"]
    for unit in ("pulp", "redmule"):
        assert after[unit] == -(-before[unit] * 130 // 100)
