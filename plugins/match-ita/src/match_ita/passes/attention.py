"""Attention for ITA: its softmax in powers of two, or its products alone around an integer softmax on the cores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core import Model, Pass, PassContext, Phase
from match_core.ir.editor import Editor

from match_ita.constants import values
from match_ita.passes.attention_build import attention, connect, project
from match_ita.passes.attention_match import Heads, NotAttentionError, heads_of, softmaxes
from match_ita.passes.attention_numbers import (
    COLUMNS_MAX,
    ItaMax,
    logit_step,
    logits_of,
    symmetric,
    value_step,
)

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

_REAL = ("SoftmaxI8", "SoftmaxU8")


def run_softmax(model: Model, context: PassContext) -> Model:
    """Replace every softmax of real numbers between two products, with the products, by ITA's attention."""
    editor, softmax = Editor(model), _softmax_of(context)
    for node in softmaxes(list(editor.graph.nodes)):
        if node.op not in _REAL:
            continue
        try:
            _replace(editor, heads_of(node, editor.graph.outputs), softmax)
        except NotAttentionError as reason:
            editor.notes.append(f"{_name(editor, node)}: the softmax stays on the cores: {reason}")
    return editor.finish()


def _softmax_of(context: PassContext) -> ItaMax:
    """The softmax of the chosen preset."""
    figures = values(context.soc.preset)
    return ItaMax(figures["softmax_shift"], figures["softmax_numerator"], figures["softmax_group"])


def _replace(editor: Editor, heads: Heads, softmax: ItaMax) -> None:
    columns = heads.k.rows
    if columns > COLUMNS_MAX:
        raise NotAttentionError(f"{columns} keys are more than {COLUMNS_MAX}")
    numbers = [symmetric(projection) for projection in (heads.q, heads.k, heads.v)]
    q, k, v = numbers
    qk = logit_step(logits_of(heads), q.ratio * k.ratio, columns, softmax)
    av = value_step(heads, v.ratio, softmax)
    operands = [
        project(editor, projection, new) for projection, new in zip((heads.q, heads.k, heads.v), numbers, strict=True)
    ]
    result = attention(editor, heads, (operands[0], operands[1], operands[2]), qk, av, softmax)
    connect(editor, heads, result)
    name = _name(editor, heads.softmax)
    editor.notes.append(
        f"{name}: exponentials become powers of two (ITAMax): a logit is rounded to steps of {softmax.step:.3g}, a "
        "probability to 1/256 and below; without the pass ita_softmax an integer softmax runs on the cores"
    )
    if softmax.numerator >> 8 <= columns:
        editor.notes.append(
            f"{name}: with {columns} keys a row whose logits are nearly all equal gets no weights at all, and its "
            "result is the zero point"
        )


def _name(editor: Editor, node: gs.Node) -> str:
    return "/".join(editor.origin(node))


SOFTMAX = Pass(
    "ita_softmax",
    Phase.TARGET,
    run_softmax,
    "attention gets ITA's softmax in powers of two",
    before=("ita_attention",),
    exact=None,
)
