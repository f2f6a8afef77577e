"""Gives the weights of a dense layer more bits: it reads its input several times.

Rounding weights to 8 bits changes results of a dense layer with a large gain, as at the end of classifiers, by whole
steps. If the unit reads the input twice, every weight is the sum of two 8-bit weights, and has 9 bits. The host writes
the copies. The pass does this only if it costs little compared with the whole network.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from match_core.ir.reader import shape_of

from match_quant.expectation import Expectation
from match_quant.powers.graph import QuantisedGraph
from match_quant.powers.layers import Layer
from match_quant.powers.weights import Reals, RoundedWeights, largest_error, rounded_weights

#: Weights are fine enough where their rounding is expected to move results by no more than this (root mean square,
#: LSB): the most that rounding the result itself moves it by.
_ENOUGH = 0.5
#: The copies of one layer may add this share of the network's products, and fill this share of the home memory.
_SHARE = 0.01


def extra_weights(layers: Sequence[Layer], home_bytes: int) -> int:
    """How many weights copies may add to one layer of a network of ``layers``. Each is a byte, and a product."""
    products = sum(math.prod(shape_of(layer.node.outputs[0])) * layer.weight[0].size for layer in layers)
    return int(_SHARE * min(products, home_bytes))


def finer_weights(
    found: RoundedWeights, ideal: Reals, inputs: Expectation, zero: int, extra: int, shift_max: int = 31
) -> RoundedWeights:
    """``found``, the weights of a dense layer, or those [outputs, inputs, copies] with the fewest copies (a power of
    two) that are enough, or that ``extra`` weights allow. ``ideal``, ``inputs``,
    ``zero``, ``shift_max``: of ``rounded_weights``."""
    alike = replace(inputs, neighbours=1.0)  # every copy holds the same value
    copies = 2
    while found.expected_rms > _ENOUGH and (copies - 1) * ideal.size <= extra:
        finer = rounded_weights(np.repeat(ideal / copies, copies, axis=2), alike, zero, shift_max)
        if finer is None or finer.expected_rms >= found.expected_rms:
            break
        error = np.ldexp(finer.values, -finer.shift).sum(axis=2, keepdims=True) - ideal
        found = replace(finer, largest=largest_error(error, inputs, zero))
        copies *= 2
    return found


def repeat_input(graph: QuantisedGraph, layer: Layer, copies: int) -> None:
    """Change a dense layer to read its input ``copies`` times, concatenated."""
    editor, node, quant = graph.editor, layer.node, layer.source.quant
    x, origin, name = node.inputs[0], editor.origin(node), f"{node.name}_copies"
    shape = (1, copies * shape_of(x)[1])
    real = editor.node("Concat", [x] * copies, x.dtype, shape, name=name, origin=origin, attrs={"axis": 1})
    numbers = [
        editor.constant(f"{name}_scale", np.array(quant.scale, np.float32)),
        editor.constant(f"{name}_zero", np.array(quant.zero, quant.dtype)),
    ]
    stored = editor.node("QuantizeLinear", [real, *numbers], quant.dtype, shape, name=f"{name}_stored", origin=origin)
    again = editor.node("DequantizeLinear", [stored, *numbers], x.dtype, shape, name=f"{name}_real", origin=origin)
    node.inputs[0] = again
