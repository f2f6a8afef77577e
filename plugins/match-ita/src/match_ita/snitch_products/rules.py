"""The limits of the product kernels as named constraints."""

from __future__ import annotations

from collections.abc import Callable

from match_core import Constraint, Match
from match_core.patterns.captures import number
from match_core.patterns.rule import rule
from match_core.patterns.rules_tensors import types_are

from match_ita.captures import columns_filled
from match_ita.snitch_products import requant
from match_ita.snitch_products import structures as s
from match_ita.snitch_products.requant import Scale

_INT32 = 2**31
#: The reciprocals of softmax hold quotients of this many bits.
_LEVELS_MAX = 2**15


_BYTES = ("activations are int8 or uint8", "int8", "uint8")
one_input = types_are(*_BYTES, of=("input",), name="activations")
two_inputs = types_are(*_BYTES, of=("a", "b"), name="activations")
attention_types = types_are("q, k and v are int8", "int8", of=("q", "k", "vt"), name="activations")


@rule("zero points", "zero points are constant and per tensor")
def matmul_zero_points(match: Match) -> str | None:
    known = all(s.zero_point(match, index) is not None for index in (2, 3))
    return None if known else "one is computed or per row"


def _scaled(of: Callable[[Match], Scale | str]) -> Constraint:
    @rule(
        "product",
        "sums and M fit int32, sum * M and sum * M + B stay below 2**62 for every input, and where they exceed 32 bits "
        "M * 2**(32 - S) fits int32 too; M and B are of the tensor or of the channels (of heads in a product)",
    )
    def check(match: Match) -> str | None:
        found = of(match)
        return found if isinstance(found, str) else None

    return check


weighted = _scaled(requant.weighted)
product = _scaled(requant.of_product)


@rule("columns", "columns are padded with zeros only at the end")
def turned_pad(match: Match) -> str | None:
    if not match.has("pad"):
        return None
    return "other places or values are filled" if columns_filled(match) is None else None


@rule(
    "layout",
    "batches are equal and lie as one axis; rows of the first input and of the result, and rows or columns of the "
    "second input are contiguous",
)
def layout(match: Match) -> str | None:
    product = s.product_of(match)
    if product is None:
        shapes = " and ".join(str(list(tensor.shape)) for tensor in match.node("matmul").inputs[:2])
        return f"shapes are {shapes}"
    if product.a.columns > 1:
        return "a row of the first input is not contiguous"
    if product.b.columns > 1 and product.b.rows > 1:
        return "neither rows nor columns of the second input are contiguous"
    return None if product.output.columns <= 1 else "a row of the result is not contiguous"


# ---- attention and softmax -------------------------------------------------------------------------------------


@rule("heads", "q, k and v have the same columns for each head, values are as many as keys or more")
def heads(match: Match) -> str | None:
    (_, width), (keys, k_width), (v_width, columns) = (match.shape(name)[-2:] for name in ("q", "k", "vt"))
    heads = int(match.node("attention").attrs["heads"])
    if len({width, k_width, v_width}) > 1 or width % heads:
        return f"widths are {width}, {k_width} and {v_width} for {heads} heads"
    return None if columns >= keys else f"there are {keys} keys and {columns} columns of values"


@rule("groups", "columns are a multiple of a group")
def group(match: Match) -> str | None:
    node = match.node("attention" if match.has("attention") else "softmax")
    columns = (match.shape("vt") if match.has("attention") else match.shape("input"))[-1]
    group = int(node.attrs.get("group", 16))
    return None if group > 0 and columns % group == 0 else f"{columns} columns are taken {group} at once"


@rule("numerator", "the numerator is 1 to 65535: probabilities have 8 bits")
def numerator(match: Match) -> str | None:
    value = number(match, "numerator")
    return None if 0 < value < 1 << 16 else f"it is {value}"


@rule("product", f"of logits and results: {product.description}")
def attention_product(match: Match) -> str | None:
    for step in ("qk", "av"):
        wrong = requant.divisor_of(match, f"{step}_divisor")
        found = wrong if wrong else requant.of_attention(match, step)
        if isinstance(found, str):
            return f"{step}: {found}"
    return None


@rule("table", f"exponentials are 256 numbers of 31 bits, the first is not 0; levels are fewer than {_LEVELS_MAX}")
def table(match: Match) -> str | None:
    table, levels = match.const("table").reshape(-1), number(match, "numerator")
    if table.size < 256 or int(table.min()) < 0 or int(table.max()) >= _INT32 or int(table[0]) < 1:
        return f"{table.size} values from {table.min()} to {table.max()}"
    return None if 0 < levels < _LEVELS_MAX else f"there are {levels} levels"


# ---- windows -----------------------------------------------------------------------------------------------------


@rule("rank", "images have two dimensions")
def image(match: Match) -> str | None:
    rank = len(match.shape("input"))
    return None if rank == 4 else f"the input has rank {rank}"


@rule("results", "indices of the largest values are not used")
def one_result(match: Match) -> str | None:
    outputs = len(match.node("pool").outputs)
    return None if outputs == 1 else f"there are {outputs} results"
