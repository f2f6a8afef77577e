"""Cost models: jobs take no less than the hardware needs, more work is never cheaper, modes and presets count."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import match_ita
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from match_core import Dim, TransferShape, Workload
from match_core.patterns import formulas
from match_ita.constants import constants, values
from match_ita.cost import cost_model
from match_ita.hardware import hardware
from match_ita.ita.formulas import job_cycles
from match_ita.ita.interfaces import ITA_INTERFACES
from match_ita.presets import PRESETS
from match_ita.timing import CLOCKS, render_timing_header

SOC = hardware().socs[0]
INTERFACES = {interface.kind: interface for interface in ITA_INTERFACES}
ROWS = {"ita_linear": "S", "ita_attention": "S", "ita_matmul": "M"}
PRODUCTS = {
    "ita_linear": "S K1 C1",
    "ita_linear_turned": "P1 T1 C1",
    "ita_attention": "H S T1 P1",
    "ita_matmul": "H M N1 C1",
}


def workload_of(kind: str) -> Workload:
    scratch = (((), 64),)
    return Workload(kind, tuple(Dim(dim, 15) for dim in INTERFACES[kind].dims), (), 0, scratch=scratch)


@pytest.mark.parametrize("kind", INTERFACES)
@given(data=st.data())
def test_jobs(kind: str, data: st.DataObject) -> None:
    """At most 1024 products a cycle (sheet 2.8); a block more is never cheaper."""
    model, workload, rows = cost_model("ita", kind, SOC), workload_of(kind), ROWS.get(kind)
    sizes = {dim: data.draw(st.integers(1, 7)) * (64 if dim == rows else 1) for dim in INTERFACES[kind].dims}
    tile = {dim: np.array([size]) for dim, size in sizes.items()}
    cycles = model.kernel_cycles(workload, tile)
    assert cycles.dtype == np.int64
    blocks = int(np.prod([-(-sizes[dim] // (64 if dim == rows else 1)) for dim in PRODUCTS[kind].split()]))
    assert cycles[0] > 256 * blocks * (2 if kind == "ita_attention" else 1)
    dim = data.draw(st.sampled_from(PRODUCTS[kind].split()))
    larger = {**tile, dim: 2 * tile[dim]}
    assert model.kernel_cycles(workload, larger)[0] > cycles[0]
    assert model.launch_cycles(workload, tile)[0] == values()["jobs_launch_cycles"]


def test_jobs_take_what_their_streams_need() -> None:
    """An access to the port a cycle (ita_hwpe_ctrl.sv): 128 for inputs, 32 for weights, 2 for biases, 128 for results,
    which only the last job of a sum has."""
    figures = values()
    around = figures["job_fill_cycles"] + figures["job_turn_cycles"]
    assert job_cycles(figures, stores=False) == 256 + around
    assert job_cycles(figures, stores=True) == 128 + 32 + 2 + 128 + figures["job_drain_cycles"] + around
    assert job_cycles(figures, stores=True, bias=False) == job_cycles(figures, stores=True) - 2


def test_energy_is_the_published_power_over_time() -> None:
    """GEMM of 741 GOp/s at 5.42 TOp/J, cores of 26.0 mW (IEEE Design & Test 42:5, 2025)."""
    tile = {dim: np.array([size]) for dim, size in (("S", 512), ("K1", 8), ("C1", 8))}
    model, workload = cost_model("ita", "ita_linear", SOC), workload_of("ita_linear")
    per_cycle = model.energy.kernel_energy_pj(workload, tile)[0] / model.kernel_cycles(workload, tile)[0]
    assert per_cycle == pytest.approx(741 / 5.42e3 / 425e6 * 1e12, rel=1e-4)
    shape = TransferShape("in", *(np.array([n]) for n in (64, 2, 1)), "l2", "l1")
    assert model.energy.transfer_energy_pj(workload, shape).tolist() == [0.0]
    rows = {"R": np.array([64]), "C": np.array([128])}
    cores = cost_model("snitch", "lut", SOC)
    lut = Workload("snitch_lut", (Dim("R", 64), Dim("C", 128)), (), 0)
    assert cores.energy.kernel_energy_pj(lut, rows) == pytest.approx(
        cores.kernel_cycles(lut, rows) * 26.0e-3 / 425e6 * 1e12
    )


@pytest.mark.parametrize(("unit", "mode"), [("ita", "sequential"), ("snitch", "concurrent")])
@given(st.integers(1, 5), st.integers(1, 300), st.integers(1, 5000))
def test_copies_take_at_least_their_bytes(unit: str, mode: str, planes: int, rows: int, row_bytes: int) -> None:
    model = cost_model(unit, "add", replace(SOC, mode=mode))  # type: ignore[arg-type]
    shape = TransferShape("in", *(np.array([n]) for n in (row_bytes, rows, planes)), "l2", "l1")
    cycles = model.transfer_cycles(workload_of("ita_linear"), shape)
    assert cycles.data[0] * 64 >= planes * rows * row_bytes
    assert cycles.issue[0] > 0
    assert cycles.wait[0] > 0


def test_only_sequential_programs_pay_for_a_call() -> None:
    workload, beside = workload_of("ita_linear"), replace(SOC, mode="concurrent")
    figures = values()
    assert cost_model("snitch", "add", SOC).layer_cycles(workload) == figures["call_cycles"]
    assert cost_model("snitch", "add", beside).layer_cycles(workload) == 0
    assert cost_model("ita", "ita_linear", beside).layer_cycles(workload) == figures["job_setup_cycles"]


def test_the_core_that_works_on_a_kernel_issues_copies_before() -> None:
    beside = replace(SOC, mode="concurrent")
    assert [cost_model(unit, "add", soc).overlap for unit in ("ita", "snitch") for soc in (SOC, beside)] == [
        "data",
        "data",
        "all",
        "data",
    ]


def test_names_tell_models_apart() -> None:
    socs = [replace(SOC, preset=preset, mode=mode) for preset in PRESETS for mode in ("sequential", "concurrent")]
    models = [cost_model(unit, "add", soc) for unit in ("ita", "snitch") for soc in socs]
    assert len({(model.name, model.version) for model in models}) == len(models)


@pytest.mark.parametrize("preset", PRESETS)
def test_every_figure_reaches_the_twin(preset: str) -> None:
    header = render_timing_header(preset)
    assert header == render_timing_header(preset)
    for constant in constants(preset):
        assert f"#define MATCH_ITA_{constant.name.upper()} {int(constant.value)}u " in header
        assert constant.value == int(constant.value) >= 0
    assert all(f"MATCH_TWIN_CLOCK_{name.upper()}" in header for name in CLOCKS)
    assert len({constant.name for constant in constants(preset)}) == len(constants(preset))


def test_every_figure_is_used() -> None:
    """By its name in Python, or by its macro in the twin and the runtime."""
    folder = Path(match_ita.__file__).parent
    tables = {"constants.py", "presets.py"}
    python = "".join(path.read_text() for path in folder.rglob("*.py") if path.name not in tables)
    c = "".join(path.read_text() for path in folder.rglob("*.[ch]"))
    names = set(re.findall(r'"([a-z0-9_]+)"', python + Path(formulas.__file__).read_text()))
    names |= {name.lower() for name in re.findall(r"\bMATCH_ITA_([A-Z0-9_]+)\b", c)}
    work = {name.lower() for name in re.findall(r"\bMATCH_ITA_WORK\(([A-Z0-9_]+)\)", c)}
    names |= {f"{name}_{kind}" for name in work for kind in ("cycles", "uses")}
    names |= {f"{kind}_microwatts" for kind in ("cores", "products", "attention")}  # chosen by the work's kind
    assert [constant.name for constant in constants() if constant.name not in names] == []
