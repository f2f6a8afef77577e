"""Figures of the cost models, in nanoseconds of one thread; all are estimates, fitted to single operators."""

from match_core import Constant

_FITTED = (
    "least relative error of `python -m tests.benchmarks.dnnl_fit`, AMD EPYC with AVX-512, oneDNN 2.6.3, one thread"
)


def _figure(name: str, value: float, unit: str, what: str) -> Constant:
    return Constant(name, value, unit, f"{what}: {_FITTED}", estimate=True)


FIGURES = (
    _figure("region_ns", 150, "ns/region", "call of a region"),
    _figure("primitive_ns", 95.7, "ns/primitive", "call of a primitive"),
    _figure("direct_mac_ns", 0.0174, "ns/MAC", "convolutions, whole blocks of channels"),
    _figure("winograd_mac_ns", 0.00938, "ns/MAC", "convolutions with Winograd's transformation, likewise"),
    _figure("depthwise_mac_ns", 0.0, "ns/MAC", "depthwise convolutions, likewise"),
    _figure("product_mac_ns", 0.0162, "ns/MAC", "products of matrices, transposed convolutions"),
    _figure("product_element_ns", 0.138, "ns/element", "results of convolutions and products"),
    _figure("pass_element_ns", 0.213, "ns/element", "results of poolings, normalisations, reductions"),
    _figure("function_element_ns", 0.269, "ns/element", "functions that take a polynomial"),
    _figure("element_ns", 0.0, "ns/element", "other functions, which mostly are part of the primitive before"),
    _figure("border_byte_ns", 0.0111, "ns/byte", "inputs and outputs of the region"),
    _figure(
        "image_byte_ns", 0.0678, "ns/byte", "images at the border of regions that keep theirs in blocks of channels"
    ),
    _figure("constant_byte_ns", 0.0057, "ns/byte", "weights"),
)
HOST_FIGURES = (
    _figure("host_tile_ns", 0.00541, "ns/cycle", "products in tiles, by the core's modelled cycle, preset avx512"),
    _figure("host_product_ns", 0.0, "ns/cycle", "other products, likewise"),
    _figure("host_memory_ns", 0.00253, "ns/cycle", "loads and stores, likewise"),
    _figure("host_transpose_ns", 0.0361, "ns/cycle", "other orders of axes, likewise"),
    _figure("host_step_ns", 0.0119, "ns/cycle", "steps of loops, likewise"),
    _figure("host_other_ns", 0.00751, "ns/cycle", "other arithmetic, likewise"),
    _figure("host_call_ns", 20.3, "ns/call", "call of a kernel"),
)
VALUES = {figure.name: figure.value for figure in (*FIGURES, *HOST_FIGURES)}
