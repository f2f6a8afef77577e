"""Units, one for each core, and the boards that have them."""

from __future__ import annotations

from match_core import Hardware, Memory, Soc, Unit
from match_host.constants import HOST_CONSTANTS

from match_cortexm.cores import CORES, Core


def _unit(core: Core) -> Unit:
    return Unit(
        name=core.name,
        description=f"Arm {core.title}: C for each layer, in place on the home memory",
        memory=None,
        layout="NHWC",
        requant=None,
        constants=HOST_CONSTANTS,
        spatial_types=("float16", "float32", "int8", "uint8"),
    )


SOC = Soc(
    name="stm32l4r5",
    description="STM32L4R5",
    host="cortex_m4",
    units=("cortex_m4",),
    memories=(Memory("ram", level=1, size_bytes=640 << 10, alignment_bytes=16, source="DS12023"),),
    links=(),
    home="ram",
    host_machine="scalar",
)
CORSTONE = Soc(
    name="corstone300",
    description="Corstone-300",
    host="cortex_m55",
    units=("cortex_m55",),
    memories=(Memory("ram", level=1, size_bytes=2048 << 10, alignment_bytes=16, source="AN547"),),
    links=(),
    home="ram",
    host_machine="scalar",
)
HARDWARE = Hardware(units=tuple(map(_unit, CORES)), socs=(SOC, CORSTONE))
