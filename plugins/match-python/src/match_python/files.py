"""Arguments as files: models and arrays in memory are written to a temporary folder, because the stages read files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Union

from match_python.options import wrong_argument

if TYPE_CHECKING:
    import numpy as np
    import onnx
    from match_verify.images import Normalisation
    from numpy.typing import ArrayLike, NDArray

    ModelLike = Union[str, PathLike[str], bytes, onnx.ModelProto]
    ArraysLike = Union[str, PathLike[str], Mapping[str, ArrayLike]]
    SamplesLike = Union[ArraysLike, NDArray[np.generic]]
    LabelsLike = Union[str, PathLike[str], NDArray[np.generic], Mapping[str, Union[str, PathLike[str], ArrayLike]]]
    Numbers = Union[float, Sequence[float]]

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
    from match_report.npz import write_arrays

    path = folder / f"{argument}.npz"
    write_arrays(path, {name: np.asarray(array) for name, array in named(arrays, argument).items()})
    return path


def sample_file(samples: SamplesLike, folder: Path, argument: str) -> Path:
    """The path of samples: as ``array_file``, and an array of the only input is written as an ``.npy`` file."""
    import numpy as np

    if not isinstance(samples, np.ndarray):
        return array_file(samples, folder, argument)
    return _array(samples, folder / f"{argument}.npy")


def label_texts(labels: LabelsLike | None, folder: Path) -> tuple[str, ...]:
    """Labels as the command line takes them: ``Y.npy`` or ``OUTPUT=Y.npy``; arrays are written to ``folder``."""
    return () if labels is None else tuple(_labels(labels, folder))


def _labels(labels: LabelsLike, folder: Path) -> Iterator[str]:
    by_output = labels if isinstance(labels, Mapping) else {"": labels}
    for number, (name, given) in enumerate(by_output.items()):
        path = given if isinstance(given, (str, PathLike)) else _array(given, folder / f"labels{number or ''}.npy")
        yield f"{name}={path}" if name else str(path)


def _array(values: ArrayLike, path: Path) -> Path:
    import numpy as np

    np.save(path, np.asarray(values), allow_pickle=False)
    return path


def normalisation_of(mean: Numbers | None, std: Numbers | None) -> Normalisation:
    """Of images. UsageError MATCH-U090 for what are no numbers, MATCH-U048 for numbers that cannot be."""
    from match_verify.images import normalisation

    return normalisation(_numbers("mean", mean), _numbers("std", std))


def _numbers(argument: str, given: Numbers | None) -> str | None:
    if given is None:
        return None
    try:
        numbers = given if isinstance(given, Iterable) else [given]
        return ",".join(str(float(number)) for number in numbers)
    except (TypeError, ValueError) as error:
        advice = (f"give one number, or one for each channel: {argument}=[0.5, 0.5, 0.5]",)
        raise wrong_argument(f"argument '{argument}'", f"{given!r} is not a number or several", advice) from error


def named(arrays: object, argument: str) -> Mapping[str, ArrayLike]:
    """Arrays by name. UsageError MATCH-U090 if they have no names."""
    if not isinstance(arrays, Mapping):
        why = f"it is a {type(arrays).__qualname__}, which does not name the inputs"
        raise wrong_argument(f"argument '{argument}'", why, (f"give a dict: {argument}={{'input name': array}}",))
    return arrays
