"""Regions as they are lowered: the code that their unit's package gives, with its constants in the program's pool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from match_core.regions.region import Region

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from numpy.typing import NDArray

    from match_core.emit.api import RegionCode, RegionKernel
    from match_core.emit.constants import ConstantPool
    from match_core.patterns.language import Match

#: What the code is called in comments and in what the memory plan tells, by format.
FORMATS = {"json": "JSON", "c": "C", "binary": "binary"}


@dataclass(frozen=True, slots=True)
class BorderTensor:
    """An entry of a region's table of tensors: the element type's number in ONNX, sizes, and the C name of the array of
    a constant."""

    element_type: int
    shape: tuple[int, ...]
    array: str = ""


@dataclass(frozen=True)
class LoweredRegion:
    """A region of the program. ``name`` is the prefix of all its C names; ``array``: the C name of its code, which
    equal regions share, empty where the code is C."""

    name: str
    region: Region
    code: RegionCode
    array: str
    inputs: tuple[BorderTensor, ...]
    outputs: tuple[BorderTensor, ...]
    constants: tuple[BorderTensor, ...]

    @property
    def code_bytes(self) -> int:
        """Bytes of the code in the home memory; those of C are counted by nobody."""
        return len(self.code.content) if self.array else 0

    @property
    def constant_bytes(self) -> int:
        """Bytes of its table's arrays, also of those that it shares with others."""
        return sum(int(array.nbytes) for array in self.code.constants)


def lower_region(
    name: str, label: str, match: Match, kernel: RegionKernel, pool: ConstantPool, title: str
) -> LoweredRegion:
    """Ask the package for the region's code; ``name``: prefix of its C names, ``label``: number of the task, ``title``
    names it in comments."""
    from match_core.emit.api import RegionRequest

    region = Region.of(match.nodes, match.outputs)
    code = kernel.compile(RegionRequest(name, region))
    arrays = [
        pool.add(f"{label}_{number}", values, f"constant {number} of {title}")
        for number, values in enumerate(code.constants)
    ]
    array = ""
    if code.format != "c":
        array = pool.add_code(f"{name}_code", code.content, f"{FORMATS[code.format]} code of {title}")
    constants = zip(code.constants, arrays, strict=True)
    return LoweredRegion(
        name=name,
        region=region,
        code=code,
        array=array,
        inputs=tuple(_border(tensor) for tensor in region.inputs),
        outputs=tuple(_border(tensor) for tensor in region.outputs),
        constants=tuple(
            BorderTensor(element_number(values.dtype), values.shape, constant) for values, constant in constants
        ),
    )


def _border(tensor: gs.Variable) -> BorderTensor:
    return BorderTensor(element_number(tensor.dtype), tuple(int(size) for size in tensor.shape))


def element_number(dtype: object) -> int:
    """The number of an element type in ONNX (TensorProto.DataType). ValueError for a type without one."""
    import onnx

    if isinstance(dtype, int):  # graphsurgeon keeps types that numpy lacks as ONNX numbers
        return dtype
    return int(onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))  # type: ignore[call-overload]  # any object


def check_code(answer: object) -> RegionCode:
    """The answer of a package's ``compile`` as what the emitter can use; TypeError or ValueError with what is wrong."""
    from match_core.emit.api import RegionCode

    if not isinstance(answer, RegionCode):
        raise TypeError(f"gives a value of type {type(answer).__name__}, RegionCode expected")
    if answer.format not in FORMATS:
        raise ValueError(f"format {answer.format!r}, one of {', '.join(FORMATS)} expected")
    if not isinstance(answer.content, bytes):
        raise TypeError(f"content is {type(answer.content).__name__}, bytes expected")
    if answer.format != "binary":
        answer.content.decode("utf-8")
    for role in ("load", "run", "unload"):
        name = getattr(answer, role)
        if not (isinstance(name, str) and name.isidentifier() and name.isascii()):
            raise ValueError(f"{role} is {name!r}, the name of a C function expected")
    for number, values in enumerate(answer.constants):
        _check_constant(number, values)
    if not isinstance(answer.scratch_bytes, int) or answer.scratch_bytes < 0:
        raise ValueError(f"scratch_bytes is {answer.scratch_bytes!r}, a number of bytes expected")
    return answer


def _check_constant(number: int, values: NDArray[np.generic]) -> None:
    from match_core.emit.ctypes import c_type

    if not isinstance(values, np.ndarray):
        raise TypeError(f"constant {number} is {type(values).__name__}, an array expected")
    try:
        c_type(values.dtype)
    except KeyError:
        raise ValueError(f"constant {number} has elements of type {values.dtype}, which C cannot carry") from None
