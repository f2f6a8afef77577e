"""The library as two units, for cores with the DSP extension and with Helium, and boards of match-cortexm with them."""

from __future__ import annotations

from match_core import Constant, Hardware, Memory, Soc, Unit

from match_cmsisnn.figures import FIGURES

#: Unit -> whether the core has Helium.
UNITS = {"cmsis_nn_dsp": False, "cmsis_nn_mve": True}
_K = 1 << 10


def _unit(name: str, helium: bool) -> Unit:
    kind = "Helium" if helium else "the DSP extension"
    return Unit(
        name=name,
        description=f"CMSIS-NN, your copy in CMSIS_NN_DIR, on a core with {kind}",
        memory=None,
        layout="NHWC",
        requant=None,
        constants=FIGURES,
        spatial_types=("float16", "float32", "int8", "int16", "uint8"),
    )


def _soc(
    board: str, words: str, core: str, unit: str, processor: str, clock: Constant, memories: tuple[Memory, Memory]
) -> Soc:
    return Soc(
        name=f"{board}_cmsis_nn",
        description=f"{words}, with CMSIS-NN beside the kernels of match-cortexm",
        host=core,
        units=(core, unit),
        memories=memories,
        links=(),
        home="ram",
        store="flash",
        mapped=True,
        clock_hz=clock,
        host_machine="scalar",
        processor=processor,
        notes=(
            "cycles are instructions counted on an emulator, not cycles of silicon",
            "programs are built with your own copy of CMSIS-NN: set CMSIS_NN_DIR to its folder",
        ),
    )


# Clocks are estimates, so that no time is told: costs are instructions, and not every cycle ends one.
SOCS = (
    _soc(
        "stm32l4r5",
        "STMicroelectronics STM32L4R5 (NUCLEO-L4R5ZI): Cortex-M4",
        "cortex_m4",
        "cmsis_nn_dsp",
        "cortex-m4",
        Constant("clock", 120e6, "Hz", "data sheet DS12023: up to 120 MHz", estimate=True),
        (
            Memory("ram", 1, 640 * _K, 16, "data sheet DS12023: 640 KB SRAM, contiguous (SRAM1, SRAM2, SRAM3)"),
            Memory("flash", 2, 2048 * _K, 16, "data sheet DS12023: 2 MB", kind="read-only"),
        ),
    ),
    _soc(
        "corstone300",
        "Arm Corstone-300 on MPS3 (AN547): Cortex-M55",
        "cortex_m55",
        "cmsis_nn_mve",
        "cortex-m55",
        Constant("clock", 32e6, "Hz", "application note AN547: 32 MHz", estimate=True),
        (
            Memory("ram", 1, 2048 * _K, 16, "QEMU's model of AN547 (hw/arm/mps2-tz.c): 2 MB SRAM at 0x01000000"),
            Memory("flash", 2, 512 * _K, 16, "QEMU's model of AN547: 512 KB ITCM at 0", kind="read-only"),
        ),
    ),
)
HARDWARE = Hardware(units=tuple(_unit(name, helium) for name, helium in UNITS.items()), socs=SOCS)
