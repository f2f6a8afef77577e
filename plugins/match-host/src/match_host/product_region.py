"""A convolution or matrix product with the whole region of elementwise operators on its result, as one kernel: bias,
batch normalisation, residual additions, activations, requantisation. A Pad before a convolution is included.

The region is that of ``region.py``: it contains every reader of the product and has one result, so none of its inputs
can depend on the product. Functions such as exponentials stay outside: they are vectorised separately over whole
tensors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.model import qualified_op
from match_core.contract.structure import Match
from match_core.ir.reader import shape_of
from match_core.ir.topology import Topology

from match_host.fusion import NO_PADDING, SPATIAL_PAD
from match_host.graph import dtype_of
from match_host.kernels.built import Built
from match_host.kernels.elementwise.scalar_table import SCALAR_OPS
from match_host.kernels.products.conv import build_conv
from match_host.kernels.products.conv_shape import CONV_OPS
from match_host.kernels.products.dense import DENSE_OPS, build_dense
from match_host.machine import GENERIC, Machine
from match_host.operators import OPERATOR_TABLE
from match_host.region import eligible, grow
from match_host.rules import first_broken

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def build_product_region(nodes: tuple[gs.Node, ...], function: str, machine: Machine = GENERIC) -> Built:
    """The kernel of a match of ``find_product_regions``."""
    build = build_dense if qualified_op(nodes[0]) in DENSE_OPS else build_conv
    return build(nodes, function, machine)


def find_product_regions(graph: gs.Graph) -> tuple[Match, ...]:
    """Every product whose readers all lie in the region of one elementwise result."""
    topology = Topology.of(graph)
    allowed = {topology.position(node) for node in topology.nodes if _joins(node)}
    taken: set[int] = set()
    matches: list[Match] = []
    for root in sorted(allowed, reverse=True):
        if root in taken:
            continue
        region = grow(topology, root, allowed)
        taken |= region
        matches += _with_products(topology, root, region)
    return tuple(reversed(matches))


def _joins(node: gs.Node) -> bool:
    """Whether an elementwise operator may follow a product in its kernel."""
    if not eligible(node):
        return False
    op = SCALAR_OPS[qualified_op(node)]
    return op.work(dtype_of(node.inputs[op.data])).special == 0


def _with_products(topology: Topology, root: int, region: set[int]) -> list[Match]:
    result = topology.nodes[root]
    members = [topology.nodes[position] for position in sorted(region)]
    found, seen = [], set()
    for member in members:
        for tensor in member.inputs:
            product = topology.producer(tensor)
            if product is None or id(tensor) in seen or not _is_product(product) or topology.is_output(tensor):
                continue
            seen.add(id(tensor))
            readers = {topology.position(reader) for reader in topology.consumers(tensor)}
            if readers <= region and shape_of(tensor) == shape_of(result.outputs[0]):
                nodes = (*_pad_before(topology, product), product, *members)
                found.append(Match(nodes, {"product": product, "result": result}))
    return found


def _is_product(node: gs.Node) -> bool:
    name = qualified_op(node)
    return name in (*CONV_OPS, *DENSE_OPS) and first_broken(node, OPERATOR_TABLE[name].rules) is None


def _pad_before(topology: Topology, product: gs.Node) -> tuple[gs.Node, ...]:
    """The Pad that a convolution includes, if there is one."""
    pad = topology.producer(product.inputs[0])
    if pad is None or pad.op != "Pad" or "Conv" not in product.op or topology.is_output(pad.outputs[0]):
        return ()
    alone = len(topology.consumers(pad.outputs[0])) == 1
    supported = first_broken(pad, OPERATOR_TABLE["Pad"].rules) is None
    integer = "ConvInteger" in product.op
    if not (alone and supported and integer) or NO_PADDING.check(product) is not None:
        return ()
    return (pad,) if SPATIAL_PAD.check(pad) is None else ()
