"""Units beside each other, as measured on the open simulator (overlap.csv)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from clock_names import CONTROL, NE16, clocks
from ne16_harness import NO_RESOLVE, Layer

from .conftest import Driver, Script

Rows = Callable[[str], list[dict[str, str]]]

#: Cycles that the measurements may be apart: where the core stands when it reads the timer.
SLACK = 12
#: 2-D copies took up to 34 cycles more here than in the measurements that the formulas come from.
COPY_SHARE = 0.035


def layer_of(job: str) -> Layer:
    """For example "conv3x3 out 9x9 32->32 pad 0 scale 8 bit"."""
    words = job.split()
    rows, columns = (int(size) for size in words[2].split("x"))
    k_in, k_out = (int(size) for size in words[3].split("->"))
    pad, bits = int(words[words.index("pad") + 1]), int(words[words.index("scale") + 1])
    kernel = 1 if words[0] == "conv1x1" else 3
    return Layer(
        in_y=rows + kernel - 1 - 2 * pad,
        in_x=columns + kernel - 1 - 2 * pad,
        k_in=k_in,
        k_out=k_out,
        kernel=kernel,
        depthwise=words[0] == "dw3x3",
        pads=(pad,) * 4,
        scale_bits=bits,
        flags=NO_RESOLVE,
    )


def copy_of(other: str, offset: int) -> str:
    """For example "L2->L1 4096 B 1-D" or "L1->L2 6144 B rows of 48 B"."""
    words = other.split()
    direction = "in" if words[0] == "L2->L1" else "out"
    row = int(words[words.index("of") + 1]) if "of" in words else 0
    return f"dma 0 {direction} 0 {offset} {words[1]} {row + 16 if row else 0} {row}"


@pytest.mark.parametrize("case", range(5))
def test_a_copy_beside_ne16(engine_driver: Driver, script: Script, referee: Rows, case: int) -> None:
    """Together they take as long as the longer one; NE16 is not slowed down."""
    row = [row for row in referee("overlap.csv") if row["case"] == "ne16+dma"][case]
    layer = layer_of(row["ne16_job"])
    script.add("ne16 init")
    layer.place(script)
    copy = copy_of(row["other"], script.reserve(int(row["other"].split()[1])))
    for commands in ((layer.command(), "clocks", "ne16 resolve"), (layer.command(), "clocks", copy, "wait 0")):
        script.lines += commands
    script.add("clocks")
    script.add("ne16 resolve")
    script.add("clocks")
    alone, started, copied, ended = (clocks(line) for line in engine_driver.run(script.text()))
    assert abs(alone[NE16] - alone[CONTROL] - int(row["ne16_alone"])) <= SLACK
    assert copied[CONTROL] - started[CONTROL] == pytest.approx(int(row["other_alone"]), rel=COPY_SHARE, abs=SLACK)
    together = ended[CONTROL] - started[CONTROL]
    assert together == max(started[NE16], copied[CONTROL]) - started[CONTROL]
    assert abs(together - int(row["ne16_in_both"])) <= SLACK
