"""Branches and loops: known conditions and trip counts are resolved; data may choose between results of one shape."""

from __future__ import annotations

from collections.abc import Sequence as Many
from typing import TYPE_CHECKING

import numpy as np

from match_core.contract.errors import ModelError
from match_core.ir.naming import comment_text
from match_core.load.static.bodies import graph_body
from match_core.load.static.pieces import element, select, stack
from match_core.load.static.values import Body, Call, Scope, Value

if TYPE_CHECKING:
    from match_core.load.static.walk import Walk


def depends_on_data(walk: Walk, call: Call, why: str, *help_lines: str) -> ModelError:
    """The error for control flow that is not known at compile time."""
    what = f"control flow that depends on data is not supported: {comment_text(call.node.op_type)}"
    help_lines = help_lines or ("make the condition or the trip count a constant before the export",)
    return ModelError("MATCH-F007", what, walk.where(call), why, help_lines)


def inner_scope(walk: Walk, call: Call, body: Body, part: str = "", repeated: bool = False) -> Scope:
    """The scope of a body that may use the names around the node; ``part`` distinguishes bodies of one node. The
    results of a body that is not ``repeated`` have the shapes of the node's results."""
    shapes = {} if repeated else {name: call.stated(i) for i, name in enumerate(body.outputs)}
    stated = {name: shape for name, shape in shapes.items() if shape is not None}
    path = f"{call.path}/{part}" if part else call.path
    outer = call.scope
    depth = walk.limits.nest(outer, call.path)
    return Scope(path, call.origin, outer, {}, stated, outer.callers, repeated or outer.repeated, depth)


def check_fit(walk: Walk, call: Call, fits: bool) -> None:
    """Errors: ModelError MATCH-F003 (a subgraph has other inputs or outputs than its node)."""
    if not fits:
        why = "inputs, outputs and attributes of the node do not fit its subgraph"
        help_ = ("export the model again",)
        raise ModelError("MATCH-F003", "the model is not valid ONNX", walk.where(call), why, help_)


def subgraph(walk: Walk, call: Call, name: str) -> Body:
    """The body in an attribute. Errors: ModelError MATCH-F003 (there is none)."""
    found = [attribute.g for attribute in call.node.attribute if attribute.name == name and attribute.HasField("g")]
    check_fit(walk, call, len(found) == 1 and not found[0].sparse_initializer)
    return graph_body(found[0])


def take_if(walk: Walk, call: Call) -> list[Value]:
    """The branch that a known condition chooses. If data choose, both branches run, and Where selects each result.

    Errors: ModelError MATCH-F007 (data choose between results of different shapes).
    """
    condition = walk.values(call.input(0))
    bodies = {part: subgraph(walk, call, f"{part}_branch") for part in ("then", "else")}
    check_fit(walk, call, all(len(body.outputs) == len(call.node.output) for body in bodies.values()))
    if condition is not None and condition.size == 1:
        body = bodies["then" if bool(condition.reshape(-1)[0]) else "else"]
        return walk.body(body, (), inner_scope(walk, call, body))
    chosen = []
    for part, body in bodies.items():
        chosen.append(walk.body(body, (), inner_scope(walk, call, body, part)))
    flag = walk.tensor(call.input(0), call)
    return [selected(walk, call, flag, then, other) for then, other in zip(*chosen, strict=True)]


def selected(walk: Walk, call: Call, flag: str, then: Value, other: Value) -> Value:
    """``then`` if the tensor ``flag`` is true, else ``other``. Errors: ModelError MATCH-F007 (they differ in shape)."""
    if then == other:
        return then
    shapes = [walk.shape(then), walk.shape(other)]
    if not isinstance(then, str) or not isinstance(other, str) or None in shapes or shapes[0] != shapes[1]:
        shown = [list(shape) if shape is not None else "no fixed shape" for shape in shapes]
        raise depends_on_data(walk, call, f"data choose between results that differ: {shown[0]} and {shown[1]}")
    if walk.version < 9:
        raise depends_on_data(walk, call, f"opset {walk.version} cannot select by data", "export with opset 9 or newer")
    return select(walk, call, flag, then, other)


def take_loop(walk: Walk, call: Call) -> list[Value]:
    """The body, repeated as often as the loop runs.

    The trip count is a constant, or the number of rows that the model states for a scan output; or the condition
    becomes a constant false. If data end a loop early, all iterations run, and the states keep their last values.
    Errors: ModelError MATCH-F007 (how often the body runs depends on data), MATCH-F018 (too often).
    """
    body, carried = subgraph(walk, call, "body"), list(call.inputs[2:])
    fits = len(body.inputs) == 2 + len(carried) and len(body.outputs) >= 1 + len(carried)
    check_fit(walk, call, fits and len(call.inputs) >= 2)
    rows: list[list[Value]] = [[] for _ in body.outputs[1 + len(carried) :]]
    stated = next((shape[0] for i in range(len(rows)) if (shape := call.stated(len(carried) + i))), None)
    trips, going = _trips(walk, call, stated), _truth(walk, call.input(1))
    active: Value = call.input(1) if going is None and stated is None else ""
    if going is None and stated is not None:
        trips = stated
    outer = inner_scope(walk, call, body, repeated=True)
    walk.hoist(body, outer)
    step = 0
    while (trips is None or step < trips) and going is not False:
        if active and rows:
            raise depends_on_data(walk, call, "the number of rows that the loop returns depends on its condition")
        if active and trips is None:
            raise depends_on_data(walk, call, "it has no trip count, and its condition depends on data")
        path = f"{call.path}/{step}"
        walk.limits.count(outer, path)
        given = (
            walk.constant(np.array(step, np.int64), f"{path}/iteration"),
            walk.constant(np.array(True), f"{path}/on"),
        )
        scope = Scope(path, call.origin, outer, {}, {}, outer.callers, True, outer.depth)
        condition, *results = walk.body(body, (*given, *carried), scope, hoisted=True)
        old, carried = carried, results[: len(carried)]
        if active:
            flag = walk.tensor(active, call)
            carried = [selected(walk, call, flag, new, kept) for new, kept in zip(carried, old, strict=True)]
        for row, value in zip(rows, results[len(carried) :], strict=True):
            row.append(value)
        going = _truth(walk, condition)
        if going is None and stated is not None:
            trips = stated
        elif going is None:
            active = _both(walk, call, active, condition)
        step += 1
    scans = [stack(walk, call, row, 0, body.outputs[1 + len(carried) + i]) for i, row in enumerate(rows)]
    return [*carried, *scans]


def _both(walk: Walk, call: Call, active: Value, condition: Value) -> Value:
    if not active:
        return condition
    return walk.emit(call, "And", [walk.tensor(active, call), walk.tensor(condition, call)], "active")[0]


def _trips(walk: Walk, call: Call, stated: int | None) -> int | None:
    """The trip count, or the ``stated`` number of rows if data give the count; None if only the condition ends it."""
    if not call.input(0):
        return None
    values = walk.values(call.input(0))
    if values is None and stated is not None:
        return stated
    if values is None or values.size != 1 or values.dtype.kind not in "iu":
        raise depends_on_data(
            walk, call, "its trip count is computed from data or no integer, and no result states how many rows it has"
        )
    return int(values.reshape(-1)[0])


def _truth(walk: Walk, value: Value) -> bool | None:
    if value == "":
        return True
    values = walk.values(value)
    return None if values is None or values.size != 1 else bool(values.reshape(-1)[0])


def take_scan(walk: Walk, call: Call) -> list[Value]:
    """The body, repeated for each index of the scanned axis.

    Errors: ModelError MATCH-F007 (the axis has no fixed size), MATCH-F018 (too large).
    """
    body, scanned = subgraph(walk, call, "body"), call.integer("num_scan_inputs", 0)
    inputs = call.inputs if walk.version >= 9 else call.inputs[1:]
    check_fit(walk, call, 1 <= scanned <= len(inputs) == len(body.inputs))
    states, scans = list(inputs[: len(inputs) - scanned]), list(inputs[len(inputs) - scanned :])
    outer = inner_scope(walk, call, body, repeated=True)
    walk.hoist(body, outer)
    made = len(body.outputs) - len(states)
    check_fit(walk, call, made >= 0)
    backward = call.integers("scan_input_directions", call.integers("directions", (0,) * scanned))
    if walk.version >= 9:
        layout = _Layout(
            call.integers("scan_input_axes", (0,) * scanned),
            backward,
            call.integers("scan_output_axes", (0,) * made),
            call.integers("scan_output_directions", (0,) * made),
        )
        return layout.run(walk, call, body, outer, call.path, states, scans)
    return _batches(walk, call, body, outer, states, scans, _Layout((0,) * scanned, backward, (0,) * made, (0,) * made))


def _batches(
    walk: Walk, call: Call, body: Body, outer: Scope, states: Many[Value], scans: Many[Value], layout: _Layout
) -> list[Value]:
    """Scan of opset 8: axis 0 of everything is the batch, and sequences may have lengths of their own."""
    shape = walk.shape(scans[0])
    lengths = walk.values(call.input(0))
    if shape is None or len(shape) < 2 or (call.input(0) and (lengths is None or bool(np.any(lengths != shape[1])))):
        raise depends_on_data(walk, call, "the sequence lengths differ from the size of axis 1")
    results = []
    for sample in range(shape[0]):
        state, scanned = (list[Value](element(walk, call, v, sample, 0) for v in values) for values in (states, scans))
        results.append(layout.run(walk, call, body, outer, f"{call.path}/sample_{sample}", state, scanned))
    return [stack(walk, call, list(values), 0) for values in zip(*results, strict=True)]


class _Layout:
    """Axes and directions (1 is backward) of the scanned inputs and of the resulting rows."""

    def __init__(self, in_axes: Many[int], backward: Many[int], out_axes: Many[int], reverse: Many[int]) -> None:
        self._in_axes, self._backward, self._out_axes, self._reverse = in_axes, backward, out_axes, reverse

    def run(
        self, walk: Walk, call: Call, body: Body, outer: Scope, path: str, states: list[Value], scans: list[Value]
    ) -> list[Value]:
        """Returns the last states and all rows."""
        check_fit(walk, call, len(self._in_axes) == len(self._backward) == len(scans))
        check_fit(walk, call, len(self._out_axes) == len(self._reverse) == len(body.outputs) - len(states))
        sizes = {self._size(walk, call, v, axis) for v, axis in zip(scans, self._in_axes, strict=True)}
        if len(sizes) != 1:
            raise depends_on_data(walk, call, f"the scanned axes have sizes {sorted(sizes)}")
        length = sizes.pop()
        rows: list[list[Value]] = [[] for _ in self._out_axes]
        for step in range(length):
            walk.limits.count(outer, path)
            given = [
                element(walk, call, value, length - 1 - step if back else step, axis)
                for value, axis, back in zip(scans, self._in_axes, self._backward, strict=True)
            ]
            scope = Scope(f"{path}/{step}", call.origin, outer, {}, {}, outer.callers, True, outer.depth)
            results = walk.body(body, (*states, *given), scope, hoisted=True)
            states = results[: len(states)]
            for row, value in zip(rows, results[len(states) :], strict=True):
                row.append(value)
        names = body.outputs[len(states) :]
        return [
            *states,
            *(
                stack(walk, call, row[::-1] if back else row, axis, name)
                for row, axis, back, name in zip(rows, self._out_axes, self._reverse, names, strict=True)
            ),
        ]

    @staticmethod
    def _size(walk: Walk, call: Call, value: Value, axis: int) -> int:
        shape = walk.shape(value)
        if shape is None or not -len(shape) <= axis < len(shape):
            raise depends_on_data(walk, call, "a scanned axis has no fixed size")
        return shape[axis]
