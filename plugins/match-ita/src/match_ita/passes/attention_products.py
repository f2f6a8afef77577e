"""Attention whose softmax stays on the cores: its two products in the form that ITA computes.

ITA multiplies int8 with int8, so probabilities get 7 bits: 0 to 127 with zero point 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.editor import Editor
from match_core.ir.reader import shape_of
from match_quant.linear.layers import requant_constants

from match_ita.arithmetic import RequantStep
from match_ita.ita.limits import BLOCK
from match_ita.passes.attention_build import connect, project, turned
from match_ita.passes.attention_match import Heads
from match_ita.passes.attention_numbers import product_steps
from match_ita.passes.attention_symmetric import Symmetric, symmetric
from match_ita.passes.nodes import Label, padded, product, reshaped, sliced, transposed

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: The largest probability.
LEVELS = 127


def replace_products(editor: Editor, heads: Heads) -> None:
    """Rewrite the products of one attention; NotAttentionError where ITA cannot do them."""
    numbers = [symmetric(projection) for projection in (heads.q, heads.k, heads.v)]
    steps = product_steps(heads, numbers[0].ratio * numbers[1].ratio, numbers[2].ratio, LEVELS)
    build = _Products(editor, heads)
    build.connect(build.values(build.softmax(build.logits(numbers, steps[0])), numbers[2], steps[1]))


class _Products:
    """Builds one. Operands are [1, H, rows, columns]: a view, so that their transposition stays a separate operator."""

    def __init__(self, editor: Editor, heads: Heads) -> None:
        self.editor, self.heads = editor, heads
        self.name, self.origin = str(heads.softmax.name), editor.origin(*heads.inner_nodes)
        self.count, self.rows, self.keys = heads.count, heads.q.rows, heads.k.rows

    def logits(self, numbers: list[Symmetric], step: RequantStep) -> gs.Tensor:
        """[1, H, S, T]."""
        q = self._by_head(project(self.editor, self.heads.q, numbers[0]), "q")
        k = project(self.editor, self.heads.k, numbers[1])
        k = padded(self.editor, k, 0, (0, -self.keys % BLOCK), f"{self.name}_k_padded", self.origin)
        logits = self._product(q, self._by_head(k, "k"), step, "qk")
        if shape_of(logits)[-1] == self.keys:
            return logits
        return sliced(self.editor, logits, 0, self.keys, f"{self.name}_qk_cut", self.origin)

    def softmax(self, logits: gs.Tensor) -> gs.Tensor:
        """Probabilities of 7 bits, [1, H, S, T']."""
        table = self.heads.softmax.inputs[1]
        numbers = (("levels", LEVELS), ("zero", 0), ("lo", 0), ("hi", LEVELS))
        given = [self.editor.constant(f"{self.name}_{hint}", np.array(value, np.int64)) for hint, value in numbers]
        weights = self.editor.node(
            "match.arith::SoftmaxI8",
            [logits, table, *given],
            np.int8,
            shape_of(logits),
            name=self.name,
            origin=self.origin,
            attrs={"axis": -1},
        )
        return padded(self.editor, weights, -1, (0, -self.keys % BLOCK), f"{self.name}_padded", self.origin)

    def values(self, weights: gs.Tensor, numbers: Symmetric, step: RequantStep) -> gs.Tensor:
        """[1, H, S, P']."""
        vt = turned(self.editor, project(self.editor, self.heads.v, numbers), f"{self.name}_v", self.origin)
        width, columns = shape_of(vt)
        shape = (1, self.count, width // self.count, columns)
        by_head = reshaped(self.editor, vt, shape, f"{self.name}_v_heads", self.origin)
        return self._product(weights, by_head, step, "av")

    def connect(self, result: gs.Tensor) -> None:
        """Let what follows read it."""
        name = f"{self.name}_joined"
        turned_back = transposed(self.editor, result, (0, 2, 1, 3), name, self.origin)
        shape = (self.rows, self.count * shape_of(result)[-1])
        connect(self.editor, self.heads, reshaped(self.editor, turned_back, shape, f"{name}_shaped", self.origin))

    def _by_head(self, x: gs.Tensor, what: str) -> gs.Tensor:
        name, (rows, width) = f"{self.name}_{what}", shape_of(x)
        shape = (rows, self.count, width // self.count)
        split = reshaped(self.editor, x, shape, f"{name}_split", self.origin)
        by_head = transposed(self.editor, split, (1, 0, 2), name, self.origin)
        return reshaped(self.editor, by_head, (1, *shape_of(by_head)), f"{name}_heads", self.origin)

    def _product(self, a: gs.Tensor, b: gs.Tensor, step: RequantStep, what: str) -> gs.Tensor:
        """a times b transposed, requantised."""
        name = f"{self.name}_{what}"
        flipped = transposed(self.editor, b, (0, 1, 3, 2), f"{name}_turned", self.origin)
        multiplier, addend, _ = (np.array([number], np.int64) for number in step.requant)
        constants = requant_constants(self.editor, name, len(a.shape), multiplier, addend, step.shift)
        labels = (Label(name, self.origin), Label(f"{name}_requant", self.origin))
        return product(self.editor, a, flipped, constants, *labels)
