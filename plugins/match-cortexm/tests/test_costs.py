"""The model's instructions are those of the emulator, for layers that the figures do not come from."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from match_core.contract.workload import Axis, Dim, Operand, Workload
from match_core.plugin.facade import Plugins
from match_cortexm.cores import CORES
from match_cortexm.cost import cost_on, figures_key
from match_cortexm.figures import GENERAL, OWN, figures_of

from benchmarks.cortexm_counts import layers_of
from benchmarks.cortexm_made import KINDS
from benchmarks.cortexm_net import Net

from .test_kernels import needs_emulator

#: Kinds of made layers that CI counts.
SAMPLE = ("conv_3", "depthwise_3", "dense", "inner_max_pool", "pad", "softmax")


def _errors(core: str, seed: int, quantised: bool, tmp_path) -> dict[str, tuple[int, int]]:
    """Counted and modelled instructions of layers that differ by more than a fifth (and 60 instructions). Transposes
    are left out: what compilers unroll in them depends on the sizes in ways that no count tells."""
    net = Net(np.random.default_rng(seed), quantised)
    for kind in SAMPLE:
        KINDS[kind](net)
    path = tmp_path / "made.onnx"
    onnx.save(net.model(), path)
    found = layers_of(path, net.arrays(), core, Plugins.load())
    assert len(found) >= len(SAMPLE)
    return {
        f"{layer.title} ({layer.key})": (layer.counted, layer.modelled)
        for layer in found
        if abs(layer.modelled - layer.counted) > max(60, layer.counted // 5)
        and not layer.key.startswith("host_transpose")
    }


@needs_emulator
@pytest.mark.parametrize(("core", "quantised"), [("cortex_m4", True), ("cortex_m55", True)])
def test_sample_layers_cost_what_the_emulator_counts(core, quantised, tmp_path):
    assert _errors(core, 5, quantised, tmp_path) == {}


def _transposed(before: tuple[int, ...], after: tuple[int, ...]) -> Workload:
    operands = [
        Operand(name, role, tuple(Axis(f"a{axis}", size) for axis, size in enumerate(shape)))
        for name, role, shape in (("in0", "input", before), ("out0", "output", after))
    ]
    elements = int(np.prod(before))
    counts = (("elements", elements), ("steps", elements + elements // 8))
    return Workload("host_transpose", (Dim("N", elements, tileable=False),), tuple(operands), 0, counts)


def test_figures_of_transposes_depend_on_the_order():
    assert figures_key(_transposed((1, 9, 10, 11), (1, 10, 11, 9))) == "host_transpose 8 to last"
    assert figures_key(_transposed((1, 9, 10, 12), (1, 10, 12, 9))) == "host_transpose 8 to last, whole tiles"
    assert figures_key(_transposed((1, 10, 11, 8), (1, 8, 10, 11))) == "host_transpose 8 to first"
    assert figures_key(_transposed((1, 2, 3, 5), (1, 3, 2, 5))) == "host_transpose 8"


@pytest.mark.parametrize("core", [core.name for core in CORES])
def test_every_core_has_figures(core):
    figures = figures_of(core)
    assert {GENERAL, OWN} <= set(figures) and cost_on(core).figures == figures
    assert all(value > 0 for values in figures.values() for value in values.values())
