"""Cortex-M cores for counts of instructions: boards with the emulated machines' memories, which hold networks of 1 MB
and their activations."""

from __future__ import annotations

_BOARD = """[soc]
name = "{core}_emulated"
description = "{core} with the memories of the emulated machine"
home = "ram"
store = "flash"
host = "{core}"
host_machine = "scalar"
[[units]]
name = "{core}"
soc = "{board}"
[[memories]]
name = "ram"
from = "{board}"
size_bytes = 15728640
source = "made for this experiment"
[[memories]]
name = "flash"
from = "{board}"
size_bytes = 4194304
source = "made for this experiment"
"""
#: Core -> board that has it, machine of the emulator.
CORES = {
    "cortex_m0plus": ("rp2040", "mps2-an385"),
    "cortex_m3": ("cortex_m3_mps2", "mps2-an385"),
    "cortex_m4": ("stm32l4r5", "mps2-an386"),
    "cortex_m7": ("stm32h743", "mps2-an500"),
    "cortex_m33": ("rp2350", "mps2-an505"),
    "cortex_m55": ("corstone300", "mps3-an547"),
}


def made_board(core: str) -> str:
    """The text of the board file of a core."""
    return _BOARD.format(core=core, board=CORES[core][0])
