"""Sequences of static length and optionals: they exist only during the walk over the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from match_core.load.static.control import check_fit, depends_on_data, inner_scope, subgraph
from match_core.load.static.pieces import concat, integers, squeeze, unsqueeze
from match_core.load.static.values import Absent, Call, Sequence, Value

if TYPE_CHECKING:
    from match_core.load.static.walk import Walk


def _items(walk: Walk, call: Call, position: int = 0) -> list[Value]:
    value = call.input(position)
    if not isinstance(value, Sequence):
        raise depends_on_data(walk, call, "its input is not a sequence of known length")
    return list(value.items)


def _position(walk: Walk, call: Call, input_position: int, count: int) -> int:
    values = walk.values(call.input(input_position))
    if values is None or values.size != 1:
        raise depends_on_data(walk, call, "the position in the sequence is computed from data")
    position = int(values.reshape(-1)[0])
    if not -count <= position < max(count, 1):
        raise depends_on_data(walk, call, f"position {position} is outside a sequence of length {count}")
    return position + count if position < 0 else position


def _construct(walk: Walk, call: Call) -> list[Value]:
    return [Sequence(call.inputs)]


def _at(walk: Walk, call: Call) -> list[Value]:
    items = _items(walk, call)
    if not items:
        raise depends_on_data(walk, call, "the sequence is empty")
    return [items[_position(walk, call, 1, len(items))]]


def _insert(walk: Walk, call: Call) -> list[Value]:
    items = _items(walk, call)
    count = len(items)
    values = walk.values(call.input(2)) if call.input(2) else np.array(count)
    at_end = values is not None and values.size == 1 and int(values.reshape(-1)[0]) == count
    items.insert(count if at_end else _position(walk, call, 2, count), call.input(1))
    return [Sequence(tuple(items))]


def _erase(walk: Walk, call: Call) -> list[Value]:
    items = _items(walk, call)
    if not items:
        raise depends_on_data(walk, call, "the sequence is empty")
    del items[_position(walk, call, 1, len(items)) if call.input(1) else -1]
    return [Sequence(tuple(items))]


def _length(walk: Walk, call: Call) -> list[Value]:
    return [walk.constant(np.array(len(_items(walk, call)), np.int64), f"{call.path}/length")]


def _split(walk: Walk, call: Call) -> list[Value]:
    """SplitToSequence: by listed sizes, in pieces of one size, or into single indices."""
    name = walk.tensor(call.input(0), call)
    shape, axis = walk.shape(name), call.integer("axis", 0)
    if shape is None or not -len(shape) <= axis < len(shape):
        raise depends_on_data(walk, call, "the axis that is split has no fixed size")
    axis %= len(shape)
    split = walk.values(call.input(1)) if call.input(1) else np.array(1)
    if split is None or (split.ndim == 0 and int(split) < 1):
        raise depends_on_data(walk, call, "the sizes of the pieces are computed from data")
    walk.limits.make(call.path, split.size if split.ndim else -(-shape[axis] // int(split)))
    if split.ndim:
        sizes = [int(size) for size in split.reshape(-1)]
    else:
        most = int(split)
        sizes = [min(most, shape[axis] - start) for start in range(0, shape[axis], most)]
    if len(sizes) < 2:
        pieces = [name] * len(sizes)
    elif walk.version >= 13:
        lengths = integers(walk, call, sizes, "sizes")
        pieces = walk.emit(call, "Split", [name, lengths], "pieces", len(sizes), axis=axis)
    else:
        pieces = walk.emit(call, "Split", [name], "pieces", len(sizes), axis=axis, split=sizes)
    if not call.input(1) and not call.integer("keepdims", 1):
        pieces = [squeeze(walk, call, piece, axis) for piece in pieces]
    return [Sequence(tuple(pieces))]


def _concat(walk: Walk, call: Call) -> list[Value]:
    items, axis = _items(walk, call), call.integer("axis", 0)
    if not items:
        raise depends_on_data(walk, call, "the sequence is empty")
    if call.integer("new_axis", 0):
        return [concat(walk, call, [unsqueeze(walk, call, item, axis) for item in items], axis)]
    return [concat(walk, call, [walk.tensor(item, call) for item in items], axis)]


def _map(walk: Walk, call: Call) -> list[Value]:
    """SequenceMap: its body once for each element."""
    body, count = subgraph(walk, call, "body"), len(_items(walk, call))
    check_fit(walk, call, len(body.inputs) == len(call.inputs))
    results = []
    for step in range(count):
        given = [v.items[step] if isinstance(v, Sequence) and step < len(v.items) else v for v in call.inputs]
        scope = inner_scope(walk, call, body, str(step), repeated=True)
        results.append(walk.body(body, given, scope))
    return [Sequence(tuple(values)) for values in zip(*results, strict=True)] or [Sequence(()) for _ in body.outputs]


def _optional(walk: Walk, call: Call) -> list[Value]:
    return [call.inputs[0] if call.inputs else Absent()]


def _has_element(walk: Walk, call: Call) -> list[Value]:
    holds = bool(call.inputs) and call.input(0) != "" and not isinstance(call.input(0), Absent)
    return [walk.constant(np.array(holds), f"{call.path}/holds")]


def _element(walk: Walk, call: Call) -> list[Value]:
    if isinstance(call.input(0), Absent):
        raise depends_on_data(walk, call, "the optional is empty")
    return [call.input(0)]


#: The expansion of each operator on sequences and optionals.
OPERATORS: dict[str, Callable[[Walk, Call], list[Value]]] = {
    "SequenceConstruct": _construct,
    "SequenceEmpty": _construct,
    "SequenceAt": _at,
    "SequenceInsert": _insert,
    "SequenceErase": _erase,
    "SequenceLength": _length,
    "SplitToSequence": _split,
    "ConcatFromSequence": _concat,
    "SequenceMap": _map,
    "Optional": _optional,
    "OptionalHasElement": _has_element,
    "OptionalGetElement": _element,
}
