"""Makes the geometry of convolutions and poolings explicit; global pooling becomes pooling with a window.

After this pass kernel_shape, strides, dilations and pads are present and auto_pad is absent, so later passes and
patterns handle one form only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.model import Model
from match_core.contract.passes import Pass, PassContext, Phase
from match_core.ir.editor import Editor
from match_core.ir.geometry import conv_geometry
from match_core.ir.reader import shape_of

from match_quant.operators import has_operator

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

_WINDOWED = frozenset(("Conv", "ConvInteger", "MaxPool", "AveragePool"))
_GLOBAL = {"GlobalAveragePool": "AveragePool", "GlobalMaxPool": "MaxPool"}


def run(model: Model, context: PassContext) -> Model:
    """Rewrite attributes and names of operators; results do not change."""
    if not has_operator(model, *_WINDOWED, *_GLOBAL):
        return model
    editor = Editor(model)
    for node in editor.graph.nodes:
        if (node.domain or "") not in ("", "ai.onnx"):
            continue
        if node.op in _GLOBAL and len(node.inputs[0].shape) > 2:
            node.op = _GLOBAL[node.op]
            node.attrs = {"kernel_shape": list(shape_of(node.inputs[0])[2:])}
        if node.op in _WINDOWED and len(node.outputs) == 1:
            _complete(node)
    return editor.finish()


def _complete(node: gs.Node) -> None:
    geometry = conv_geometry(node).attributes()
    if "Conv" not in node.op:
        del geometry["group"]
        geometry["ceil_mode"] = int(node.attrs.get("ceil_mode", 0))
    if node.op == "AveragePool":
        geometry["count_include_pad"] = int(node.attrs.get("count_include_pad", 0))
    # storage_order affects only the indices, which no node reads here.
    node.attrs = geometry


EXPLICIT_GEOMETRY = Pass(
    "explicit_geometry",
    Phase.CLEAN,
    run,
    "convolutions and poolings get all attributes, global pooling becomes pooling",
    after=("remove_identities",),
    exact=False,
)
