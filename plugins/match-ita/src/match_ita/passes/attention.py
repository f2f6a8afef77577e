"""Attention for ITA: with its softmax in powers of two, or only its products with an integer softmax on the cores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core import Model, Pass, PassContext, Phase
from match_core.ir.editor import Editor

from match_ita.constants import preset_of, values
from match_ita.passes.attention_build import attention
from match_ita.passes.attention_exact import exact
from match_ita.passes.attention_match import NotAttentionError, heads_of, softmaxes
from match_ita.passes.attention_numbers import ItaMax, approximate
from match_ita.passes.attention_products import LEVELS, replace_products

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: Softmaxes of quantised models, which approximate one of real numbers. Others belong to networks of integers, whose
#: values are never changed.
_REAL = ("SoftmaxI8", "SoftmaxU8")
_LATER = ("ita_convolution", "ita_gelu", "ita_linear", "ita_split")


def run_softmax(model: Model, context: PassContext) -> Model:
    """Replace softmaxes of real numbers, with the products around them, by ITA's attention."""
    editor, softmax = Editor(model), _softmax_of(context)
    for node in softmaxes(list(editor.graph.nodes)):
        if node.op in _REAL and context.changes(editor.origin(node)):
            try:
                heads = heads_of(node, editor.graph.outputs)
                attention(editor, heads, approximate(heads, softmax), softmax)
                editor.notes += _effects(_name(editor, node), heads.k.rows, softmax)
            except NotAttentionError as reason:
                editor.notes.append(f"{_name(editor, node)}: the softmax stays on the cores: {reason}")
    return editor.finish()


def run_attention(model: Model, context: PassContext) -> Model:
    """Attention of integer networks that ITA computes bit for bit is its own; around other softmaxes of real numbers
    the two products are."""
    editor, softmax = Editor(model), _softmax_of(context)
    for node in softmaxes(list(editor.graph.nodes)):
        if node.op in _REAL and not context.changes(editor.origin(node)):
            continue
        try:
            heads = heads_of(node, editor.graph.outputs)
            if node.op in _REAL:
                replace_products(editor, heads)
                editor.notes.append(
                    f"{_name(editor, node)}: probabilities of the softmax on the cores have {LEVELS} levels"
                )
            else:
                attention(editor, heads, exact(heads, softmax), softmax)
        except NotAttentionError as reason:
            editor.notes.append(f"{_name(editor, node)}: attention stays on the cores: {reason}")
    return editor.finish()


def _softmax_of(context: PassContext) -> ItaMax:
    """The softmax of the chosen preset."""
    figures = values(preset_of(context.soc))
    return ItaMax(figures["softmax_shift"], figures["softmax_numerator"])


def _effects(name: str, keys: int, softmax: ItaMax) -> list[str]:
    """Notes for the user."""
    notes = [
        f"{name}: exponentials become powers of two (ITAMax): logits are rounded to steps of {softmax.step:.3g}, "
        f"probabilities to {softmax.numerator >> 8} levels, always down; without the pass ita_softmax an integer "
        "softmax runs on the cores"
    ]
    if keys > softmax.numerator >> 8:
        notes.append(
            f"{name}: a row whose {keys} logits are nearly equal gets no weights from ITAMax, and its result is the "
            "zero point"
        )
    return notes


def _name(editor: Editor, node: gs.Node) -> str:
    return "/".join(editor.origin(node))


SOFTMAX = Pass(
    "ita_softmax",
    Phase.TARGET,
    run_softmax,
    "attention gets ITA's softmax in powers of two",
    before=("ita_attention", *_LATER),
    exact=None,
    lossy=True,
    optional=True,
)
ATTENTION = Pass(
    "ita_attention",
    Phase.TARGET,
    run_attention,
    "products of attention get symmetric operands and ITA's requantisation",
    before=_LATER,
    exact=None,
    lossy=True,
)
