"""Multiplication by and addition of constant tensors -> one Requant on the 8-bit tensor.

``y = x * w + b`` with ``w`` and ``b`` per channel (layer scale, the normalisation without statistics of MobileBERT) or
per element (position embeddings). A sequence of quantised operators becomes one Requant without the roundings in
between. Functions with scalar constants only are tables (``integerise_table``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.reader import Site

from match_quant.affine_chain import AffineChain, Ints, Reals, Rows, chains_of
from match_quant.expectation import Expectation
from match_quant.integer_graph import IntegerGraph
from match_quant.requant import Requant, Target
from match_quant.requant_node import append_requant, requantised

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: Largest share of input values, in any channel, for which the Requant may omit a saturation inside the chain. One
#: range for all channels cuts off the ends of channels with large factors; a larger share counts as intended
#: saturation.
SATURATED_SHARE = 1 / 4

#: Precise enough for products of 8-bit values; constants as large as the tensor take half the bytes.
_PRODUCT_BITS = 32


def affine(graph: IntegerGraph, site: Site) -> gs.Variable | None:
    """The longest chain of affine operators that one Requant can replace."""
    for chain in chains_of(graph, site):
        rows = chain.rows()
        target = _target(graph, chain, rows)
        requant = graph.choose(target, _PRODUCT_BITS)
        if len(chain.stages) == 1 or _stands_for(chain, rows.values, requant):
            return _append(graph, site, chain, rows, target, requant)
    return None


def _target(graph: IntegerGraph, chain: AffineChain, rows: Rows) -> Target:
    """One channel for each distinct combination of constants."""
    multiplier, offset = chain.composed(rows.values)
    values = graph.expectation(chain.x).merged()
    limits = np.iinfo(chain.quant.dtype)
    ones = np.ones(len(rows.values), np.int64)
    result = chain.stages[-1].result
    return Target(
        multiplier=multiplier,
        offset=offset,
        acc_min=ones * chain.quant.lo,
        acc_max=ones * chain.quant.hi,
        type_min=ones * int(limits.min),
        type_max=ones * int(limits.max),
        lo=result.lo,
        hi=result.hi,
        acc_mean=ones * values.mean,
        acc_sd=ones * values.sd,
    )


def _stands_for(chain: AffineChain, values: Reals, requant: Requant) -> bool:
    """Whether the result is within 1 of the original for every input that saturates nothing inside the chain, and for
    most other inputs (for all of them if a saturation inside implements a Relu or Clip)."""
    expected, saturated = chain.evaluate(values)
    result = chain.stages[-1].result
    sums = chain.inputs() * requant.multiplier[:, None] + requant.addend[:, None]
    far = np.abs(np.clip(sums >> requant.shift, result.lo, result.hi) - expected) > 1
    if np.any(far & ~saturated):
        return False
    allowed = 0.0 if any(stage.clamps for stage in chain.stages[:-1]) else SATURATED_SHARE
    return bool(np.all(far.mean(axis=1) <= allowed))


def _append(
    graph: IntegerGraph, site: Site, chain: AffineChain, rows: Rows, target: Target, requant: Requant
) -> gs.Variable:
    graph.note(site, requant.arithmetic)
    multiplier, addend = (_spread(values, rows) for values in (requant.multiplier, requant.addend))
    origin = graph.editor.origin(*chain.nodes)
    name = f"{site.op.name}_requant"
    result = append_requant(
        graph.editor, chain.x, multiplier, addend, requant.shift, chain.stages[-1].result, name=name, origin=origin
    )
    known = requantised(target, requant, 0)
    graph.expect(result, _known(known, rows))
    return result


def _spread(values: Ints, rows: Rows) -> Ints:
    """One value if all rows agree, else one per element of the constants."""
    if np.all(values == values[0]):
        return np.array(values[0], np.int64)
    return np.asarray(values[rows.index].reshape(rows.shape), np.int64)


def _known(values: Expectation, rows: Rows) -> Expectation:
    """The expectation per channel if constants differ along one axis only; merged if they differ along several."""
    axes = [axis for axis, size in enumerate(rows.shape) if size > 1]
    if len(axes) != 1:
        return values.merged()
    return Expectation(
        lo=values.lo[rows.index],
        hi=values.hi[rows.index],
        mean=values.mean[rows.index],
        sd=values.sd[rows.index],
        axis=axes[0],
    )
