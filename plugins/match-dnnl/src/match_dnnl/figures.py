"""Figures of the cost models, in nanoseconds of one thread; all are estimates, fitted to single operators."""

from match_core import Constant

_FITTED = (
    "least relative error of `python -m tests.benchmarks.dnnl_fit`, AMD EPYC with AVX-512, oneDNN 2.6.3, one thread"
)


def _figure(name: str, value: float, unit: str, what: str) -> Constant:
    return Constant(name, value, unit, f"{what}: {_FITTED}", estimate=True)


FIGURES = (
    _figure("region_ns", 145, "ns/region", "call of a region"),
    _figure("primitive_ns", 178, "ns/primitive", "call of a primitive"),
    _figure("mac_ns", 0.0105, "ns/MAC", "convolutions, some with Winograd's transformation, and products"),
    _figure("product_element_ns", 0.294, "ns/element", "results of convolutions and products"),
    _figure("pass_element_ns", 0.242, "ns/element", "results of poolings, normalisations, reductions"),
    _figure("function_element_ns", 0.294, "ns/element", "functions that take a polynomial"),
    _figure("element_ns", 0.0, "ns/element", "other functions, which mostly are part of the primitive before"),
    _figure("border_byte_ns", 0.0118, "ns/byte", "inputs and outputs of the region"),
    _figure("constant_byte_ns", 0.0106, "ns/byte", "weights"),
)
HOST_FIGURES = (
    _figure(
        "host_product_ns", 0.00539, "ns/cycle", "multiply-accumulates, by the core's modelled cycle, preset avx512"
    ),
    _figure("host_move_ns", 0.00489, "ns/cycle", "loads, stores and steps of loops, likewise"),
    _figure("host_other_ns", 0.00884, "ns/cycle", "other arithmetic, likewise"),
    _figure("host_call_ns", 21.2, "ns/call", "call of a kernel"),
)
VALUES = {figure.name: figure.value for figure in (*FIGURES, *HOST_FIGURES)}
