"""Kernels of the host cost more than their figures where the core's own compete, and only there."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import onnx
import onnx_graphsurgeon as gs
import pytest
from match_core.contract.structure import Match
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_cortexm.cores import CORE_NAMED
from match_cortexm.cost import cost_on
from match_cortexm.figures import figures_of, is_wider
from match_cortexm.forms import figures_keys
from match_cortexm.hardware import HARDWARE
from match_cortexm.patterns import kernels_of
from match_cortexm.plugin import match_patterns
from match_cortexm.rivals import RIVALLED, Rivals

from benchmarks.cortexm_made import KINDS
from benchmarks.cortexm_net import Net

from .test_kernels import TARGETS

PRODUCTS = ("ConvInteger", "MatMulInteger")


def _nodes(tmp_path, *kinds: str) -> list[gs.Node]:
    """The operators of made layers, as units see them."""
    net = Net(np.random.default_rng(1), True)
    for kind in kinds:
        KINDS[kind](net)
    onnx.save(net.model(), tmp_path / "made.onnx")
    request = CompileRequest(model=tmp_path / "made.onnx", target=TARGETS[0], output=tmp_path / "out", cache=False)
    return list(compile_model(request, Plugins.load()).compilation.model.graph.nodes)


def _rivals(core: str) -> Rivals:
    return Rivals(tuple(kernel.pattern for kernel in kernels_of(CORE_NAMED[core])))


@pytest.mark.parametrize("core", ["cortex_m0plus", "cortex_m3", "cortex_m4", "cortex_m55"])
def test_own_kernels_rival_integer_products_with_their_requantisation(core, tmp_path):
    rivals = _rivals(core)
    nodes = _nodes(tmp_path, "conv_3", "dense", "pad", "depthwise_3")
    products = [node for node in nodes if node.op in PRODUCTS]
    assert len(products) >= 3 and all(map(rivals.of, products))
    assert not any(rivals.of(node) for node in nodes if node.op.startswith("Requant") or node.op == "Pad")


def test_a_product_that_others_read_too_has_no_rival(tmp_path):
    product = next(node for node in _nodes(tmp_path, "conv_3") if node.op in PRODUCTS)
    assert _rivals("cortex_m3").of(product)
    other = gs.Node("Cast", "other", {"to": 1}, [product.outputs[0]], [gs.Variable("f", np.float32)])
    assert other in product.outputs[0].outputs and not _rivals("cortex_m3").of(product)


@pytest.mark.parametrize(("shape", "perm", "taken"), [((3, 20, 16), [0, 2, 1], True), ((3, 20, 16), [1, 0, 2], False)])
def test_transpositions(shape, perm, taken):
    tensors = [gs.Variable("x", np.int8, shape), gs.Variable("y", np.int8, [shape[axis] for axis in perm])]
    assert _rivals("cortex_m4").of(gs.Node("Transpose", "move", {"perm": perm}, tensors[:1], tensors[1:])) == taken


@pytest.mark.parametrize(("core", "factor"), [("cortex_m3", 2), ("cortex_m4", 1)])
def test_costs_of_kernels_with_rivals(core, factor, tmp_path):
    """Without the DSP extension they are multiplied; where the form has no figures, on all cores."""
    nodes = _nodes(tmp_path, "conv_3", "conv", "pointwise")
    soc = next(soc for soc in HARDWARE.socs if soc.units == (core,))
    unit = next(unit for unit in HARDWARE.units if unit.name == core)
    pattern = next(one for one in match_patterns(soc, unit) if one.name == "host_conv_integer_requant")
    found = [
        pattern.workload(Match((product, requant), {"conv": product, "requant": requant}))
        for product, requant in pairwise(nodes)
        if product.op in PRODUCTS and requant.op.startswith("Requant")
    ]
    assert len(found) == 3
    for told in found:
        plain = replace(told, geometry=tuple(pair for pair in told.geometry if pair[0] != RIVALLED))
        keys = figures_keys(plain)
        assert told != plain and figures_keys(told) == keys
        tile = {dim.name: np.array(dim.size) for dim in told.dims}
        once, more = (int(cost_on(core).kernel_cycles(workload, tile)) for workload in (plain, told))
        known = not is_wider(keys, next(key for key in keys if key in figures_of(core)))
        assert once > 0 and more == pytest.approx(factor * (1 if known else 4) * once, abs=8)
        assert ("varied" in cost_on(core).estimate(told)) == (factor > 1)
        assert "varied" not in cost_on(core).estimate(plain)
