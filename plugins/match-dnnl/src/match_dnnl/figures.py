"""Figures of cost models, in nanoseconds of one thread. All are estimates: fitted on one machine."""

from match_core import Constant

_FITTED = "to be fitted"


def _figure(name: str, value: float, unit: str) -> Constant:
    return Constant(name, value, unit, _FITTED, estimate=True)


FIGURES = (
    _figure("region_ns", 150, "ns/region"),
    _figure("primitive_ns", 90, "ns/primitive"),
    _figure("mac_ns", 0.0165, "ns/MAC"),
    _figure("product_element_ns", 0.325, "ns/element"),
    _figure("pass_element_ns", 0.2, "ns/element"),
    _figure("function_element_ns", 0.25, "ns/element"),
    _figure("element_ns", 0.0, "ns/element"),
    _figure("border_byte_ns", 0.011, "ns/byte"),
    _figure("constant_byte_ns", 0.01, "ns/byte"),
)
HOST_FIGURES = (_figure("host_cycle_ns", 0.0085, "ns/cycle"),)
VALUES = {figure.name: figure.value for figure in (*FIGURES, *HOST_FIGURES)}
