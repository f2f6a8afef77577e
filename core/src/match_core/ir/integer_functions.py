"""Bodies of the integer operators of networks that hold integers in floats: softmax, normalisation, GELU, hardswish.

Semantics: I-BERT (https://arxiv.org/abs/2101.01321) as pulp-platform/quantlib and pulp-platform/Deeploy write it; the
softmax in powers of two is that of https://arxiv.org/abs/2307.03493. ONNX divides integers towards zero; subtracting
Mod first makes it a floor.
"""

from __future__ import annotations

_HEAD = '<domain: "match.arith", opset_import: ["" : 21]>\n'

# The integers that the float tensor x holds.
_AS_INTEGER = """AsInteger (x) => (y) {
    y = Cast <to: int = 7> (x)
}"""

# floor(x / D + 1 / 2): a mean rounded half up.
_ROUNDED_QUOTIENT = """RoundedQuotient (x, D) => (y) {
    two = Constant <value = int64 {2}> ()
    wide = Cast <to: int = 7> (x)
    half = Div (D, two)
    moved = Add (wide, half)
    rest = Mod (moved, D)
    whole = Sub (moved, rest)
    y = Div (whole, D)
}"""

# x * floor((one + erf) / 2) with erf = sign(x) * (one - (min(|x|, -b) + b)^2).
_GELU = """IntegerGelu (x, b, one) => (y) {
    two = Constant <value = int64 {2}> ()
    wide = Cast <to: int = 7> (x)
    size = Abs (wide)
    limit = Neg (b)
    near = Min (size, limit)
    distance = Add (near, b)
    square = Mul (distance, distance)
    inner = Sub (one, square)
    sign = Sign (wide)
    erf = Mul (sign, inner)
    sum = Add (one, erf)
    rest = Mod (sum, two)
    whole = Sub (sum, rest)
    gate = Div (whole, two)
    y = Mul (wide, gate)
}"""

_HARDSWISH = """IntegerHardswish (x, sixth, three, six) => (y) {
    zero = Constant <value = int64 {0}> ()
    wide = Cast <to: int = 7> (x)
    moved = Add (wide, three)
    low = Max (moved, zero)
    gate = Min (low, six)
    product = Mul (wide, gate)
    y = Mul (product, sixth)
}"""

# t = table[max - x]; y = floor(N * t / sum of t), along the last axis.
_SOFTMAX_FLOOR = """SoftmaxFloorU8 (x, table, N) => (y) {
    last = Constant <value = int64[1] {-1}> ()
    wide = Cast <to: int = 7> (x)
    top = ReduceMax <keepdims: int = 1> (wide, last)
    distance = Sub (top, wide)
    t = Gather <axis: int = 0> (table, distance)
    s = ReduceSum <keepdims: int = 1> (t, last)
    scaled = Mul (t, N)
    quotient = Div (scaled, s)
    y = Cast <to: int = 2> (quotient)
}"""

# Softmax in powers of two along the last axis, as a stream of groups of columns. With r(d) = floor((d + 16) / 32):
#   top_g = max of groups 0 to g;  sum_g = (sum_(g-1) >> r(top_g - top_(g-1))) + sum over group g of 256 >> r(top_g - x)
#   y = floor(N / sum_last) >> r(top_last - x)
# Nested floors of one running sum are one floor: sum_last = floor(sum over g of part_g / 2^R_g), where R_g sums the
# later shifts. For inputs of 8 bits R_g is at most 16 (r(d) <= d / 16), so 2^16 / 2^R_g is whole.
_SHIFT_SOFTMAX = """ShiftSoftmaxU8 <group> (x, N) => (y) {
    zero = Constant <value = int64 {0}> ()
    one = Constant <value = int64 {1}> ()
    half = Constant <value = int64 {16}> ()
    step = Constant <value = int64 {32}> ()
    lowest = Constant <value = int64 {-1024}> ()
    most = Constant <value = int64 {9}> ()
    fraction = Constant <value = int64 {16}> ()
    unit = Constant <value = int64 {65536}> ()
    full = Constant <value = uint64 {256}> ()
    last = Constant <value = int64[1] {-1}> ()
    before_last = Constant <value = int64[1] {-2}> ()
    count = Constant <value_int: int = @group> ()
    columns = Reshape (count, last)
    wide = Cast <to: int = 7> (x)
    lead = Shape <start: int = 0, end: int = -1> (x)
    split = Concat <axis: int = 0> (lead, last, columns)
    grouped = Reshape (wide, split)
    own = ReduceMax <keepdims: int = 0> (grouped, last)
    groups = Shape <start: int = -1> (own)
    g = Squeeze (groups)
    index = Range (zero, g, one)
    row = Unsqueeze (index, last)
    seen = GreaterOrEqual (row, index)
    earlier = Greater (row, index)
    later = Less (row, index)
    line = Unsqueeze (own, before_last)
    own_seen = Where (seen, line, lowest)
    top = ReduceMax <keepdims: int = 0> (own_seen, last)
    own_earlier = Where (earlier, line, lowest)
    top_before = ReduceMax <keepdims: int = 0> (own_earlier, last)
    rise = Sub (top, top_before)
    rise_half = Add (rise, half)
    rise_shift = Div (rise_half, step)
    rise_line = Unsqueeze (rise_shift, before_last)
    rise_later = Where (later, rise_line, zero)
    total_shift = ReduceSum <keepdims: int = 0> (rise_later, last)
    top_column = Unsqueeze (top, last)
    distance = Sub (top_column, grouped)
    distance_half = Add (distance, half)
    shift_any = Div (distance_half, step)
    shift = Min (shift_any, most)
    shift_u = Cast <to: int = 13> (shift)
    weight_u = BitShift <direction: string = "RIGHT"> (full, shift_u)
    weight = Cast <to: int = 7> (weight_u)
    part = ReduceSum <keepdims: int = 0> (weight, last)
    part_u = Cast <to: int = 13> (part)
    places = Sub (fraction, total_shift)
    places_u = Cast <to: int = 13> (places)
    scaled_u = BitShift <direction: string = "LEFT"> (part_u, places_u)
    scaled = Cast <to: int = 7> (scaled_u)
    total = ReduceSum <keepdims: int = 1> (scaled, last)
    sum = Div (total, unit)
    inverse = Div (N, sum)
    inverse_u = Cast <to: int = 13> (inverse)
    best = ReduceMax <keepdims: int = 1> (wide, last)
    below = Sub (best, wide)
    below_half = Add (below, half)
    fall_any = Div (below_half, step)
    fall = Min (fall_any, most)
    fall_u = Cast <to: int = 13> (fall)
    y_u = BitShift <direction: string = "RIGHT"> (inverse_u, fall_u)
    y = Cast <to: int = 2> (y_u)
}"""

_NORM_TAIL = """    one = Constant <value = int64 {1}> ()
    square = Mul (t, t)
    squares = ReduceSum <keepdims: int = 1> (square, last)
    whole_mean = Div (squares, n)
    v = Add (whole_mean, one)
    v_real = Cast <to: int = 11> (v)
    root = Sqrt (v_real)
    s = Cast <to: int = 7> (root)
    product = Mul (t, w)
    quotient = Div (product, s)
    moved = Add (quotient, b)
    rest = Mod (moved, D)
    whole = Sub (moved, rest)
    result = Div (whole, D)
    is_below = Less (result, lo)
    low = Where (is_below, lo, result)
    is_above = Greater (low, hi)
    clipped = Where (is_above, hi, low)
    y = Cast <to: int = 3> (clipped)
}"""

# t = x - mean; y = clip(floor((t * w / s + b) / D), lo, hi) with s = floor(sqrt(mean of t^2 + 1)). The mean and
# t * w / s are rounded towards zero. The root of a double, cut off, is the exact integer root below 2^52.
_LAYER_NORM = (
    """LayerNormI8 (x, w, b, D, lo, hi) => (y) {
    last = Constant <value = int64[1] {-1}> ()
    wide = Cast <to: int = 7> (x)
    n = Shape <start: int = -1> (x)
    total = ReduceSum <keepdims: int = 1> (wide, last)
    mean = Div (total, n)
    t = Sub (wide, mean)
"""
    + _NORM_TAIL
)

# The same without mean and offset.
_RMS_NORM = (
    """RmsNormI8 (x, w, D, lo, hi) => (y) {
    last = Constant <value = int64[1] {-1}> ()
    b = Constant <value = int64 {0}> ()
    t = Cast <to: int = 7> (x)
    n = Shape <start: int = -1> (x)
"""
    + _NORM_TAIL
)

# Layer normalisation of quantised values along the last axis, n long: with t = n * x - sum of x (zero points cancel)
#   u = 2^29 * t / sqrt(sum of t^2 + E);  y = clip(floor((floor(u * M / 2^32) + B) / D), lo, hi)
# The root r has 26 bits: v = sum of t^2 + E is multiplied by 4^k into [2^50, 2^52) first, so 1 / r = inverse / 2^56 has
# 31 bits, and |t * 2^(k + 5)| < 2^31 because |t * 2^k| <= r < 2^26. Needs 1 <= E and v < 2^52 (any n up to 4096 with
# E <= 2^51), M of 32 bits, and floor(u * M / 2^32) + B within 32 bits. For each element a 32-bit core does: multiply,
# subtract (t scaled, modulo 2^32), multiply high (u), multiply high, add, shift, clip.
_LAYER_NORM_REQUANT = """LayerNormRequant{suffix} (x, M, B, D, E, lo, hi) => (y) {{
    last = Constant <value = int64[1] {{-1}}> ()
    one = Constant <value = int64 {{1}}> ()
    word = Constant <value = int64 {{4294967296}}> ()
    most = Constant <value = int64 {{72057594037927935}}> ()
    margin = Constant <value = int64 {{32}}> ()
    powers = Constant <value = int64[26] {{{powers}}}> ()
    limits = Constant <value = int64[26] {{{limits}}}> ()
    wide = Cast <to: int = 7> (x)
    n = Shape <start: int = -1> (x)
    total = ReduceSum <keepdims: int = 1> (wide, last)
    scaled = Mul (wide, n)
    t = Sub (scaled, total)
    square = Mul (t, t)
    squares = ReduceSum <keepdims: int = 1> (square, last)
    v = Add (squares, E)
    below = Less (v, limits)
    counted = Cast <to: int = 7> (below)
    count = ReduceSum <keepdims: int = 1> (counted, last)
    k = Sub (count, one)
    power = Gather <axis: int = 0> (powers, k)
    v_power = Mul (v, power)
    v_long = Mul (v_power, power)
    v_real = Cast <to: int = 11> (v_long)
    root = Sqrt (v_real)
    r = Cast <to: int = 7> (root)
    inverse = Div (most, r)
    t_power = Mul (t, power)
    t_long = Mul (t_power, margin)
    t_inverse = Mul (t_long, inverse)
    u_rest = Mod (t_inverse, word)
    u_whole = Sub (t_inverse, u_rest)
    u = Div (u_whole, word)
    u_m = Mul (u, M)
    p_rest = Mod (u_m, word)
    p_whole = Sub (u_m, p_rest)
    p = Div (p_whole, word)
    moved = Add (p, B)
    rest = Mod (moved, D)
    whole = Sub (moved, rest)
    result = Div (whole, D)
    is_below = Less (result, lo)
    low = Where (is_below, lo, result)
    is_above = Greater (low, hi)
    clipped = Where (is_above, hi, low)
    y = Cast <to: int = {to}> (clipped)
}}"""


def _layer_norm_requant(suffix: str, to: int) -> str:
    return _LAYER_NORM_REQUANT.format(
        suffix=suffix,
        to=to,
        powers=", ".join(str(1 << k) for k in range(26)),
        limits=", ".join(str(1 << (52 - 2 * k)) for k in range(26)),
    )


INTEGER_FUNCTIONS = tuple(
    _HEAD + text
    for text in (
        _AS_INTEGER,
        _ROUNDED_QUOTIENT,
        _GELU,
        _HARDSWISH,
        _SOFTMAX_FLOOR,
        _SHIFT_SOFTMAX,
        _LAYER_NORM,
        _RMS_NORM,
        _layer_norm_requant("U8", 2),
        _layer_norm_requant("I8", 3),
    )
)
