"""Moves activations of spatial operators from NCHW to NHWC.

Convolutions and pooling become ``match.nhwc`` operators. Element-wise operators after them also work on NHWC, so a
Transpose remains only where a tensor enters or leaves this part of the graph; one that moves only axes of size 1 is a
Reshape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import Model, qualified_op
from match_core.contract.passes import Pass, PassContext, Phase
from match_core.ir.editor import Editor, sort_nodes
from match_core.ir.reader import constant, shape_of
from numpy.typing import NDArray

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core.contract.hardware import Unit

_TO_NHWC = (0, 2, 3, 1)
_TO_NCHW = (0, 3, 1, 2)

_WINDOW = frozenset(("kernel_shape", "pads", "strides", "dilations"))
#: Operators that exist in domain match.nhwc, with their attributes.
_SPATIAL = {
    "ConvInteger": _WINDOW | {"group"},
    "match.arith::ConvIntegerI16": _WINDOW | {"group"},
    "Conv": _WINDOW | {"group"},
    "MaxPool": _WINDOW | {"ceil_mode"},
    "match.arith::MaxPoolI16": _WINDOW | {"ceil_mode"},
    "AveragePool": _WINDOW | {"ceil_mode", "count_include_pad"},
}
#: Operators that work on any order of axes (constants of rank 4 are permuted as well).
_AGNOSTIC = frozenset(
    [
        *("match.arith::RequantU8", "match.arith::RequantI8", "match.arith::AddRequantU8"),
        *("match.arith::AddRequantI8", "match.arith::OffsetI8ToU8", "match.arith::OffsetU8ToI8"),
        *("match.arith::RequantI16", "match.arith::AddRequantI16"),
        *("match.arith::LutU8", "match.arith::LutI8", "Add", "Sub", "Mul", "Div", "Max", "Min", "Relu", "Clip"),
        *("Cast", "Abs", "Neg", "Exp", "Sqrt", "Tanh", "Sigmoid", "Erf", "HardSigmoid", "HardSwish", "LeakyRelu"),
        *("Elu", "Gelu", "Floor", "Mod", "Pow", "Where", "Less", "Greater", "Equal", "Identity"),
    ]
)
#: As above, if the scale is a scalar, so there is no per-axis parameter.
_QUANTISERS = frozenset(("QuantizeLinear", "DequantizeLinear"))
#: Operators with one axis attribute that is permuted.
_AXIS = frozenset(("Concat", "Softmax", "match.arith::SoftmaxU8", "match.arith::SoftmaxI8"))
#: Constant inputs that are tables of 256 entries, not values over the tensor's axes.
_TABLE_INPUTS = {"match.arith::LutU8": 1, "match.arith::LutI8": 1}


def run(model: Model, context: PassContext) -> Model:
    """Start at convolutions and pooling whose types a unit supports in NHWC."""
    if not any(unit.layout == "NHWC" for unit in context.units):
        return model
    editor = Editor(model)
    sort_nodes(editor.graph)
    others = tuple(unit for unit in context.units if unit.name != context.soc.host)
    layout = _Layout(editor, _moving_types(others or context.units), _moving_types(others))
    for node in list(editor.graph.nodes):
        layout.convert(node)
    return editor.finish()


def _moving_types(units: tuple[Unit, ...]) -> frozenset[str]:
    """Element types that some unit supports in NHWC and none in NCHW. The host supports every layout, so it counts only
    if it is the only unit: passes of other packages know the layout that their units state."""
    moving = {name for unit in units if unit.layout == "NHWC" for name in unit.spatial_types}
    kept = {name for unit in units if unit.layout == "NCHW" for name in unit.spatial_types}
    return frozenset(moving - kept)


class _Layout:
    """``types``: element types of activations that move; ``pooled``: those for which a lone pooling moves too.
    ``_nhwc`` maps the id of an NCHW tensor to the same values in NHWC."""

    def __init__(self, editor: Editor, types: frozenset[str], pooled: frozenset[str]) -> None:
        self._editor = editor
        self._types = types
        self._pooled = pooled
        self._nhwc: dict[int, gs.Variable] = {}

    def convert(self, node: gs.Node) -> None:
        """Rewrite one node (topological order), if it is spatial or follows an NHWC tensor."""
        if len(node.outputs) != 1 or node.outputs[0].shape is None or len(node.outputs[0].shape) != 4:
            return
        op = qualified_op(node)
        if op in _SPATIAL and self._moves(node) and _is_explicit(node):
            self._emit(
                node,
                f"match.nhwc::{node.op}",
                [self._as_nhwc(node.inputs[0], node), *node.inputs[1:]],
                dict(node.attrs),
            )
        elif op == "Transpose" and list(node.attrs.get("perm", ())) == list(_TO_NCHW):
            self._nhwc[id(node.outputs[0])] = node.inputs[0]
        elif any(id(tensor) in self._nhwc for tensor in node.inputs) or self._starts(node, op):
            self._follow(node, op)

    def _starts(self, node: gs.Node, op: str) -> bool:
        """Whether it is padding whose convolutions move."""
        return op == "Pad" and self._moves(node) and _feeds_convolutions(node)

    def _moves(self, node: gs.Node) -> bool:
        """Whether some unit supports the element type of a spatial operator, or of its input, in NHWC. On the host a
        pooling is not worth two transposes: there it moves only with its neighbours."""
        name = np.dtype(node.inputs[0].dtype).name
        if "Pool" not in node.op or name in self._pooled or id(node.inputs[0]) in self._nhwc:
            return name in self._types
        return name in self._types and any("Conv" in reader.op for reader in node.outputs[0].outputs)

    def _follow(self, node: gs.Node, op: str) -> None:
        attrs = dict(node.attrs)
        if op == "Pad":
            inputs = self._pad_inputs(node)
        elif op == "Resize" and _scales_planes(node):
            attrs["axes"] = [_TO_NHWC.index(int(axis) % 4) for axis in attrs.get("axes", range(4))]
            inputs = [self._as_nhwc(node.inputs[0], node), *node.inputs[1:]]
        elif op in _AXIS and int(attrs.get("axis", -1)) % 4:  # samples of a batch join as the caller stores them
            attrs["axis"] = _TO_NHWC.index(int(attrs.get("axis", -1)) % 4)
            inputs = [self._moved(t, node) if len(t.shape or ()) == 4 else t for t in node.inputs]
        elif op == "Slice":
            inputs = self._slice_inputs(node)
        elif op in _AGNOSTIC or (op in _QUANTISERS and _is_per_tensor(node)):
            inputs = self._elementwise_inputs(node, op)
        else:
            return
        if inputs is not None:
            self._emit(node, op, inputs, attrs)

    def _elementwise_inputs(self, node: gs.Node, op: str) -> list[gs.Tensor] | None:
        inputs: list[gs.Tensor] = []
        for position, tensor in enumerate(node.inputs):
            if tensor.is_empty() or position == _TABLE_INPUTS.get(op):
                inputs.append(tensor)
            elif (values := constant(tensor)) is not None:
                inputs.append(self._permuted_constant(tensor, values))
            elif len(tensor.shape) == 4:
                inputs.append(self._as_nhwc(tensor, node))
            elif len(tensor.shape) == 0:
                inputs.append(tensor)
            else:
                return None  # a variable of lower rank that broadcasts along NCHW's trailing axes
        return inputs

    def _pad_inputs(self, node: gs.Node) -> list[gs.Tensor] | None:
        amounts = constant(node.inputs[1])
        if amounts is None or amounts.size != 8 or (len(node.inputs) > 3 and not node.inputs[3].is_empty()):
            return None
        moved = amounts.reshape(2, 4)[:, list(_TO_NHWC)].reshape(-1)
        pads = self._editor.constant(f"{node.inputs[1].name}_nhwc", moved)
        return [self._as_nhwc(node.inputs[0], node), pads, *node.inputs[2:3]]

    def _slice_inputs(self, node: gs.Node) -> list[gs.Tensor] | None:
        axes = constant(node.inputs[3]) if len(node.inputs) > 3 else np.arange(len(node.inputs[1].shape))
        if axes is None:
            return None
        moved = self._editor.constant(f"{node.name}_axes", np.argsort(_TO_NHWC)[axes])
        return [self._as_nhwc(node.inputs[0], node), *node.inputs[1:3], moved, *node.inputs[4:]]

    def _permuted_constant(self, tensor: gs.Tensor, values: NDArray[np.generic]) -> gs.Tensor:
        if values.ndim == 0 or (values.size == 1 and values.ndim < 4):
            return tensor
        full = values.reshape((1,) * (4 - values.ndim) + values.shape)
        return self._editor.constant(f"{tensor.name}_nhwc", full.transpose(_TO_NHWC))

    def _moved(self, tensor: gs.Tensor, reader: gs.Node) -> gs.Tensor:
        """A tensor of rank 4 in NHWC; constants are permuted at compile time."""
        values = constant(tensor)
        return self._as_nhwc(tensor, reader) if values is None else self._permuted_constant(tensor, values)

    def _as_nhwc(self, tensor: gs.Tensor, reader: gs.Node) -> gs.Variable:
        known = self._nhwc.get(id(tensor))
        if known is None:
            origin = self._editor.origin(*(tensor.inputs or [reader]))
            known = self._permute(tensor, _TO_NHWC, f"{tensor.name}_nhwc", origin)
            self._nhwc[id(tensor)] = known
        return known

    def _emit(self, node: gs.Node, op: str, inputs: list[gs.Tensor], attrs: dict[str, object]) -> None:
        """The node on NHWC tensors. A Transpose computes the old output from the new one; it is removed if no node
        reads it."""
        old = node.outputs[0]
        shape = tuple(shape_of(old)[axis] for axis in _TO_NHWC)
        origin = self._editor.origin(node)
        new = self._editor.node(op, inputs, old.dtype, shape, name=node.name, origin=origin, attrs=attrs)
        back = self._permute(new, _TO_NCHW, f"{node.name}_nchw", origin)
        self._editor.replace(old, back)
        self._nhwc[id(back)] = new

    def _permute(self, tensor: gs.Tensor, order: tuple[int, ...], name: str, origin: tuple[str, ...]) -> gs.Variable:
        before = shape_of(tensor)
        shape = tuple(before[axis] for axis in order)
        if [axis for axis in order if before[axis] != 1] == [axis for axis in range(4) if before[axis] != 1]:
            target = self._editor.constant(f"{name}_shape", np.array(shape, np.int64))
            return self._editor.node("Reshape", [tensor, target], tensor.dtype, shape, name=name, origin=origin)
        return self._editor.node(
            "Transpose", [tensor], tensor.dtype, shape, name=name, origin=origin, attrs={"perm": list(order)}
        )


def _feeds_convolutions(node: gs.Node) -> bool:
    """Whether it is padding that units run together with the convolution after it, so it must stay next to it."""
    readers = node.outputs[0].outputs
    return bool(readers) and all(reader.op == "ConvInteger" and _is_explicit(reader) for reader in readers)


def _is_explicit(node: gs.Node) -> bool:
    """Whether it has the attributes of the NHWC operator, constant weights, no zero points, and one output."""
    if set(node.attrs) != _SPATIAL[qualified_op(node)]:
        return False
    if node.op == "ConvInteger" and len(node.inputs) != 2:
        return False
    return "Conv" not in node.op or constant(node.inputs[1]) is not None


def _scales_planes(node: gs.Node) -> bool:
    """Whether ONNX Runtime, which checks passes, computes this Resize with channels last as well."""
    mode, antialias = node.attrs.get("mode", "nearest"), node.attrs.get("antialias", 0)
    crops = node.attrs.get("coordinate_transformation_mode") == "tf_crop_and_resize"
    kept = shape_of(node.inputs[0])[:2] == shape_of(node.outputs[0])[:2]
    return mode in ("nearest", "linear") and not antialias and not crops and kept


def _is_per_tensor(node: gs.Node) -> bool:
    values = constant(node.inputs[1])
    return values is not None and values.size == 1


NHWC_LAYOUT = Pass(
    "nhwc_layout",
    Phase.LAYOUT,
    run,
    "activations of convolutions and pooling move to NHWC if units prefer it; inner transposes are removed",
)
