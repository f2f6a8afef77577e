"""Chooses the ternary layers that are faster on the analog array, by modelled cycles.

The stored forms of the arrays differ: the digital one reads rows, the analog one words of 64 channels, and the host
plain tensors; the host converts between them, in more cycles than most layers take. So the layers are chosen together:
starting with all and with none on the analog array, single layers or sums change while that reduces the cycles of all
layers, sums and conversions around them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from match_core.ir.editor import Editor
from match_core.ir.reader import constant, producer, shape_of, site_of

from match_diana.digital.limits import LANES
from match_diana.passes.analog_estimate import analog_cycles, conversion_cycles, digital_cycles
from match_diana.passes.analog_layers import Layer

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

PLAIN, ROWS, CHANNELS = "plain", "rows", "channels"
#: Form that a layer or a sum works in, by the name of its node.
Forms = dict[str, str]


@dataclass(frozen=True, slots=True)
class _Tensor:
    """A quantised tensor of this shape. ``maker`` and ``readers``: the form that each works in, or the name of the node
    whose form is to be chosen; ``both``: who works in rows may write words of channels."""

    shape: tuple[int, ...]
    maker: str
    readers: tuple[str, ...]
    both: bool


@dataclass(frozen=True, slots=True)
class _Problem:
    """``analog`` and ``digital``: cycles of every ternary layer by the name of its node; ``free``: these and the sums,
    whose form is to be chosen."""

    analog: dict[str, int]
    digital: dict[str, int]
    free: tuple[str, ...]
    tensors: tuple[_Tensor, ...]

    def cycles(self, forms: Forms) -> int:
        """Of all layers and conversions."""
        layers = sum((self.analog if forms[name] == CHANNELS else self.digital)[name] for name in self.analog)
        return layers + sum(_conversions(tensor, forms) for tensor in self.tensors)


def choose(editor: Editor, legal: Sequence[Layer]) -> tuple[Layer, ...]:
    """The layers that become analog; a note says what either way costs."""
    if not legal:
        return ()
    problem = _problem(editor, legal)
    starts = [dict.fromkeys(problem.free, form) for form in (CHANNELS, ROWS)]
    none = starts[1]
    best = min((_improved(problem, start) for start in starts), key=problem.cycles)
    chosen = tuple(layer for layer in legal if best[layer.site.op.name] == CHANNELS)
    if chosen:
        _note(editor, problem, chosen, problem.cycles(best), problem.cycles(none))
    for layer in legal:
        if layer not in chosen:
            _note_digital(editor, problem, layer, best)
    return chosen


def _improved(problem: _Problem, forms: Forms) -> Forms:
    """Changes of one form at a time, each the one that helps most."""
    while True:
        others = [{**forms, name: ROWS if forms[name] == CHANNELS else CHANNELS} for name in problem.free]
        best = min(others, key=problem.cycles)
        if problem.cycles(best) >= problem.cycles(forms):
            return forms
        forms = best


def _conversions(tensor: _Tensor, forms: Forms) -> int:
    """Cycles of a tensor's conversions: one for every form that readers require and the maker does not write."""
    wanted = {forms.get(reader, reader) for reader in tensor.readers}
    made = forms.get(tensor.maker, tensor.maker)
    written = (ROWS, CHANNELS) if tensor.both and made == ROWS else (made,)
    return min(
        sum(conversion_cycles(tensor.shape, columns_stay=CHANNELS not in (form, other)) for other in wanted - {form})
        for form in written
    )


# ---- reading the graph -----------------------------------------------------------------------------------------


def _problem(editor: Editor, legal: Sequence[Layer]) -> _Problem:
    names = {layer.site.op.name: layer for layer in legal}
    sums = {node.name for node in editor.graph.nodes if _is_free_sum(editor, node)}
    tensors = []
    for quantize in editor.graph.nodes:
        if quantize.op == "QuantizeLinear" and len(quantize.outputs[0].shape) == 4:
            tensors.append(_tensor(editor, quantize, {*names, *sums}))
    return _Problem(
        {name: analog_cycles(layer.window) for name, layer in names.items()},
        {name: digital_cycles(layer.window, layer.pads[0]) for name, layer in names.items()},
        (*names, *sorted(sums)),
        tuple(tensors),
    )


def _tensor(editor: Editor, quantize: gs.Node, free: set[str]) -> _Tensor:
    y = quantize.outputs[0]
    site = site_of(quantize, editor.graph.outputs)
    maker = PLAIN if site is None else _form(site.op, free)
    # A convolution on the digital array writes words of 64 channels too, where rows have no padding.
    both = site is not None and site.op.op == "Conv" and shape_of(y)[3] % LANES == 0
    readers = [_form(node, free) for read in y.outputs for node in _users(read)]
    readers += [PLAIN] if any(y is output for output in editor.graph.outputs) else []
    return _Tensor(shape_of(y), maker, tuple(readers), both)


def _users(read: gs.Node) -> Iterable[gs.Node]:
    return read.outputs[0].outputs if read.op == "DequantizeLinear" else (read,)


def _form(node: gs.Node, free: set[str]) -> str:
    """The form that a node works in, or its name where that is to be chosen."""
    if node.name in free:
        return str(node.name)
    on_array = node.op in ("Conv", "Add") and len(node.outputs[0].shape) == 4
    return ROWS if on_array else PLAIN


def _is_free_sum(editor: Editor, node: gs.Node) -> bool:
    """Sums without ReLU are computed in either form; those with one in rows."""
    if node.op != "Add" or len(node.outputs[0].shape) != 4 or len(node.outputs[0].outputs) != 1:
        return False
    for maker in map(producer, node.inputs):
        if maker is None or maker.op != "DequantizeLinear" or constant(maker.inputs[0]) is not None:
            return False
    return bool(node.outputs[0].outputs[0].op == "QuantizeLinear")


# ---- notes -----------------------------------------------------------------------------------------------------


def _note(editor: Editor, problem: _Problem, chosen: Sequence[Layer], best: int, none: int) -> None:
    names = ", ".join("/".join(editor.origin(layer.site.op)) for layer in chosen)
    editor.notes.append(
        f"analog array: {len(chosen)} of {len(problem.analog)} ternary layers ({names}); with conversions around them "
        f"ternary layers take {best:,} modelled cycles, instead of {none:,} with all on the digital array"
    )


def _note_digital(editor: Editor, problem: _Problem, layer: Layer, best: Forms) -> None:
    name = layer.site.op.name
    more = problem.cycles({**best, name: CHANNELS}) - problem.cycles(best)
    editor.notes.append(
        f"{'/'.join(editor.origin(layer.site.op))}: weights are ternary; the analog array would take "
        f"{problem.analog[name]:,} modelled cycles, the digital array {problem.digital[name]:,}; with conversions "
        f"around the layer the analog array would cost {more:,} more"
    )
