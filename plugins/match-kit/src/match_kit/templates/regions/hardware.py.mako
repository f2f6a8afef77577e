"""The chip as data. Every figure is an example: replace it, and state the source of yours."""

from match_core import Constant, Hardware, Memory, Soc, Unit

_EXAMPLE = "an example figure"
FIGURES = (
    Constant("macs_per_cycle", 16, "MAC/cycle", _EXAMPLE, estimate=True),
    Constant("start_cycles", 60, "cycles", _EXAMPLE, estimate=True),  # the host starts one layer
    Constant("weight_bytes", 64 * 1024, "bytes", _EXAMPLE, estimate=True),  # the engine's memory of weights
)
VALUES = {figure.name: int(figure.value) for figure in FIGURES}
FEATURES_MAX = 4096

ENGINE = Unit(
    name="${name}_engine",
    description="runs chains of dense layers in 8 bits; their weights stay in its own memory",
    constants=FIGURES,
)
SOC = Soc(
    name="${name}",
    description="a host core and an engine with resident weights",
    host="host",
    units=("host", ENGINE.name),
    memories=(
        Memory("ram", 1, 1024 * 1024, 8, _EXAMPLE),
        Memory("${name}_weights", 1, VALUES["weight_bytes"], 8, _EXAMPLE, kind="held"),
    ),
    links=(),
    home="ram",
)
HARDWARE = Hardware(units=(ENGINE,), socs=(SOC,))
