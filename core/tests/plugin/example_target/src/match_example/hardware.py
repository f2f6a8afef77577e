"""An invented chip, so every figure is an example and none has a source."""

from match_core import Constant, Hardware, Memory, Soc, Unit

RELU_UNIT = Unit(
    name="relu_unit",
    description="applies ReLU to a tensor in RAM",
    constants=(
        Constant("elements_per_cycle", 4, "elements/cycle", "invented for the example", estimate=True),
        Constant("element_energy", 2, "pJ", "invented for the example", estimate=True),
    ),
)

#: Cycles of a start by preset: the engine ready, or asleep.
START_CYCLES = {"awake": 30, "asleep": 500}

EXAMPLE = Soc(
    name="example",
    description="one core, one ReLU engine, one RAM",
    host="host",
    units=("host", "relu_unit"),
    memories=(Memory("ram", level=2, size_bytes=256 * 1024, source="invented for the example"),),
    links=(),
    home="ram",
    presets=tuple(START_CYCLES),
    preset="awake",
)

HARDWARE = Hardware(units=(RELU_UNIT,), socs=(EXAMPLE,))
