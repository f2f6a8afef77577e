"""Quantised operators become integer operators with explicit requantisation.

Every tensor between a QuantizeLinear and a DequantizeLinear becomes an 8-bit tensor of the type that the Soc's units
prefer (uint8 if one does: then u = q + 128 for int8 tensors), or one of int16 without zero point where a unit states
that type. Every QuantizeLinear whose operator has an integer
form is replaced; the others stay, as float operators between DequantizeLinear and QuantizeLinear.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from match_core.contract.model import Model
from match_core.contract.passes import Pass, PassContext, Phase
from match_core.ir.editor import Editor, sort_nodes
from match_core.ir.reader import Site, site_of

from match_quant.integer_graph import IntegerGraph
from match_quant.integer_joins import why_float
from match_quant.integerise_add import add
from match_quant.integerise_affine import affine
from match_quant.integerise_conv import convolution
from match_quant.integerise_dense import dense
from match_quant.integerise_layer_norm import layer_norm
from match_quant.integerise_matmul import matmul
from match_quant.integerise_move import concat, integer_move, move, pad
from match_quant.integerise_pool import average_pool
from match_quant.integerise_product import product
from match_quant.integerise_softmax import softmax
from match_quant.integerise_table import table
from match_quant.integerise_transposed import transposed_convolution
from match_quant.integerise_volume import volume_convolution

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

Rewriter = Callable[[IntegerGraph, Site], "gs.Variable | None"]

#: Tried in order; the first result is used. Each handles different operators, except that ``table`` handles any
#: function of one quantised tensor. It comes first, because no other form of such a function costs less.
REWRITERS: tuple[Rewriter, ...] = (
    table,
    convolution,
    transposed_convolution,
    volume_convolution,
    dense,
    matmul,
    add,
    affine,
    product,
    average_pool,
    softmax,
    layer_norm,
    move,
    pad,
    concat,
)

_LAYERS = frozenset(("Conv", "ConvTranspose", "Gemm", "MatMul"))


def run(model: Model, context: PassContext) -> Model:
    """Replace every quantised operator that has an integer form."""
    editor = Editor(model)
    sort_nodes(editor.graph)
    graph = IntegerGraph(editor, context)
    for node in list(editor.graph.nodes):
        if node.op == "QuantizeLinear":
            _quantize(graph, node)
        else:
            integer_move(graph, node)
    graph.connect()
    return editor.finish()


def _quantize(graph: IntegerGraph, node: gs.Node) -> None:
    site = site_of(node, graph.editor.graph.outputs, graph.types)
    if site is not None:
        graph.begin(site)
        for rewriter in REWRITERS:
            result = rewriter(graph, site)
            if result is not None:
                graph.define(node.outputs[0], result, site.quant)
                return
        reason = why_float(graph, site.op) if site.op.op in _LAYERS else None
        if reason is not None:
            graph.editor.notes.append(f"{'/'.join(graph.editor.origin(site.op))} stays in float: {reason}")
    graph.keep_quantize(node)


INTEGERISE = Pass(
    "integerise",
    Phase.INTEGER,
    run,
    "quantised operators become integer operators with requantisation (x*M + B) >> S",
    after=("qoperator_to_qdq",),
    exact=None,
)
