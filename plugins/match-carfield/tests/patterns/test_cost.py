"""Cost models: never below what the hardware can do, never cheaper for more work, as the Soc's mode says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from match_carfield.constants import values
from match_carfield.cost import CarfieldCost, cost_model
from match_carfield.formulas_dma import call_cycles
from match_carfield.half.interfaces import HALF_INTERFACES
from match_carfield.hardware import hardware
from match_carfield.int8.interfaces import INT8_INTERFACES
from match_carfield.kernels import PULP_KERNELS, SPATZ_KERNELS
from match_core import Dim, KernelInterface, TransferShape, Workload
from numpy.typing import NDArray

SOC = hardware().socs[0]
KERNELS = [*(("pulp", name) for name in sorted(PULP_KERNELS)), *(("spatz", name) for name in sorted(SPATZ_KERNELS))]
#: Multiply-accumulates in a cycle that no kernel can exceed (sheet 3.1, 3.2).
PEAK = {"pulp": 16, "redmule": 48, "spatz": 32, "int8": 32}
#: Dimensions over which a kernel multiplies and accumulates.
PRODUCTS = {
    "half_conv2d": "OY OX K C FY FX",
    "half_depthwise2d": "OY OX K FY FX",
    "half_group2d": "OY OX G KG CG FY FX",
    "half_linear": "N K C",
    "half_matmul": "B M K C",
    "int8_conv2d": "OY OX K C FY FX",
    "int8_linear": "N K C",
    "int8_depthwise2d": "OY OX K FY FX",
}
Sizes = dict[str, NDArray[np.int64]]


def interface_of(unit: str, name: str) -> KernelInterface:
    kind = (PULP_KERNELS if unit == "pulp" else SPATZ_KERNELS)[name].interface.kind
    return next(interface for interface in (*HALF_INTERFACES, *INT8_INTERFACES) if interface.kind == kind)


def workload_of(interface: KernelInterface) -> Workload:
    geometry = tuple((name, 1) for name in interface.geometry)
    return Workload(interface.kind, tuple(Dim(dim, 64) for dim in interface.dims), (), 0, geometry)


def tiles(data: st.DataObject, interface: KernelInterface) -> Sizes:
    """Whole blocks of pixels and vectors: what is left over may be dearer than another block."""
    most, block = {"FY": 5, "FX": 5}, {"FY": 1, "FX": 1}
    sizes = {dim: data.draw(st.integers(1, most.get(dim, 10))) * block.get(dim, 4) for dim in interface.dims}
    return {dim: np.array([size]) for dim, size in sizes.items()}


@pytest.mark.parametrize(("unit", "name"), KERNELS)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_kernels(unit: str, name: str, data: st.DataObject) -> None:
    interface, model = interface_of(unit, name), cost_model(unit, name, SOC)
    workload, tile = workload_of(interface), tiles(data, interface)
    cycles = model.kernel_cycles(workload, tile)
    assert cycles.dtype == np.int64
    assert cycles.shape == (1,)
    assert cycles[0] > 0
    macs = np.prod([tile[dim] for dim in PRODUCTS[interface.kind].split()]) if interface.kind in PRODUCTS else 0
    peak = PEAK.get(name.split("_")[0], PEAK[unit])
    assert cycles[0] * peak >= macs
    dim = data.draw(st.sampled_from(interface.dims))
    larger = {**tile, dim: 2 * tile[dim]}
    assert model.kernel_cycles(workload, larger)[0] >= cycles[0]
    assert model.launch_cycles(workload, tile)[0] > 0


@pytest.mark.parametrize("unit", ["pulp", "spatz"])
@given(
    planes=st.integers(1, 5),
    rows=st.integers(1, 40),
    row_bytes=st.integers(1, 5000),
    direction=st.sampled_from(["in", "out"]),
)
def test_copies_take_at_least_their_bytes(unit: str, planes: int, rows: int, row_bytes: int, direction: Any) -> None:
    model = cost_model(unit, "add", SOC)
    shape = TransferShape(direction, *(np.array([n]) for n in (row_bytes, rows, planes)), "l2", f"l1_{unit}")
    cycles = model.transfer_cycles(workload_of(interface_of(unit, "add")), shape)
    assert cycles.issue[0] > 0
    # Data of one command move while the next is issued.
    assert (cycles.issue[0] + cycles.data[0]) * 8 >= planes * rows * row_bytes
    assert cycles.wait[0] >= 0


def test_constants_from_dram_are_dearer_than_from_l2() -> None:
    model, workload = cost_model("pulp", "linear", SOC), workload_of(interface_of("pulp", "linear"))
    one = np.array([1])
    near, far = (TransferShape("in", np.array([4096]), one, one, *ends) for ends in (("l2", "l1_pulp"), ("l3", "l2")))
    assert model.transfer_cycles(workload, far).data[0] > model.transfer_cycles(workload, near).data[0]


@pytest.mark.parametrize("unit", ["pulp", "spatz"])
def test_tensors_in_dram_are_dearer_than_in_l2(unit: str) -> None:
    model, workload = cost_model(unit, "linear", SOC), workload_of(interface_of(unit, "linear"))
    one = np.array([1])
    near, far = (TransferShape("in", np.array([4096]), one, one, memory, f"l1_{unit}") for memory in ("l2", "l3"))
    assert model.transfer_cycles(workload, far).data[0] > model.transfer_cycles(workload, near).data[0]


def test_the_preset_of_the_soc_counts() -> None:
    slow = replace(SOC, preset="spatz-30")
    workload = workload_of(interface_of("spatz", "linear"))
    tile = {dim: np.array([16]) for dim in ("N", "K", "C")}
    cycles, longer = (cost_model("spatz", "linear", soc).kernel_cycles(workload, tile)[0] for soc in (SOC, slow))
    assert 1.42 < longer / cycles < 1.44


def test_only_sequential_programs_pay_for_a_call() -> None:
    workload = workload_of(interface_of("pulp", "linear"))
    assert cost_model("pulp", "linear", SOC).layer_cycles(workload) == call_cycles(values("event"))
    assert cost_model("pulp", "linear", replace(SOC, mode="concurrent")).layer_cycles(workload) == 0


def test_names_tell_models_apart() -> None:
    models = [
        CarfieldCost(unit, name, signalling, preset, mode)
        for unit, name in KERNELS
        for signalling in ("event", "poll")
        for preset in ("counted", "pulp-30")
        for mode in ("sequential", "concurrent")
    ]
    assert len({(model.name, model.version) for model in models}) == len(models)
