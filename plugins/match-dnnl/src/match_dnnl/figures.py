"""Figures of the cost models, in nanoseconds of one thread; all are estimates, fitted to single operators."""

from match_core import Constant

_FITTED = "least relative error of `python -m benchmarks.dnnl_fit`, AMD EPYC with AVX-512, oneDNN 2.6.3, one thread"


def _figure(name: str, value: float, unit: str, what: str) -> Constant:
    return Constant(name, value, unit, f"{what}: {_FITTED}", estimate=True)


FIGURES = (
    _figure("region_ns", 227, "ns/region", "call of a region"),
    _figure("primitive_ns", 32.6, "ns/primitive", "call of a primitive"),
    _figure("direct_mac_ns", 0.0176, "ns/MAC", "convolutions, whole blocks of channels"),
    _figure("winograd_mac_ns", 0.00978, "ns/MAC", "convolutions with Winograd's transformation, likewise"),
    _figure("depthwise_mac_ns", 0.0251, "ns/MAC", "depthwise convolutions, likewise"),
    _figure("depthwise_line_ns", 7.99, "ns/line", "lines of pixels of depthwise convolutions, in each block"),
    _figure("product_mac_ns", 0.0168, "ns/MAC", "products of matrices, transposed convolutions"),
    _figure("product_element_ns", 0.0297, "ns/element", "results of convolutions and products"),
    _figure("pass_element_ns", 0.213, "ns/element", "results of poolings, normalisations, reductions"),
    _figure("function_element_ns", 0.287, "ns/element", "functions that take a polynomial"),
    _figure("element_ns", 0.0, "ns/element", "other functions, which mostly are part of the primitive before"),
    _figure("border_byte_ns", 0.011, "ns/byte", "inputs and outputs of the region"),
    _figure(
        "image_byte_ns", 0.0626, "ns/byte", "images at the border of regions that keep theirs in blocks of channels"
    ),
    _figure("constant_byte_ns", 0.00492, "ns/byte", "weights"),
)
HOST_FIGURES = (
    _figure("host_tile_ns", 0.00565, "ns/cycle", "products in tiles, by the core's modelled cycle, preset avx512"),
    _figure("host_product_ns", 0.0, "ns/cycle", "other products, likewise"),
    _figure("host_memory_ns", 0.000837, "ns/cycle", "loads and stores, likewise"),
    _figure("host_transpose_ns", 0.0383, "ns/cycle", "other orders of axes, likewise"),
    _figure("host_step_ns", 0.0113, "ns/cycle", "steps of loops, likewise"),
    _figure("host_other_ns", 0.00851, "ns/cycle", "other arithmetic, likewise"),
    _figure("host_call_ns", 20.7, "ns/call", "call of a kernel"),
)
VALUES = {figure.name: figure.value for figure in (*FIGURES, *HOST_FIGURES)}
