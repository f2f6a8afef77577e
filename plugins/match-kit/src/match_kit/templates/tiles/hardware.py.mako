"""The chip as data. Every figure is an example: replace it, and state the source of yours."""

from match_core import Constant, Hardware, Link, Memory, RequantSpec, Soc, Unit

_EXAMPLE = "an example figure"
FIGURES = (
    Constant("side", 8, "MAC", _EXAMPLE, estimate=True),  # the array has side x side multipliers
    Constant("start_cycles", 40, "cycles", _EXAMPLE, estimate=True),
    Constant("dma_bytes_per_cycle", 8, "bytes/cycle", _EXAMPLE, estimate=True),
    Constant("dma_setup_cycles", 20, "cycles", _EXAMPLE, estimate=True),
)
VALUES = {figure.name: int(figure.value) for figure in FIGURES}
FEATURES_MAX = 4096

ARRAY = Unit(
    name="${name}_array",
    description="8x8 multipliers for dense layers in 8 bits",
    memory="l1",
    requant=RequantSpec(multiplier_bits=32, multiplier_signed=True, product_bits=63),
    constants=FIGURES,
)
SOC = Soc(
    name="${name}",
    description="a host core and an 8x8 array",
    host="host",
    units=("host", ARRAY.name),
    memories=(Memory("l1", 1, 64 * 1024, 8, _EXAMPLE), Memory("l2", 2, 1024 * 1024, 8, _EXAMPLE)),
    links=(Link("dma", "l1", "l2", VALUES["dma_bytes_per_cycle"], VALUES["dma_setup_cycles"], max_dims=3),),
    home="l2",
)
HARDWARE = Hardware(units=(ARRAY,), socs=(SOC,))
