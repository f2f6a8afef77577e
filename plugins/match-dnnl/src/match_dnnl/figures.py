"""Figures of cost models, in nanoseconds of one thread. All are estimates: fitted on one machine."""

from match_core import Constant

_FITTED = "to be fitted"


def _figure(name: str, value: float, unit: str) -> Constant:
    return Constant(name, value, unit, _FITTED, estimate=True)


FIGURES = (
    _figure("region_ns", 1500, "ns/region"),
    _figure("primitive_ns", 700, "ns/primitive"),
    _figure("mac_ns", 0.03, "ns/MAC"),
    _figure("element_ns", 0.3, "ns/element"),
    _figure("border_byte_ns", 0.1, "ns/byte"),
)
HOST_FIGURES = (_figure("host_cycle_ns", 0.03, "ns/cycle"),)
VALUES = {figure.name: figure.value for figure in (*FIGURES, *HOST_FIGURES)}
