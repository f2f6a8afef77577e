"""Dynamic sizes that the user fixes (``--dim NAME=N``), and the advice for those that are left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote
from typing import TYPE_CHECKING

from match_core.contract.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    import onnx

_SIZE_MAX = 2**31 - 1


def dim_sizes(texts: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """(name, size) of each ``NAME=N``. UsageError MATCH-U037 if one has another form or a name is given twice."""
    found: dict[str, int] = {}
    for text in texts:
        name, _, number = text.rpartition("=")
        size = int(number) if number.isascii() and number.isdigit() and len(number) <= 10 else 0
        if not name or not 0 < size <= _SIZE_MAX:
            raise _refused(f"{text!r} is not NAME=N with a whole number N from 1 to {_SIZE_MAX}", ("--dim batch=1",))
        if name in found:
            raise _refused(f"{name} is given twice, as {found[name]} and as {size}", (f"give --dim {name}=N once",))
        found[name] = size
    return tuple(sorted(found.items()))


def fix_sizes(proto: onnx.ModelProto, dims: Sequence[tuple[str, int]], source: str) -> None:
    """Give the named dynamic sizes numbers, everywhere in the main graph (``proto`` is changed in place). A size is
    named as the model names it, or ``INPUT:AXIS``. UsageError MATCH-U037 for a name that no input has."""
    for name, size in dims:
        known = dict(dynamic_sizes(proto))
        if name not in known:
            names = ", ".join(known)
            raise _refused(
                f"no input has the dynamic size {name!r}; " + (f"dynamic are {names}" if known else "all are fixed"),
                (*did_you_mean(name, known, f"--dim {{}}={size}"), f"omit --dim {name}={size}"),
                source,
            )
        dim = known[name]
        same = [other for other in _all_dims(proto) if other.dim_param == dim.dim_param] if dim.dim_param else [dim]
        for other in same:
            other.dim_value = size


def dynamic_sizes(proto: onnx.ModelProto) -> Iterator[tuple[str, onnx.TensorShapeProto.Dimension]]:
    """The sizes of inputs that are not fixed, by the name that ``fix_sizes`` takes; each name once."""
    constants = {tensor.name for tensor in proto.graph.initializer}
    seen: set[str] = set()
    for value in proto.graph.input:
        for axis, dim in enumerate(value.type.tensor_type.shape.dim if value.name not in constants else ()):
            name = dim.dim_param or f"{value.name}:{axis}"
            if not dim.HasField("dim_value") and name not in seen:
                seen.add(name)
                yield name, dim


def size_advice(proto: onnx.ModelProto) -> str:
    """The options that fix all dynamic sizes of inputs: 1 for the batch. That is a size with such a name, else the
    first axis."""
    names = [name for name, _ in dynamic_sizes(proto)]
    first = {dim.dim_param for value in proto.graph.input for dim in value.type.tensor_type.shape.dim[:1]}
    named = {name for name in names if "batch" in name.lower()}
    batch = named or {name for name in names if name in first or name.endswith(":0")}
    dims = " ".join(f"--dim {quote(name)}={1 if name in batch else 'N'}" for name in names)
    return f"fix the sizes: {dims}" if set(names) - batch else f"add {dims}"


def _all_dims(proto: onnx.ModelProto) -> Iterator[onnx.TensorShapeProto.Dimension]:
    graph = proto.graph
    for value in (*graph.input, *graph.output, *graph.value_info):
        yield from value.type.tensor_type.shape.dim


def _refused(why: str, help_: tuple[str, ...], where: str = "option --dim") -> UsageError:
    return UsageError("MATCH-U037", "a size of the model cannot be fixed", where, why, help_)
