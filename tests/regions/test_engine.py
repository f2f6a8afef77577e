"""Convolution engines as data: which layers they claim, and layers in their terms."""

from __future__ import annotations

import numpy as np
import onnx_graphsurgeon as gs
import pytest
from match_core.contract.claims import RegionClaims
from match_core.contract.hardware import Unit
from match_core.match.candidates import find_candidates
from match_regions import region_pattern
from match_regions.engine import ConvEngine, layer_of

UNIT = Unit("engine", "an engine")
ENGINE = ConvEngine((1, 3), dropped=(2,), pads=(0, 1), pools=(2,), channels_max=64, group=4)


def _layer(size=8, channels=(5, 6), kernel=3, stride=1, pads=(1, 1, 1, 1), pool=0, engine=ENGINE):
    """A convolution with its requantisation, perhaps behind pooling: the graph."""
    tensors, nodes = [gs.Variable("x", np.int8, [1, size, size, channels[0]])], []
    if pool:
        size //= pool
        tensors.append(gs.Variable("p", np.int8, [1, size, size, channels[0]]))
        attrs = {"kernel_shape": [pool] * 2, "strides": [pool] * 2, "pads": [0] * 4}
        nodes.append(gs.Node("MaxPool", "pool", attrs, tensors[-2:-1], tensors[-1:], domain="match.nhwc"))
    out = [(size + pads[a] + pads[a + 2] - kernel) // stride + 1 for a in (0, 1)]
    shape = [1, *out, channels[1]]
    total, made = gs.Variable("t", np.int32, shape), gs.Variable("y", np.int8, shape)
    weight = gs.Constant(
        "w", np.arange(channels[1] * channels[0] * kernel**2).astype(np.int8).reshape(*channels[::-1], kernel, kernel)
    )
    attrs = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": list(pads), "group": 1, "dilations": [1, 1]}
    nodes.append(gs.Node("ConvInteger", "conv", attrs, [tensors[-1], weight], [total], domain="match.nhwc"))
    numbers = [gs.Constant(f"n{i}", np.array(value, np.int64)) for i, value in enumerate((1, 0, 64, -128, 127))]
    nodes.append(gs.Node("RequantI8", "requant", {}, [total, *numbers], [made], domain="match.arith"))
    graph = gs.Graph(nodes=nodes, inputs=tensors[:1], outputs=[made])
    pattern = region_pattern("engine_region", "", RegionClaims(atoms=engine.claims((), ())))
    return find_candidates(graph, [(UNIT, (pattern,))])


def _made(candidates, engine=ENGINE):
    (candidate,) = candidates.legal
    from match_core.contract.region import Region
    from match_regions import atoms_in

    region = Region.of(candidate.match.nodes, candidate.match.outputs)
    ((name, match),) = atoms_in(region, candidate.pattern.claims)
    return layer_of(name, match, engine)


@pytest.mark.parametrize(
    ("layer", "computed", "first", "keep"),
    [
        ({}, (8, 8), (0, 0), 1),
        ({"kernel": 1, "pads": (0, 0, 0, 0)}, (8, 8), (0, 0), 1),
        ({"pads": (0, 0, 0, 0)}, (6, 6), (0, 0), 1),
        ({"stride": 2}, (8, 8), (0, 0), 2),
        ({"stride": 2, "pads": (0, 0, 1, 1)}, (8, 8), (1, 1), 2),
        ({"stride": 2, "pads": (0, 0, 0, 0), "size": 7}, (5, 5), (0, 0), 2),
        ({"pool": 2}, (4, 4), (0, 0), 1),
    ],
)
def test_layers_in_the_terms_of_the_engine(layer, computed, first, keep):
    made = _made(_layer(**layer))
    assert (made.computed, made.first, made.keep, made.stride) == (computed, first, keep, 1)
    assert made.drops == (keep > 1)
    assert (made.inputs, made.outputs, made.pool) == (5, 6, layer.get("pool", 1))


def test_an_engine_with_strides_drops_nothing():
    engine = ConvEngine((3,), strides=(1, 2), pads=(1,))
    made = _made(_layer(stride=2, engine=engine), engine)
    assert (made.computed, made.keep, made.stride, made.drops) == ((4, 4), 1, 2, False)


def test_weights_are_ordered_by_output_tap_and_input():
    made = _made(_layer())
    assert made.weight.shape == (6, 9, 5)
    assert made.weight[1, 2].tolist() == [45 + 9 * c + 2 for c in range(5)]


def test_tensors_take_whole_groups_of_channels():
    assert ENGINE.size(gs.Variable("x", np.int8, [1, 3, 2, 5])) == 6 * 8
    assert ENGINE.size(gs.Variable("x", np.int8, [1, 5])) == 8


@pytest.mark.parametrize(
    ("layer", "rule", "value"),
    [
        ({"kernel": 5, "pads": (2, 2, 2, 2)}, "the kernel is 1x1 or 3x3", "it is 5x5"),
        ({"stride": 3}, "stride is 1 or 2, padding 0 or 1", "stride is 3x3, padding [1, 1, 1, 1]"),
        ({"pads": (1, 1, 0, 0)}, "stride is 1 or 2, padding 0 or 1", "stride is 1x1, padding [1, 1, 0, 0]"),
        ({"stride": 2, "pads": (1, 1, 0, 0), "size": 7}, "stride is 1 or 2", "stride is 2x2, padding [1, 1, 0, 0]"),
        ({"channels": (65, 4)}, "there are at most 64 channels of input and of output", "there are 65"),
    ],
)
def test_other_layers_are_refused_once(layer, rule, value):
    candidates = _layer(**layer)
    assert candidates.legal == ()
    (refusal, *more) = [r for r in candidates.refused if r.rule.startswith(rule)]
    assert not more and (refusal.nodes, refusal.value) == (("conv", "requant"), value)


def test_pooling_that_the_engine_lacks_stays_apart():
    """The convolution behind it is still an atom."""
    candidates = _layer(pool=4, kernel=1, pads=(0, 0, 0, 0))
    assert [candidate.node_names for candidate in candidates.legal] == [("conv", "requant")]
