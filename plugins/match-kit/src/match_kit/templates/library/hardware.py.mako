"""The computer as data. Every figure is an example: replace it, and state the source of yours."""

from match_core import Constant, Hardware, Memory, Soc, Unit

_EXAMPLE = "an example figure"
FIGURES = (
    Constant("macs_per_cycle", 8, "MAC/cycle", _EXAMPLE, estimate=True),
    Constant("elements_per_cycle", 4, "elements/cycle", _EXAMPLE, estimate=True),
    Constant("call_cycles", 200, "cycles", _EXAMPLE, estimate=True),  # one call of the library
)
VALUES = {figure.name: int(figure.value) for figure in FIGURES}

LIBRARY = Unit(name="${name}_library", description="a library of float operators", constants=FIGURES)
SOC = Soc(
    name="${name}",
    description="a computer with a library of operators",
    host="host",
    units=("host", LIBRARY.name),
    memories=(Memory("ram", 1, 64 * 1024 * 1024, 64, _EXAMPLE),),
    links=(),
    home="ram",
)
HARDWARE = Hardware(units=(LIBRARY,), socs=(SOC,))
