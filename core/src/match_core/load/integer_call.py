"""One integer operator during its replacement: its parameters as integers, and the nodes that replace it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from match_core.contract.errors import ModelError
from match_core.ir.functions import ARITH
from match_core.ir.naming import comment_text

if TYPE_CHECKING:
    import onnx

Ints = NDArray[np.int64]


class Call:
    """One node to replace: its parameters as integers, and the nodes that replace it."""

    def __init__(
        self,
        node: onnx.NodeProto,
        known: Mapping[str, onnx.ValueInfoProto],
        constants: Mapping[str, onnx.TensorProto],
        source: str,
    ) -> None:
        self.node = node
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self._known, self._constants, self._source = known, constants, source

    def refuse(self, why: str) -> ModelError:
        """The error for a node that is not supported."""
        name = comment_text(self.node.op_type)
        return ModelError(
            "MATCH-F017",
            f"the integer operator {name} is not supported in this form",
            f"{self._source}, node {self.node.name!r} ({name})",
            why,
            ("export the network again", "docs/integer-models.md lists what each operator requires"),
        )

    def attribute(self, *names: str, default: int | None = None) -> int:
        """An attribute that is one integer, as a number or as a tensor; the first of ``names`` that exists."""
        import onnx

        for attribute in self.node.attribute:
            if attribute.name in names:
                value = onnx.helper.get_attribute_value(attribute)
                tensor = isinstance(value, onnx.TensorProto)
                values = onnx.numpy_helper.to_array(value) if tensor else np.asarray(value)
                return int(self._whole(values, f"attribute {attribute.name}", 1).reshape(-1)[0])
        if default is None:
            raise self.refuse(f"it has no attribute {names[0]}")
        return default

    def integers(self, position: int, what: str) -> Ints:
        """A constant input that holds integers."""
        import onnx

        name = self.node.input[position] if position < len(self.node.input) else ""
        if name not in self._constants:
            raise self.refuse(f"its {what} (input {position}) is not constant")
        return self._whole(onnx.numpy_helper.to_array(self._constants[name]), what)

    def _whole(self, values: NDArray[np.generic], what: str, size: int | None = None) -> Ints:
        wide = np.asarray(values, np.float64)
        if not wide.size or (size is not None and wide.size != size):
            raise self.refuse(f"{what} has {wide.size} values")
        if not np.all(np.isfinite(wide)) or np.any(wide != np.rint(wide)) or np.any(np.abs(wide) >= 2.0**53):
            raise self.refuse(f"{what} holds values that are not integers")
        return np.asarray(values).astype(np.int64)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the first input."""
        value = self._known.get(self.node.input[0])
        if value is None or not value.type.tensor_type.HasField("shape"):
            raise self.refuse("the shape of its input is not known")
        return tuple(int(dim.dim_value) for dim in value.type.tensor_type.shape.dim)

    def per_channel(self, values: Ints, what: str) -> Ints:
        """The values in a shape that broadcasts like numpy: a vector lies along the channels, which are axis 1 of
        images and the last axis of other tensors."""
        shape = self.shape
        if values.size == 1:
            return values.reshape(())
        if values.ndim == 1 and len(shape) == 4 and shape[1] == values.size:
            return values.reshape(-1, 1, 1)
        fits = values.ndim <= len(shape) and all(
            size in (1, full) for size, full in zip(values.shape[::-1], shape[::-1], strict=False)
        )
        if not fits:
            raise self.refuse(f"its {what} has shape {list(values.shape)}, its input {list(shape)}")
        return values

    # ---- writing ------------------------------------------------------------------------------------------------

    def emit(self, op: str, inputs: Sequence[str], suffix: str, **attributes: object) -> str:
        """Add a node; without a suffix it gets the replaced node's name. Returns its output's name."""
        import onnx

        domain, _, short = op.rpartition("::")
        name = f"{self.node.name}_{suffix}" if suffix else self.node.name
        output = f"{self.node.output[0]}_{suffix or 'integers'}"
        node = onnx.helper.make_node(short, list(inputs), [output], name=name, domain=domain)
        node.attribute.extend(onnx.helper.make_attribute(key, value) for key, value in attributes.items())
        self.nodes.append(node)
        return output

    def arith(self, op: str, x: str, parameters: Mapping[str, object], suffix: str = "", **attributes: object) -> str:
        """An operator of ours on ``x`` and int64 constants."""
        import onnx

        inputs = [x]
        for what, value in parameters.items():
            name = f"{self.node.output[0]}_{suffix}{what}"
            self.initializers.append(onnx.numpy_helper.from_array(np.asarray(value, np.int64), name))
            inputs.append(name)
        return self.emit(f"{ARITH}::{op}", inputs, suffix, **attributes)

    def source(self, x: str = "", suffix: str = "source") -> str:
        """The integers in the first input (or in ``x``)."""
        return self.emit(f"{ARITH}::AsInteger", [x or self.node.input[0]], suffix)

    def hold(self, integers: str) -> None:
        """Cast the result's integers to the type of the model's tensor."""
        import onnx

        value = self._known.get(self.node.input[0])
        to = value.type.tensor_type.elem_type if value is not None else onnx.TensorProto.FLOAT
        name = f"{self.node.name}_held"
        self.nodes.append(onnx.helper.make_node("Cast", [integers], list(self.node.output), name=name, to=to))

    def levels(self) -> int:
        """How many values the result can take."""
        levels = self.attribute("n_levels", "n_levels_out")
        if not 2 <= levels <= 256:
            raise self.refuse(f"its result has {levels} levels, which is not 1 to 8 bits")
        return levels

    def requantised(self, x: str, multiplier: Ints, addend: Ints, divisor: int, bounds: tuple[int, int]) -> str:
        """``clip(floor((x * multiplier + addend) / divisor + 1 / 2))``."""
        if divisor <= 0:
            raise self.refuse(f"it divides by {divisor}")
        op = "RequantI8" if bounds[0] < 0 else "RequantU8"
        parameters = {"multiplier": multiplier, "addend": addend + divisor // 2, "divisor": divisor}
        return self.arith(op, x, {**parameters, "lo": bounds[0], "hi": bounds[1]})
