"""Lowering of regions: the code from their unit's package, with its constants in the program's pool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from match_core.contract.region import Region
from match_core.contract.unit_api import REGION_FORMATS, RegionRequest

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

    from match_core.contract.structure import Match
    from match_core.contract.unit_api import RegionCode, RegionKernel
    from match_core.lower.constants import ConstantPool


@dataclass(frozen=True, slots=True)
class BorderTensor:
    """An entry of a region's table of tensors: the element type's number in ONNX, sizes, and a constant's C name."""

    element_type: int
    shape: tuple[int, ...]
    array: str = ""


@dataclass(frozen=True)
class LoweredRegion:
    """A region of the program. ``name`` is the prefix of all its C names; ``array``: the C name of its code, which
    equal regions share, empty if the code is C."""

    name: str
    region: Region
    code: RegionCode
    array: str
    inputs: tuple[BorderTensor, ...]
    outputs: tuple[BorderTensor, ...]
    constants: tuple[BorderTensor, ...]

    @property
    def code_bytes(self) -> int:
        """Bytes of the code in the home memory; code in C is not counted."""
        return len(self.code.content) if self.array else 0

    @property
    def constant_bytes(self) -> int:
        """Bytes of its table's arrays, including those that it shares with others."""
        return sum(int(array.nbytes) for array in self.code.constants)


def lower_region(
    name: str, label: str, match: Match, kernel: RegionKernel, pool: ConstantPool, title: str
) -> LoweredRegion:
    """Request the region's code from the package; ``name``: prefix of its C names, ``label``: number of the task,
    ``title`` names it in comments."""
    region = Region.of(match.nodes, match.outputs)
    code = kernel.compile(RegionRequest(name, region))
    arrays = [
        pool.add(f"{label}_{number}", values, f"constant {number} of {title}")
        for number, values in enumerate(code.constants)
    ]
    array = ""
    if code.format != "c":
        array = pool.add_code(f"{name}_code", code.content, f"{REGION_FORMATS[code.format]} code of {title}")
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

    if isinstance(dtype, int):  # graphsurgeon represents types that numpy does not have by ONNX numbers
        return dtype
    return int(onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))  # type: ignore[call-overload]  # any object
