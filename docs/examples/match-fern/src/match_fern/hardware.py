"""The chip as data. It is made up, and so is every figure: put your chip's in their place, each with its source."""

from match_core import Constant, Hardware, Memory, Soc, Unit

_EXAMPLE = "made up for this example"


def _engine(name: str, description: str, macs: int, elements: int, start: int) -> Unit:
    figures = (
        Constant("macs_per_cycle", macs, "MAC/cycle", _EXAMPLE, estimate=True),
        Constant("elements_per_cycle", elements, "elements/cycle", _EXAMPLE, estimate=True),
        Constant("start_cycles", start, "cycles", _EXAMPLE, estimate=True),  # until it begins a region
    )
    return Unit(name, description, constants=figures)


UNITS = (
    _engine("fern_c", "a float core that runs C written for each region", macs=4, elements=4, start=300),
    _engine("fern_q", "an int8 engine that runs programs in a format of its own", macs=64, elements=8, start=1500),
)
VALUES = {unit.name: {figure.name: int(figure.value) for figure in unit.constants} for unit in UNITS}
SOC = Soc(
    name="fern",
    description="a host core and two engines that take whole regions (made up)",
    host="host",
    units=("host", *VALUES),
    memories=(Memory("ram", 2, 8 * 1024 * 1024, 8, _EXAMPLE),),
    links=(),
    home="ram",
)
HARDWARE = Hardware(units=UNITS, socs=(SOC,))
