"""Folds batch normalisation into the convolution or matrix product before it; if there is none, it becomes a
multiplication and an addition per channel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import Model
from match_core.contract.passes import Pass, PassContext, Phase
from match_core.ir.editor import Editor
from match_core.ir.reader import constant, optional_input, producer, shape_of
from numpy.typing import NDArray

from match_quant.operators import has_operator

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


@dataclass(frozen=True, slots=True)
class Affine:
    """y = x * scale + shift, per channel, in float64."""

    scale: NDArray[np.float64]
    shift: NDArray[np.float64]


def run(model: Model, context: PassContext) -> Model:
    """Fold every BatchNormalization in inference mode with constant parameters."""
    if not has_operator(model, "BatchNormalization"):
        return model
    editor = Editor(model)
    for node in list(editor.graph.nodes):
        affine = _affine(node)
        if affine is None:
            continue
        before = producer(node.inputs[0])
        private = len(node.inputs[0].outputs) == 1 and not any(node.inputs[0] is o for o in editor.graph.outputs)
        if before is not None and private and _fold_into(editor, before, affine):
            editor.add_origin(before, node)
            editor.replace(node.outputs[0], before.outputs[0])
        else:
            _spell_out(editor, node, affine)
    return editor.finish()


def _affine(node: gs.Node) -> Affine | None:
    if node.op != "BatchNormalization" or node.attrs.get("training_mode", 0) or len(node.outputs) > 1:
        return None
    values = [constant(tensor) for tensor in node.inputs[1:5]]
    if any(v is None for v in values):
        return None
    gamma, beta, mean, variance = (np.asarray(v, np.float64) for v in values)
    scale = gamma / np.sqrt(variance + float(node.attrs.get("epsilon", 1e-5)))
    return Affine(scale, beta - mean * scale)


def _fold_into(editor: Editor, node: gs.Node, affine: Affine) -> bool:
    """Scale the constant weights of ``node`` and adjust its bias; False if that is not possible."""
    channels = affine.scale.size
    if node.op not in ("Conv", "ConvTranspose", "Gemm"):
        return False
    weight = constant(node.inputs[1])
    if weight is None:
        return False
    bias_tensor = optional_input(node, 2)
    bias = np.zeros(channels) if bias_tensor is None else constant(bias_tensor)
    if bias is None or bias.size not in (1, channels) or (bias.size > 1 and bias.shape[-1] != channels):
        return False
    scaled = _scaled_weight(node, weight, affine.scale)
    if scaled is None:
        return False
    beta = float(node.attrs.get("beta", 1.0)) if node.op == "Gemm" else 1.0
    moved = beta * np.asarray(bias, np.float64).reshape(-1) * affine.scale + affine.shift
    node.inputs[1] = editor.constant(f"{node.name}_weight", scaled.astype(weight.dtype))
    new_bias = editor.constant(f"{node.name}_bias", moved.astype(weight.dtype))
    if len(node.inputs) > 2:
        node.inputs[2] = new_bias
    else:
        node.inputs.append(new_bias)
    if node.op == "Gemm":
        node.attrs["beta"] = 1.0
    return True


def _scaled_weight(
    node: gs.Node, weight: NDArray[np.generic], scale: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    values = np.asarray(weight, np.float64)
    if node.op == "Gemm":
        result = values * (scale[:, None] if node.attrs.get("transB", 0) else scale)
    elif node.op == "Conv":
        result = values * scale.reshape(-1, *(1,) * (values.ndim - 1))
    else:  # ConvTranspose stores weights as [inputs, outputs / group, ...]
        group = int(node.attrs.get("group", 1))
        per_group = scale.reshape(group, 1, -1, *(1,) * (values.ndim - 2))
        result = (values.reshape(group, -1, *values.shape[1:]) * per_group).reshape(values.shape)
    return np.asarray(result) if result.shape == values.shape else None


def _spell_out(editor: Editor, node: gs.Node, affine: Affine) -> None:
    x = node.inputs[0]
    shape = tuple(-1 if axis == 1 else 1 for axis in range(len(x.shape)))
    result = x
    for op, values in (("Mul", affine.scale), ("Add", affine.shift)):
        name = f"{node.name}_{op.lower()}"
        operand = editor.constant(f"{name}_values", values.reshape(shape).astype(np.dtype(x.dtype)))
        result = editor.node(op, [result, operand], x.dtype, shape_of(x), name=name, origin=editor.origin(node))
    editor.replace(node.outputs[0], result)


FOLD_BATCH_NORM = Pass(
    "fold_batch_norm",
    Phase.FLOAT,
    run,
    "batch normalisation is folded into the layer before it, or becomes Mul and Add",
    exact=False,
    optional=True,
)
