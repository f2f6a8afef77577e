"""Our operators as ONNX local functions with plain ONNX bodies.

``match.arith``: integer requantisation, addition, softmax, tables, sign offsets. ``match.nhwc``: spatial operators on
NHWC activations. ``match.form``: the same tensor in another stored form. The bodies are the definition, which
the emitted C must equal bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from match_core.contract.model import OPSET

if TYPE_CHECKING:
    import onnx
    import onnx_graphsurgeon as gs

ARITH = "match.arith"
#: Version of all domains.
VERSION = 1

_INT8, _UINT8, _INT64 = 3, 2, 7  # TensorProto element types

# clip(floor(sum / D), lo, hi); Mod takes the sign of the divisor, so subtracting it makes the division a floor.
# Clipped by comparing: ONNX Runtime's Max and Min are wrong for int64 beyond 32 bits (1.31.1: Min(2^31, 127) is 2^31).
_REQUANT_TAIL = """
    rest = Mod (sum, D)
    whole = Sub (sum, rest)
    quotient = Div (whole, D)
    is_below = Less (quotient, lo)
    low = Where (is_below, lo, quotient)
    is_above = Greater (low, hi)
    clipped = Where (is_above, hi, low)
    y = Cast <to: int = {to}> (clipped)
"""

_REQUANT = (
    """<domain: "match.arith", opset_import: ["" : 21]>
Requant{suffix} (x, M, B, D, lo, hi) => (y) {{
    wide = Cast <to: int = 7> (x)
    product = Mul (wide, M)
    sum = Add (product, B)"""
    + _REQUANT_TAIL
    + "}}"
)

_ADD = (
    """<domain: "match.arith", opset_import: ["" : 21]>
AddRequant{suffix} (a, b, Ma, Mb, B, D, lo, hi) => (y) {{
    wide_a = Cast <to: int = 7> (a)
    wide_b = Cast <to: int = 7> (b)
    product_a = Mul (wide_a, Ma)
    product_b = Mul (wide_b, Mb)
    products = Add (product_a, product_b)
    sum = Add (products, B)"""
    + _REQUANT_TAIL
    + "}}"
)

_OFFSET = """<domain: "match.arith", opset_import: ["" : 21]>
{name} (x) => (y) {{
    wide = Cast <to: int = 6> (x)
    offset = Constant <value = int32 {{{offset}}}> ()
    moved = Add (wide, offset)
    y = Cast <to: int = {to}> (moved)
}}"""

_LUT_U8 = """<domain: "match.arith", opset_import: ["" : 21]>
LutU8 (x, table) => (y) {
    index = Cast <to: int = 7> (x)
    y = Gather <axis: int = 0> (table, index)
}"""

_LUT_I8 = """<domain: "match.arith", opset_import: ["" : 21]>
LutI8 (x, table) => (y) {
    wide = Cast <to: int = 7> (x)
    offset = Constant <value = int64 {128}> ()
    index = Add (wide, offset)
    y = Gather <axis: int = 0> (table, index)
}"""

# t = table[max - x]; y = clip(floor((2 t N + s) / (2 s)) + zero) with s = sum of t: N * t / s rounded half up.
_SOFTMAX = """<domain: "match.arith", opset_import: ["" : 21]>
Softmax{suffix} <axis> (x, table, N, zero, lo, hi) => (y) {{
    axis = Constant <value_int: int = @axis> ()
    one = Constant <value = int64[1] {{1}}> ()
    two = Constant <value = int64 {{2}}> ()
    axes = Reshape (axis, one)
    wide = Cast <to: int = 7> (x)
    top = ReduceMax <keepdims: int = 1> (wide, axes)
    distance = Sub (top, wide)
    t = Gather <axis: int = 0> (table, distance)
    s = ReduceSum <keepdims: int = 1> (t, axes)
    t_n = Mul (t, N)
    t_n2 = Mul (t_n, two)
    numerator = Add (t_n2, s)
    denominator = Mul (s, two)
    quotient = Div (numerator, denominator)
    moved = Add (quotient, zero)
    low = Max (moved, lo)
    clipped = Min (low, hi)
    y = Cast <to: int = {to}> (clipped)
}}"""

_NHWC_CONV = """<domain: "match.nhwc", opset_import: ["" : 21]>
ConvInteger <pads, strides, dilations, group, kernel_shape> (x, w) => (y) {
    x_nchw = Transpose <perm: ints = [0, 3, 1, 2]> (x)
    y_nchw = ConvInteger <pads: ints = @pads, strides: ints = @strides, dilations: ints = @dilations,
                          group: int = @group, kernel_shape: ints = @kernel_shape> (x_nchw, w)
    y = Transpose <perm: ints = [0, 2, 3, 1]> (y_nchw)
}"""

_NHWC_FLOAT_CONV = """<domain: "match.nhwc", opset_import: ["" : 21]>
Conv <pads, strides, dilations, group, kernel_shape> (x, w, b) => (y) {
    x_nchw = Transpose <perm: ints = [0, 3, 1, 2]> (x)
    y_nchw = Conv <pads: ints = @pads, strides: ints = @strides, dilations: ints = @dilations, group: int = @group,
                   kernel_shape: ints = @kernel_shape> (x_nchw, w, b)
    y = Transpose <perm: ints = [0, 2, 3, 1]> (y_nchw)
}"""

_NHWC_AVERAGE_POOL = """<domain: "match.nhwc", opset_import: ["" : 21]>
AveragePool <kernel_shape, pads, strides, dilations, ceil_mode, count_include_pad> (x) => (y) {
    x_nchw = Transpose <perm: ints = [0, 3, 1, 2]> (x)
    y_nchw = AveragePool <kernel_shape: ints = @kernel_shape, pads: ints = @pads, strides: ints = @strides,
                          dilations: ints = @dilations, ceil_mode: int = @ceil_mode,
                          count_include_pad: int = @count_include_pad> (x_nchw)
    y = Transpose <perm: ints = [0, 2, 3, 1]> (y_nchw)
}"""

_NHWC_MAX_POOL = """<domain: "match.nhwc", opset_import: ["" : 21]>
MaxPool <kernel_shape, pads, strides, dilations, ceil_mode> (x) => (y) {
    x_nchw = Transpose <perm: ints = [0, 3, 1, 2]> (x)
    y_nchw = MaxPool <kernel_shape: ints = @kernel_shape, pads: ints = @pads, strides: ints = @strides,
                      dilations: ints = @dilations, ceil_mode: int = @ceil_mode> (x_nchw)
    y = Transpose <perm: ints = [0, 2, 3, 1]> (y_nchw)
}"""

# Only the positions of values change: forms are attributes (match_core.contract.forms.Form.attributes).
_CONVERT = """<domain: "match.form", opset_import: ["" : 21]>
Convert <source, source_bytes, target, target_bytes> (x) => (y) {
    y = Identity (x)
}"""


def _integer_functions() -> Iterable[str]:
    """The functions of ``integer_functions.txt``: one per paragraph, with both 8-bit types where the text names one."""
    _, *paragraphs = Path(__file__).with_name("integer_functions.txt").read_text("utf-8").split("\n\n")
    powers, limits = ((str(1 << shift) for shift in shifts) for shifts in (range(26), range(52, 0, -2)))
    filled = {"$POWERS": ", ".join(powers), "$LIMITS": ", ".join(limits)}
    for text in paragraphs:
        body = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
        for name, value in filled.items():
            body = body.replace(name, value)
        for suffix, to in (("U8", _UINT8), ("I8", _INT8)) if "$TO" in body else (("", 0),):
            yield f'<domain: "{ARITH}", opset_import: ["" : 21]>\n' + body.replace("$SUFFIX", suffix).replace(
                "$TO", str(to)
            )


def _texts() -> tuple[str, ...]:
    kinds = (("U8", _UINT8), ("I8", _INT8))
    return (
        *(_REQUANT.format(suffix=suffix, to=to) for suffix, to in kinds),
        *(_ADD.format(suffix=suffix, to=to) for suffix, to in kinds),
        *(_SOFTMAX.format(suffix=suffix, to=to) for suffix, to in kinds),
        _OFFSET.format(name="OffsetI8ToU8", offset=128, to=_UINT8),
        _OFFSET.format(name="OffsetU8ToI8", offset=-128, to=_INT8),
        _LUT_U8,
        _LUT_I8,
        _NHWC_CONV,
        _NHWC_FLOAT_CONV,
        _NHWC_MAX_POOL,
        _NHWC_AVERAGE_POOL,
        _CONVERT,
        *_integer_functions(),
    )


@lru_cache(maxsize=1)
def _library() -> dict[tuple[str, str], onnx.FunctionProto]:
    import onnx.parser

    protos = (onnx.parser.parse_function(text) for text in _texts())
    return {(proto.domain, proto.name): proto for proto in protos}


def function_protos() -> tuple[onnx.FunctionProto, ...]:
    """All our functions, sorted by domain and name. Read only."""
    library = _library()
    return tuple(library[key] for key in sorted(library))


def _import(protos: Iterable[onnx.FunctionProto]) -> list[gs.Function]:
    import onnx.helper
    import onnx_graphsurgeon as gs

    graph = onnx.helper.make_graph([], "functions", [], [])
    opsets = [onnx.helper.make_opsetid("", OPSET)]
    functions: list[gs.Function] = gs.import_onnx(
        onnx.helper.make_model(graph, functions=list(protos), opset_imports=opsets)
    ).functions
    return functions


def ensure_functions(graph: gs.Graph, targets: Iterable[onnx.FunctionProto] = ()) -> None:
    """Update the graph's functions and imported domains to match its nodes: add functions of match and of ``targets``
    that a node calls, and remove functions that no node calls. Changes the graph."""
    import onnx.helper

    library = _library()
    own = {(proto.domain, proto.name): proto for proto in targets}
    called = {(node.domain or "", node.op) for node in graph.nodes}
    called |= {(node.domain, node.op_type) for key in called if key in own for node in own[key].node}
    others = [f for f in graph.functions if f.unique_id not in library]
    calls = [node for function in others for node in function.nodes]  # functions of a target may call those of match
    called |= {(node.domain or "", node.op) for node in calls}
    present = {f.unique_id: f for f in graph.functions}
    known_functions = {**library, **own}
    missing = sorted(key for key in called if key in known_functions and key not in present)
    added = {f.unique_id: f for f in _import(known_functions[key] for key in missing)}
    wanted = {key: function for key, function in {**present, **added}.items() if key in called}
    graph.functions = [wanted[key] for key in sorted(wanted)]
    domains = sorted({domain for domain, _ in called} - {"", "ai.onnx"})
    known = {entry.domain: entry.version for entry in graph.import_domains or ()}
    graph.opset = OPSET
    graph.import_domains = [
        onnx.helper.make_opsetid("", OPSET),
        *(onnx.helper.make_opsetid(domain, known.get(domain, VERSION)) for domain in domains),
    ]
