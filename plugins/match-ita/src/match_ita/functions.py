"""ITA's operators as ONNX local functions of domain ``match.ita``: the bodies are the definition, bit for bit.

Products are computed in doubles, which hold their sums exactly on every processor (ONNX Runtime's integer product of
uint8 and int8 saturates inside on processors without VNNI). ONNX divides integers towards zero; subtracting Mod first
makes it a floor.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnx

DOMAIN = "match.ita"
ATTENTION = f"{DOMAIN}::Attention"
GELU = f"{DOMAIN}::Gelu"

_HEAD = '<domain: "match.ita", opset_import: ["" : 21]>\n'

# int8 {y} = clip(floor(({x} * M{n} + B{n}) / D{n}))
_REQUANT = """
    {y}_product = Mul ({x}, M{n})
    {y}_sum = Add ({y}_product, B{n})
    {y}_rest = Mod ({y}_sum, D{n})
    {y}_whole = Sub ({y}_sum, {y}_rest)
    {y}_quotient = Div ({y}_whole, D{n})
    {y}_below = Less ({y}_quotient, int8_min)
    {y}_raised = Where ({y}_below, int8_min, {y}_quotient)
    {y}_above = Greater ({y}_raised, int8_max)
    {y}_clipped = Where ({y}_above, int8_max, {y}_raised)
    {y} = Cast <to: int = 3> ({y}_clipped)"""

_LIMITS = """
    int8_min = Constant <value = int64 {-128}> ()
    int8_max = Constant <value = int64 {127}> ()"""

# x * (erf + c) with erf = sign(x) * ((min(|x|, -b) + b)^2 + c), requantised.
_GELU = (
    "Gelu (x, b, c, M, B, D) => (y) {"
    + _LIMITS
    + """
    wide = Cast <to: int = 7> (x)
    size = Abs (wide)
    limit = Neg (b)
    near = Min (size, limit)
    distance = Add (near, b)
    square = Mul (distance, distance)
    inner = Add (square, c)
    sign = Sign (wide)
    erf = Mul (sign, inner)
    gate = Add (erf, c)
    g = Mul (wide, gate)"""
    + _REQUANT.format(x="g", y="y", n="")
    + "\n}"
)

# {y} = min(floor(({x} + 2^(shift-1)) / 2^shift), most_places): how often a value is halved.
_PLACES = """
    {y}_half = Add ({x}, half_step)
    {y}_any = Div ({y}_half, step)
    {y}_least = Min ({y}_any, most_places)
    {y} = Cast <to: int = 13> ({y}_least)"""

# Streaming softmax of the logits a [H, S, Tp] (int64), in groups of columns. With
# r(d) = floor((d + 2^(shift-1)) / 2^shift), a scan over the groups keeps
#   top' = max(top, group);  sum' = (sum >> r(top' - top)) + sum of 256 >> r(top' - group)
# and the result is floor(N / sum) >> r(top - a). A sum is below 2^19, so more than 32 places change nothing.
_SOFTMAX = (
    """
    step_shift_wide = Constant <value_int: int = @shift> ()
    step_shift = Cast <to: int = 13> (step_shift_wide)
    unit = Constant <value = uint64 {1}> ()
    step_u = BitShift <direction: string = "LEFT"> (unit, step_shift)
    half_step_u = BitShift <direction: string = "RIGHT"> (step_u, unit)
    step = Cast <to: int = 7> (step_u)
    half_step = Cast <to: int = 7> (half_step_u)
    most_places = Constant <value = int64 {32}> ()
    full = Constant <value = uint64 {256}> ()
    columns_wide = Constant <value_int: int = @group> ()
    columns = Reshape (columns_wide, last)
    lead = Shape <start: int = 0, end: int = -1> (a)
    split = Concat <axis: int = 0> (lead, last, columns)
    grouped = Reshape (a, split)
    one = Constant <value = int64[1] {1}> ()
    row = Concat <axis: int = 0> (lead, one)
    first_top = Expand (int8_min, row)
    nothing = Constant <value = uint64 {0}> ()
    first_sum = Expand (nothing, row)
    top, sum = Scan <num_scan_inputs: int = 1, scan_input_axes: ints = [2], body: graph = groups
        (int64[?, ?, 1] top_before, uint64[?, ?, 1] sum_before, int64[?, ?, ?] columns_in)
        => (int64[?, ?, 1] top_after, uint64[?, ?, 1] sum_after) {
            peak = ReduceMax <keepdims: int = 1> (columns_in, last)
            top_after = Max (top_before, peak)
            rise = Sub (top_after, top_before)
            distance = Sub (top_after, columns_in)"""
    + (_PLACES.format(x="rise", y="fade") + _PLACES.format(x="distance", y="halvings")).replace("\n", "\n        ")
    + """
            faded = BitShift <direction: string = "RIGHT"> (sum_before, fade)
            weight_u = BitShift <direction: string = "RIGHT"> (full, halvings)
            weight = Cast <to: int = 7> (weight_u)
            part = ReduceSum <keepdims: int = 1> (weight, last)
            part_u = Cast <to: int = 13> (part)
            sum_after = Add (faded, part_u)
        }> (first_top, first_sum, grouped)
    numerator = Cast <to: int = 13> (N)
    inverse = Div (numerator, sum)
    below = Sub (top, a)"""
    + _PLACES.format(x="below", y="fall")
    + """
    weights = BitShift <direction: string = "RIGHT"> (inverse, fall)"""
)

# q [S, HP], k [T, HP], vt [HP, Tp], all int8 -> [S, HP].
_ATTENTION = (
    "Attention <heads, shift, group> (q, k, vt, Mqk, Bqk, Dqk, N, Mav, Bav, Dav) => (y) {"
    + _LIMITS
    + """
    last = Constant <value = int64[1] {-1}> ()
    none = Constant <value = int64[1] {0}> ()
    heads_wide = Constant <value_int: int = @heads> ()
    heads_row = Reshape (heads_wide, last)
    by_head = Concat <axis: int = 0> (none, heads_row, last)
    by_column = Shape <start: int = 1> (vt)
    turned_by_head = Concat <axis: int = 0> (heads_row, last, by_column)
    q_real = Cast <to: int = 11> (q)
    q_split = Reshape (q_real, by_head)
    q_heads = Transpose <perm: ints = [1, 0, 2]> (q_split)
    k_real = Cast <to: int = 11> (k)
    k_split = Reshape (k_real, by_head)
    k_heads = Transpose <perm: ints = [1, 2, 0]> (k_split)
    qk_real = MatMul (q_heads, k_heads)
    qk = Cast <to: int = 7> (qk_real)"""
    + _REQUANT.format(x="qk", y="logits", n="qk")
    + """
    have = Shape <start: int = 0, end: int = 1> (k)
    missing = Sub (by_column, have)
    pads = Concat <axis: int = 0> (none, missing)
    logits_wide = Cast <to: int = 7> (logits)
    a = Pad (logits_wide, pads, int8_min, last)"""
    + _SOFTMAX
    + """
    weights_real = Cast <to: int = 11> (weights)
    vt_real = Cast <to: int = 11> (vt)
    vt_heads = Reshape (vt_real, turned_by_head)
    v_heads = Transpose <perm: ints = [0, 2, 1]> (vt_heads)
    av_real = MatMul (weights_real, v_heads)
    av = Cast <to: int = 7> (av_real)"""
    + _REQUANT.format(x="av", y="mixed", n="av")
    + """
    mixed_rows = Transpose <perm: ints = [1, 0, 2]> (mixed)
    joined = Concat <axis: int = 0> (none, last)
    y = Reshape (mixed_rows, joined)
}"""
)


@lru_cache(maxsize=1)
def function_protos() -> tuple[onnx.FunctionProto, ...]:
    """Attention and Gelu. Read only."""
    import onnx.parser

    return tuple(onnx.parser.parse_function(_HEAD + text) for text in (_ATTENTION, _GELU))
