"""The states of a model: those that its file declares and those that the user names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from match_core.contract.errors import UsageError
from match_core.contract.model import Model
from match_core.contract.state import State

if TYPE_CHECKING:
    import onnx

#: Key of a model's metadata, followed by the input's name; the value is the initial number, a space, the output's name.
KEY = "match.state:"


def declared_states(proto: onnx.ModelProto) -> tuple[State, ...]:
    """The states in the metadata of a file; entries of another form are ignored."""
    entries = ((entry.key, re.fullmatch(r"(-?[0-9]{1,9}) (.+)", entry.value)) for entry in proto.metadata_props)
    return tuple(State(k[len(KEY) :], m[2], int(m[1])) for k, m in entries if m is not None and k.startswith(KEY))


def with_states(model: Model, pairs: Sequence[tuple[str, str]]) -> Model:
    """The model with the user's (input, output) in addition to, or instead of, what the file declares for the same
    input; an empty output makes it an ordinary input. UsageError MATCH-U080 if a pair does not fit the model."""
    given = dict(pairs)
    declared = [state for state in model.states if state.input not in given]
    states = (*declared, *(State(name, output) for name, output in given.items() if output))
    ends = [
        {t.name: (t.dtype, list(t.shape)) for t in tensors} for tensors in (model.graph.inputs, model.graph.outputs)
    ]
    for name in (*given, *(state.input for state in states)):
        output = next((state.output for state in states if state.input == name), None)
        if name in ends[0] and (output is None or ends[0][name] == ends[1].get(output)):
            continue
        kinds = [
            f"{names}: " + ", ".join(map(repr, end)) for names, end in zip(("inputs", "outputs"), ends, strict=True)
        ]
        raise UsageError(
            "MATCH-U080",
            f"the state {name!r} does not fit the model",
            f"{model.source}, --state {name}={output or ''}",
            "it pairs a graph input with a graph output of the same type and shape; " + "; ".join(kinds),
            ("give --state INPUT=OUTPUT with names of the model",),
        )
    return replace(model, states=states, notes=(*model.notes, *(f"{state.input}: {state}" for state in states)))
