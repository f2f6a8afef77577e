"""What the twin's cores execute against the cost model's counts: equal without padding, fewer with it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from clock_names import CONTROL, clocks
from match_gap9 import formulas
from match_gap9.cluster import counted
from match_gap9.constants import values
from test_pulp_nn_conv import make

from .conftest import Driver, Script

TIMING = values("open-sdk")


@pytest.fixture
def counting(build: Callable[..., Driver]) -> Driver:
    return build("open-sdk")


def _elapsed(driver: Driver, script: Script, command: str) -> int:
    """Cycles of a kernel on the team, without its start and its barrier."""
    text = "\n".join((script.text().rstrip(), "clocks", command, "clocks")) + "\n"
    before, after = (clocks(line)[CONTROL] for line in driver.run(text))
    around = formulas.team_launch(TIMING) + TIMING["step_cycles"] + int(formulas.team_kernel(TIMING))
    return after - before - around


@pytest.mark.parametrize("size", [(8, 8, 16, 16), (9, 7, 6, 5), (1, 1, 4, 64), (17, 3, 33, 3)])
def test_convolutions(counting: Driver, script: Script, size: tuple[int, int, int, int]) -> None:
    y, x, k, c = size
    case = make(script, np.random.default_rng(1), kernel=3, in_y=y + 2, in_x=x + 2, c=c, k=k, pads=(0,) * 4, stride=1)
    cycles = counted.conv(TIMING, out_y=y, out_x=x, k_out=k, c_in=c, kernel_y=3, kernel_x=3)
    found = _elapsed(counting, script, " ".join(map(str, ("call conv_Ho", *case.arguments))))
    assert abs(found - int(cycles)) <= 8 * y * x  # words of single pixels' windows are counted whole


@pytest.mark.parametrize("n", [1, 7, 64, 800, 1001])
def test_additions(counting: Driver, script: Script, n: int) -> None:
    found = _elapsed(counting, script, f"call own_add 0 2000 4000 1 1 0 1 {n}")
    assert found == int(counted.add(TIMING, elements=n))


@pytest.mark.parametrize("kind", ["own_avgpool", "own_maxpool"])
@pytest.mark.parametrize("pad", [0, 1])
def test_pools(counting: Driver, script: Script, kind: str, pad: int) -> None:
    """The model takes windows as whole, and shares that begin anywhere; cores leave the padding out."""
    side, channels, kernel = 8, 24, 3
    out = side + 2 * pad - kernel + 1
    geometry = (side, side, channels, out, out, kernel, kernel, pad, pad, 1, 1, 0)
    command = " ".join(map(str, (f"call {kind} 0 4000", *geometry, 1, 0, 3)))
    sizes = {"out_y": out, "out_x": out, "channels": channels, "kernel_y": kernel, "kernel_x": kernel}
    model = int(counted.pool(TIMING, **sizes, average=kind == "own_avgpool"))
    found = _elapsed(counting, script, command)
    assert (0.96 if pad == 0 else 0.8) * model <= found <= (model if pad == 0 else 0.97 * model)
