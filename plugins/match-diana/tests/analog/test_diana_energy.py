"""Energy is the published power of the chip over modelled time, and it can be minimised."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from make_mixed import mixed
from match_core import Dim, TransferShape, Workload
from match_core.contract.loops import Objective
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_diana.analog.cost import AnalogCost
from match_diana.constants import values
from match_diana.digital.cost import DigitalCost


@pytest.mark.parametrize(("model", "milliwatts"), [(DigitalCost("digital_add"), 24.96), (AnalogCost("x"), 28.74)])
def test_copies_take_the_power_of_the_array(model: DigitalCost | AnalogCost, milliwatts: float) -> None:
    shape = TransferShape("in", *(np.array([n]) for n in (2, 3, 64)), "l2", "l1")
    made = Workload("w", (Dim("N", 64),), (), 0)
    cycles = model.transfer_cycles(made, shape).data
    assert cycles[0] > 0
    (energy,) = model.energy.transfer_energy_pj(made, shape)
    assert energy == pytest.approx(cycles[0] * milliwatts * 1e-3 / 260e6 * 1e12)


def test_the_hosts_power_is_what_both_arrays_have_in_common() -> None:
    figures = values()
    assert figures["host_microwatts"] == figures["digital_microwatts"] + figures["analog_microwatts"] - 42_390


OBJECTIVES: tuple[Objective, ...] = ("latency", "energy")


def _energies(path: Path, objective: Objective, plugins: Plugins, *without: str) -> dict[str, float]:
    """Microjoules by unit."""
    request = CompileRequest(path, "diana", objective=objective, without_units=without, cache=False)
    found: dict[str, float] = {}
    for task in compile_model(request, plugins).compilation.program.tasks:
        unit, cost = task.assignment.candidate.unit, task.assignment.schedule.cost
        if not task.assignment.candidate.pattern.view:
            assert cost.energy_pj is not None
            found[unit] = found.get(unit, 0.0) + cost.energy_pj / 1e6
    return found


def test_every_unit_has_energy_and_it_can_be_minimised(plugins: Plugins, tmp_path: Path) -> None:
    path = mixed(tmp_path / "mixed.onnx")
    fastest, least = (_energies(path, objective, plugins) for objective in OBJECTIVES)
    assert fastest.keys() == least.keys() == {"host", "digital", "analog"}
    assert 0 < sum(least.values()) <= sum(fastest.values())
    # The host draws less than half of an array's power and takes far more than twice the time.
    assert sum(least.values()) < sum(_energies(path, "energy", plugins, "digital", "analog").values())
