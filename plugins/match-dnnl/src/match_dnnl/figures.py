"""Figures of the cost models, in nanoseconds of one thread; all are estimates, fitted to single operators."""

from match_core import Constant

_FITTED = (
    "least relative error of `python -m match_dnnl.measure`, 2-core AMD EPYC with AVX-512, oneDNN 2.6.3, one thread"
)


def _figure(name: str, value: float, unit: str, what: str) -> Constant:
    return Constant(name, value, unit, f"{what}: {_FITTED}", estimate=True)


FIGURES = (
    _figure("region_ns", 153, "ns/region", "call of a region"),
    _figure("primitive_ns", 85, "ns/primitive", "call of a primitive"),
    _figure("mac_ns", 0.00895, "ns/MAC", "convolutions, some with Winograd's transformation, and products"),
    _figure("product_element_ns", 0.531, "ns/element", "results of convolutions and products"),
    _figure("pass_element_ns", 0.213, "ns/element", "results of poolings, normalisations, reductions"),
    _figure("function_element_ns", 0.281, "ns/element", "functions that take a polynomial"),
    _figure("element_ns", 0.0, "ns/element", "other functions, which mostly are part of the primitive before"),
    _figure("border_byte_ns", 0.011, "ns/byte", "inputs and outputs of the region"),
    _figure("constant_byte_ns", 0.0085, "ns/byte", "weights"),
)
HOST_FIGURES = (
    _figure("host_cycle_ns", 0.0072, "ns/cycle", "median of host times over the core's modelled cycles, preset avx512"),
)
VALUES = {figure.name: figure.value for figure in (*FIGURES, *HOST_FIGURES)}
