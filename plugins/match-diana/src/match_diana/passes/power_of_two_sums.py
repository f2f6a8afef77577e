"""Sums of two activations: groups that share one scale, and that scale.

The array adds two int8 tensors, shifts and clips; it has no multiplier and no addend for them (element_wise_sum of the
published library). So both operands and the result get one scale and zero point 0, and the sum is exact. Tensors that
meet in several sums, as in chains of residual blocks, share it throughout.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from match_core.transforms.quant import Site, shape_of

from match_diana.passes.power_of_two_graph import Activation, QuantisedGraph, bounds

#: Estimate: standard deviation of a tensor's values, as a share of the end of the range that calibration found. Decides
#: between clipping and resolution where tensors of one group have unlike ranges, nothing else.
_SD = 0.25
#: Scales that are tried between the smallest and the largest that a member of the group would have alone.
_CANDIDATES = 65


@dataclass(slots=True, eq=False)
class SumGroup:
    """Activations that share one scale, and the sums between them."""

    members: list[Activation] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)


def sum_groups(graph: QuantisedGraph, quantizers: Iterable[object]) -> tuple[SumGroup, ...]:
    """The groups of all sums whose operands and result may change."""
    groups: dict[int, SumGroup] = {}
    for quantize in quantizers:
        site = graph.site(quantize)
        members = _members(graph, site) if site is not None else ()
        if site is None or not members:
            continue
        joined = SumGroup(list(members), [site])
        for member in members:
            other = groups.get(id(member))
            if other is not None and other.sites != joined.sites:
                joined.members += [known for known in other.members if known not in joined.members]
                joined.sites = [*(known for known in other.sites if known not in joined.sites), *joined.sites]
        for member in joined.members:
            groups[id(member)] = joined
    found = {id(group): group for group in groups.values()}
    return tuple(found.values())


def _members(graph: QuantisedGraph, site: Site) -> tuple[Activation, ...]:
    if site.op.op != "Add":
        return ()
    found = [graph.source(tensor) for tensor in site.op.inputs]
    result = graph.of(site.quantize.outputs[0])
    members = [activation for activation in (*found, result) if activation is not None and not activation.fixed]
    if len(members) < 3 or any(shape_of(tensor) != site.real_shape for tensor in site.op.inputs):
        return ()
    return tuple(dict.fromkeys(members))


def common_scale(members: Sequence[Activation]) -> float:
    """The scale for all: errors of rounding and of clipping add up in the sums they meet in, so their sum decides."""
    alone = [symmetric_scale(member) for member in members]
    tried = np.geomspace(min(alone), max(alone), _CANDIDATES)
    losses = [sum(_loss(member, float(scale)) for member in members) for scale in tried]
    return float(tried[int(np.argmin(losses))])


def symmetric_scale(activation: Activation) -> float:
    """The least scale with zero point 0 at which int8 holds all values."""
    low, high = bounds(activation.quant)
    return max(high / 127, -low / 128)


def _loss(activation: Activation, scale: float) -> float:
    """Expected squared error of values that are normally distributed, or the positive half of that, when they are
    rounded to this scale and clipped."""
    low, high = bounds(activation.quant)
    end = max(high, -low)
    values = np.linspace(0.0, end, 257)
    weight = np.exp(-0.5 * np.square(values / (_SD * end)))
    beyond = np.maximum(values - 127 * scale, 0.0)
    return float(scale**2 / 12 + (np.square(beyond) * weight).sum() / weight.sum())
