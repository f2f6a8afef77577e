"""Units, one for each core, and a Soc for each board."""

from __future__ import annotations

from dataclasses import replace

from match_core import Hardware, Soc, Unit
from match_core.contract.hardware import Constant, Memory, RequantSpec

from match_cortexm.boards import BOARDS, Bank, Board
from match_cortexm.cores import CORE_NAMED, CORES, Core
from match_cortexm.figures import constants_of

#: Vectors of 16 bytes are loaded from aligned addresses.
_ALIGNMENT_BYTES = 16
#: Products of 64 bits: what the integer graph has anyway. For kernels on the core, two
#: products with roundings of their own cost less than one with a rounding that depends on the sign.
_REQUANT = RequantSpec(
    multiplier_bits=32,
    multiplier_signed=True,
    product_bits=64,
    shift_max=62,
    activation_type="int8",
    takes_both_types=True,
)


def _unit(core: Core) -> Unit:
    return Unit(
        name=core.name,
        description=f"Arm {core.title}: C for each layer, in place on the home memory",
        memory=None,
        layout="NHWC",
        requant=_REQUANT,
        constants=constants_of(core.name),
        spatial_types=("float16", "float32", "int8", "int16", "uint8"),
    )


def _memory(bank: Bank, level: int) -> Memory:
    return Memory(bank.name, level, bank.size_bytes, _ALIGNMENT_BYTES, bank.source)


def _soc(board: Board) -> Soc:
    core = CORE_NAMED[board.core]
    return Soc(
        name=board.name,
        description=f"{board.title}: {core.title}",
        host=core.name,
        units=(core.name,),
        memories=(_memory(board.ram, 1), replace(_memory(board.flash, 2), kind="read-only")),
        links=(),
        home=board.ram.name,
        store=board.flash.name,
        mapped=True,
        # An estimate, so that no time is told: costs are instructions, and not every cycle ends one.
        clock_hz=Constant("clock", board.clock_hz, "Hz", board.clock_source, estimate=True),
        host_machine="scalar",
        processor=core.processor,
        notes=("cycles are instructions counted on an emulator, not cycles of silicon",),
    )


HARDWARE = Hardware(units=tuple(map(_unit, CORES)), socs=tuple(map(_soc, BOARDS)))
