"""Arguments as files: models and arrays in memory are written to a temporary folder, because the stages read files."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Union

from match_python.options import wrong_argument

if TYPE_CHECKING:
    import onnx
    from numpy.typing import ArrayLike

    ModelLike = Union[str, PathLike[str], bytes, onnx.ModelProto]
    ArraysLike = Union[str, PathLike[str], Mapping[str, ArrayLike]]

#: The most bytes that protobuf writes.
_PROTO_BYTES_MAX = (1 << 31) - 1


def model_file(model: ModelLike, folder: Path) -> Path:
    """The path of a model; bytes and protos are written to ``folder`` as ``model.onnx``. UsageError MATCH-U090 for
    anything else, and for a proto of 2 GiB and more."""
    if isinstance(model, (str, PathLike)):
        return Path(model)
    if not isinstance(model, (bytes, bytearray, memoryview)):
        model = _serialised(model)
    path = folder / "model.onnx"
    path.write_bytes(model)
    return path


def _serialised(model: object) -> bytes:
    import onnx

    if not isinstance(model, onnx.ModelProto):
        kind = f"{type(model).__module__}.{type(model).__qualname__}"
        advice = ("give a path, the bytes of a file, or an onnx.ModelProto",)
        if any(base.__module__.partition(".")[0] == "torch" for base in type(model).__mro__):
            advice = ("export it first: torch.onnx.export(net, example, 'model.onnx')",)
        raise wrong_argument("argument 'model'", f"it is a {kind}", advice)
    if (size := model.ByteSize()) > _PROTO_BYTES_MAX:
        advice = ("save it with external data (onnx.save with save_as_external_data=True) and give the path",)
        raise wrong_argument("argument 'model'", f"it has {size} bytes; protobuf writes {_PROTO_BYTES_MAX}", advice)
    content: bytes = model.SerializeToString(deterministic=True)
    return content


def array_file(arrays: ArraysLike, folder: Path, argument: str) -> Path:
    """The path of an ``.npz`` file; arrays are written to ``folder``. UsageError MATCH-U090 for anything else."""
    if isinstance(arrays, (str, PathLike)):
        return Path(arrays)
    import numpy as np
    from match_core.io.arrays import write_arrays

    path = folder / f"{argument}.npz"
    write_arrays(path, {name: np.asarray(array) for name, array in named(arrays, argument).items()})
    return path


def named(arrays: object, argument: str) -> Mapping[str, ArrayLike]:
    """Arrays by name. UsageError MATCH-U090 if they have no names."""
    if not isinstance(arrays, Mapping):
        why = f"it is a {type(arrays).__qualname__}, which does not name the inputs"
        raise wrong_argument(f"argument '{argument}'", why, (f"give a dict: {argument}={{'input name': array}}",))
    return arrays
