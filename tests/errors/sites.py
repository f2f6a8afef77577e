"""Fake distributions that break the contract, each in its own way."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tests.conftest import ROOT

if TYPE_CHECKING:
    from core.tests.plugin.distributions import Site

_CHIP = """
@hookimpl
def match_hardware():
    return Hardware(units=({units}), socs=(chip("{name}", "{unit}"),))
"""
_PATTERNS = "\n@hookimpl\ndef match_patterns(unit):\n    {body}\n"


def site_in(folder: Path) -> Site:
    """An empty site."""
    path = ROOT / "core" / "tests" / "plugin" / "distributions.py"
    spec = importlib.util.spec_from_file_location("match_test_distributions", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    folder.mkdir()
    made: Site = module.Site(folder)
    return made


def chip(name: str, unit: str = "npu", units: str = "unit('npu'),") -> str:
    """A plugin with a Soc and a unit."""
    return _CHIP.format(name=name, unit=unit, units=units)


def _taking(body: str) -> str:
    structure = "Op('Relu', 'relu', (Any('x'),))"
    head = "from match_core.contract.structure import Any, Op\nfrom match_core.contract.workload import Workload\n"
    made = f"Pattern('relu', 'relu', {structure}, (), lambda match: Workload('relu', (), (), 0))"
    return head + chip("broken") + _PATTERNS.format(body=body.format(pattern=made))


_PAIRS = """
import numpy as np
from match_core.contract.structure import Any, Op
from match_core.contract.workload import Dim, Workload

class Cost:
    name, version, bound, overlap, energy = "cost", "1", "exact", "none", None

    def kernel_cycles(self, workload, tile):
        return np.ones(1, np.int64)

    def launch_cycles(self, workload, tile):
        return np.zeros(1, np.int64)

    def transfer_cycles(self, workload, transfer):
        raise NotImplementedError

    def layer_cycles(self, workload):
        return 0

@hookimpl
def match_cost(soc, unit, pattern):
    return Cost() if unit.name == "npu" else None

def pair(first, second):
    structure = Op(second, "second", (Op(first, "first", (Any("x"),)),))
    made = lambda match: Workload("pair", (Dim("n", 1),), (), 0)
    return Pattern(first.lower() + second.lower(), "a pair", structure, (), made)

@hookimpl
def match_patterns(unit):
    return (pair("Relu", "Abs"), pair("Abs", "Neg")) if unit.name == "npu" else ()
"""

#: A unit that runs two operators only together, so that three cannot be divided.
PAIRS = chip("pairs") + _PAIRS

_FALSE_CLAIM = """
import numpy as np
from dataclasses import replace
from match_core import Any, Dim, Op, Workload
from match_core.schedule.evaluate import in_place

@hookimpl
def match_hardware():
    soc = Soc("broken", "a chip", "npu", ("npu",), (Memory("ram", 2, 65536),), (), "ram")
    return Hardware(units=(unit("npu"),), socs=(soc,))

@hookimpl
def match_patterns(unit):
    made = lambda match: Workload("relu", (Dim("n", 8),), (), 0)
    return (Pattern("relu", "relu", Op("Relu", "relu", (Any("x"),)), (), made),)

class Cost:
    name, version, bound, overlap, energy = "cost", "1", "exact", "none", None

    def kernel_cycles(self, workload, tile):
        return 10 * tile["n"]

    def launch_cycles(self, workload, tile):
        return 20 + 0 * tile["n"]

    def transfer_cycles(self, workload, transfer):
        raise NotImplementedError

    def layer_cycles(self, workload):
        return 0

@hookimpl
def match_cost():
    return Cost()

@hookimpl
def match_schedule(request):
    schedule = in_place(request)
    return replace(schedule, cost=replace(schedule.cost, compute_cycles=1))
"""

#: By error code what a site holds; the target that is compiled for is ``broken``.
SITES: dict[str, Callable[[Site], None]] = {
    "MATCH-H002": lambda site: site.plugin("broken", "match_contract = 2\n" + chip("broken")),
    "MATCH-H003": lambda site: site.plugin("broken", "@hookimpl\ndef match_hardwear(): ...\n" + chip("broken")),
    "MATCH-H004": lambda site: site.plugin(
        "broken", chip("broken") + _PATTERNS.format(body="...").replace("unit)", "u)")
    ),
    "MATCH-H005": lambda site: site.plugin("broken", _taking("raise KeyError('no such unit')")),
    "MATCH-H006": lambda site: site.plugin("broken", _taking("return (5,)")),
    "MATCH-H007": lambda site: (site.plugin("one", chip("broken")), site.plugin("two", chip("broken")))[0],
    "MATCH-H008": lambda site: (
        site.install("pkg-a", {"fake_a": chip("broken")}, {"broken": "fake_a"}),
        site.install("pkg-b", {"fake_b": chip("other")}, {"broken": "fake_b"}),
    )[0],
    "MATCH-H009": lambda site: site.plugin("broken", chip("broken", unit="missing")),
    "MATCH-H010": lambda site: site.plugin("broken", _taking("return ({pattern},)")),
    "MATCH-H011": lambda site: site.plugin("broken", _FALSE_CLAIM),
}
