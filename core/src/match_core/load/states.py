"""The states of a model: those that its file declares and those that the user names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING

import numpy as np

from match_core.contract.errors import UsageError
from match_core.contract.model import Model, State

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
    states = (*declared, *(State(name, output) for name, output in given.items()))
    ends = [
        {t.name: (t.dtype, tuple(t.shape)) for t in tensors} for tensors in (model.graph.inputs, model.graph.outputs)
    ]
    for state in states:
        kind = ends[0].get(state.input)
        fits = kind is not None and (not state.output or kind == ends[1].get(state.output))
        if kind is not None and fits and np.array(state.initial).astype(kind[0]) == state.initial:
            continue
        names = [", ".join(map(repr, end)) for end in ends]
        fitting = [f"{name}={other}" for name, kind in ends[0].items() for other in ends[1] if ends[1][other] == kind]
        raise UsageError(
            "MATCH-U080",
            f"the state {state.input!r} does not fit the model",
            f"{model.source}, --state {state.input}={state.output}",
            "it pairs a graph input with an output of the same type and shape, and begins with a number of this type; "
            f"inputs: {names[0]}; outputs: {names[1]}",
            tuple(f"use --state {quote(pair)}" for pair in fitting[:3])
            or ("omit --state, because no input fits an output",),
        )
    states = tuple(state for state in states if state.output)
    return replace(model, states=states, notes=(*model.notes, *(f"{state.input}: {state}" for state in states)))
