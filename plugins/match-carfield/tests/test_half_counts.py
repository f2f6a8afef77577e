"""The figures of the binary16 kernels and of copies against the instructions that whole calls execute, on one core."""

from __future__ import annotations

import numpy as np
import pytest
from match_carfield.constants import values
from match_carfield.half import formulas

from benchmarks.carfield_counts.__main__ import copies
from benchmarks.carfield_counts.build import PULP, SPATZ, Counter, Machine

from .vector_tools import needs

pytestmark = [
    pytest.mark.spatz,
    needs("qemu-riscv32", "qemu-riscv64"),
]

#: Without what the base ISA does not save: pointers and loop ends of the inner loops (kernel_constants says how many).
PULP_PLAIN = {"pulp_cores": 1, "pulp_step4_cycles": 21, "pulp_step1_cycles": 9}
#: Vectors of binary32, of which four registers hold 64, and which take no time.
SPATZ_PLAIN = {"spatz_cores": 1, "spatz_lanes": 64, "spatz_load_cycles": 0}
SPATZ_PLAIN |= {f"spatz_{name}_elements": 10**6 for name in ("fpu", "load", "single")}

SHAPES = ((8, 16, 64, 32, 3, 1), (4, 12, 64, 48, 3, 1), (6, 8, 64, 64, 1, 0))


@pytest.fixture(scope="module")
def counter(tmp_path_factory: pytest.TempPathFactory) -> Counter:
    return Counter(tmp_path_factory.mktemp("counts"))


@pytest.mark.parametrize(("machine", "plain"), [(PULP, PULP_PLAIN), (SPATZ, SPATZ_PLAIN)], ids=["pulp", "spatz"])
def test_formulas_follow_the_instructions(counter: Counter, machine: Machine, plain: dict[str, int]) -> None:
    program, figures = counter.build(machine), {**values(), **plain}
    stride = {"stride_y": 1, "stride_x": 1}
    for oy, ox, k, c, taps, pad in SHAPES:
        for letter, kernel in (("c", "conv2d"), ("d", "depthwise2d"), ("v", "pool2d")):
            sizes = {"oy": oy, "ox": ox, "k": k, "c": c, "fy": taps, "fx": taps, "pad": pad}
            executed = counter.instructions(machine, program, letter, **sizes)
            tile = {"OY": oy, "OX": ox, "K": k, "C": k if letter == "v" else c, "FY": taps, "FX": taps}
            arrays = {name: np.array([size], np.int64) for name, size in tile.items()}
            modelled = int(formulas.work_cycles(figures, f"{machine.unit}_{kernel}", stride, arrays)[0])
            assert 0.95 <= modelled / executed <= 1.2, (kernel, sizes, executed, modelled)


def test_copies_follow_the_instructions(counter: Counter) -> None:
    """Four cycles more for each access to a register of the DMA: four of a dense copy, six with rows, five a plane."""
    counted, figures = dict(copies(counter)), values()
    expected = {
        "pulp_dma_dense_cycles": counted["dense"] + 4 * 4,
        "pulp_dma_strided_cycles": counted["rows"] + 6 * 4,
        "pulp_dma_planes_cycles": counted["planes of rows, two"] - counted["rows"] - counted["a plane more"],
        "pulp_dma_further_cycles": counted["a plane more"] + 5 * 4,
    }
    for name, cycles in expected.items():
        assert abs(figures[name] - cycles) <= 3, (name, cycles)
