"""Finds values of graph inputs that give sizes, in models that also state the sizes of their results.

Every valid run of such a model produces the stated sizes, so the input must have values that produce them. The search
tries values made of the stated sizes. It accepts a value only if no number one lower or higher also produces the stated
sizes, unless the network is the same with that number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, combinations, islice, permutations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from match_core.contract.errors import ModelError
from match_core.load.static.values import static_shape
from match_core.load.tensors import rename_reads

if TYPE_CHECKING:
    import onnx

    Loaded = tuple[onnx.ModelProto, dict[str, tuple[str, ...]]]

#: Inputs with more elements are not sizes; at most ``_MOST_TRIALS`` values are tried.
_MOST_ELEMENTS = 6
_MOST_TRIALS = 48
#: Limits the operators that all trials together load.
_MOST_WORK = 20_000
#: Codes of refusals that unknown sizes can cause.
_OF_SIZES = frozenset(("MATCH-F006", "MATCH-F007"))


def with_pinned_inputs(proto: onnx.ModelProto, load: Callable[[onnx.ModelProto], Loaded]) -> Loaded:
    """The result of ``load`` for the model (changed in place). If sizes stay unknown and an integer input gives them:
    the result with the only value of that input that the stated sizes allow. Errors: those of ``load``."""
    inputs = _size_inputs(proto)
    if not inputs:
        return load(proto)
    source = _copy(proto)
    failure: ModelError | None = None
    try:
        loaded = load(proto)
        if is_static(loaded[0]):
            return loaded
    except ModelError as error:
        if error.code not in _OF_SIZES:
            raise
        failure = error
    for value in inputs:
        found = _pinned(source, value, load)
        if found is not None:
            return found
    if failure is not None:
        raise failure
    return loaded


def is_static(proto: onnx.ModelProto) -> bool:
    """Whether all results have a known type and size."""
    values = {value.name: value.type for value in (*proto.graph.value_info, *proto.graph.output)}
    return all(static_shape(values.get(name)) is not None for node in proto.graph.node for name in node.output if name)


def _size_inputs(proto: onnx.ModelProto) -> list[onnx.ValueInfoProto]:
    """The graph inputs that may hold sizes; none unless all outputs have stated sizes."""
    import onnx

    constants = {tensor.name for tensor in proto.graph.initializer}
    if any(static_shape(value.type) is None for value in proto.graph.output):
        return []
    return [
        value
        for value in proto.graph.input
        if value.name not in constants
        and value.type.tensor_type.elem_type in (onnx.TensorProto.INT64, onnx.TensorProto.INT32)
        and (shape := static_shape(value.type)) is not None
        and len(shape) < 2
        and 0 < int(np.prod(shape)) <= _MOST_ELEMENTS
    ]


def _pinned(
    source: onnx.ModelProto, value: onnx.ValueInfoProto, load: Callable[[onnx.ModelProto], Loaded]
) -> Loaded | None:
    most = min(_MOST_TRIALS, _MOST_WORK // max(1, len(source.graph.node)))
    for values in islice(_candidates(source, value), most):
        loaded = _tried(source, value, values, load)
        if loaded is None:
            continue
        same = _network(loaded[0])
        for position in range(values.size):
            for step in (-1, 1):
                other = values.copy()
                other.reshape(-1)[position] += step
                neighbour = _tried(source, value, other, load)
                if neighbour is not None and _network(neighbour[0]) != same:
                    return None  # the stated sizes allow several values
        return loaded
    return None


def _network(proto: onnx.ModelProto) -> tuple[bytes, ...]:
    """The nodes and the constants that they read, serialised for comparison."""
    read = {name for node in proto.graph.node for name in node.input}
    tensors = (tensor for tensor in proto.graph.initializer if tensor.name in read)
    return tuple(part.SerializeToString(deterministic=True) for part in (*proto.graph.node, *tensors))


def _candidates(source: onnx.ModelProto, value: onnx.ValueInfoProto) -> Iterator[NDArray[np.generic]]:
    """Values made of the stated sizes of one output: in order, then with a 1 inserted, then in any order."""
    import onnx

    shape = static_shape(value.type) or ()
    dtype = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
    count = int(np.prod(shape))
    seen = set()
    for output in source.graph.output:
        sizes = static_shape(output.type) or ()
        with_one = (
            (*chosen[:place], 1, *chosen[place:]) for chosen in combinations(sizes, count - 1) for place in range(count)
        )
        for chosen in chain(combinations(sizes, count), with_one, permutations(sizes, count)):
            if chosen not in seen:
                seen.add(chosen)
                yield np.array(chosen, dtype).reshape(shape)


def _tried(
    source: onnx.ModelProto,
    value: onnx.ValueInfoProto,
    values: NDArray[np.generic],
    load: Callable[[onnx.ModelProto], Loaded],
) -> Loaded | None:
    """The result of ``load`` with these values of an input; None if that fails or leaves sizes unknown."""
    import onnx

    trial = _copy(source)
    name = f"{value.name}_pinned"
    trial.graph.initializer.append(onnx.numpy_helper.from_array(values, name))
    rename_reads(trial.graph, {value.name: name})
    try:
        loaded = load(trial)
    except ModelError:
        return None
    return loaded if is_static(loaded[0]) else None


def _copy(proto: onnx.ModelProto) -> onnx.ModelProto:
    import onnx

    result = onnx.ModelProto()
    result.CopyFrom(proto)
    return result
