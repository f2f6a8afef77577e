"""Which operators compute every sample of a batch alone: axis 0 of their inputs and outputs counts samples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

if TYPE_CHECKING:
    import onnx

#: Operators that treat every channel separately.
POOLS = frozenset(
    [
        *("MaxPool", "AveragePool", "LpPool", "GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"),
        *("QLinearAveragePool", "QLinearGlobalAveragePool"),
    ]
)
#: Operators where only the first input has a sample axis.
LAYERS = frozenset(("Conv", "ConvInteger", "QLinearConv", "ConvTranspose"))
#: Operators that move values or write them in another form.
MOVES = frozenset(
    [
        *("DequantizeLinear", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Slice", "Split", "Pad"),
        *("Resize", "DepthToSpace", "SpaceToDepth", "Identity", "Cast"),
    ]
)
_REDUCTIONS = frozenset(("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin"))
_ELEMENTWISE = frozenset(
    [
        *("Abs", "Add", "And", "Ceil", "Clip", "Div", "Elu", "Equal", "Erf", "Exp", "Floor", "Gelu", "Greater"),
        *("GreaterOrEqual", "HardSigmoid", "HardSwish", "LeakyRelu", "Less", "LessOrEqual", "Log", "Max", "Min", "Mod"),
        *(
            "Mul",
            "Neg",
            "Not",
            "Or",
            "Pow",
            "PRelu",
            "Relu",
            "Round",
            "Sigmoid",
            "Sign",
            "Sqrt",
            "Sub",
            "Tanh",
            "Where",
        ),
        *("BitShift", "BatchNormalization", "QLinearAdd", "QLinearMul", "QLinearSigmoid", "QLinearLeakyRelu"),
        *("AsInteger", "RequantU8", "RequantI8", "IntegerGelu", "IntegerHardswish", "RoundedQuotient"),
    ]
)
#: Operators along one axis, with its default.
_ALONG = {"Concat": 1, "QLinearConcat": 1, "Softmax": -1, "LogSoftmax": -1, "QLinearSoftmax": -1}
#: Domains whose operators have these meanings.
_DOMAINS = frozenset(("", "ai.onnx", "com.microsoft", "match.arith"))


class Samples:
    """``sizes`` of tensors and ``values`` of small constants, by name."""

    def __init__(self, sizes: Mapping[str, list[int]], values: Mapping[str, NDArray[Any]]) -> None:
        self.sizes, self._values = sizes, values

    def inputs_of(self, node: onnx.NodeProto) -> tuple[int, ...]:
        """Positions of the inputs with a sample axis; () if there is one sample, or the node mixes samples."""
        full, first = (self.sizes.get(names[0], []) if names else [] for names in (node.output, node.input))
        op = node.op_type
        if node.domain not in _DOMAINS or not full or full[0] < 2 or (len(node.output) > 1 and op != "Split"):
            return ()
        if op in _ELEMENTWISE or (op in _ALONG and self._axis(node, len(full), _ALONG[op]) != 0):
            return self._of_full_rank(node, full)
        known = op in LAYERS | POOLS or ((op in MOVES | _REDUCTIONS or "Quant" in op) and self._keeps(node, len(first)))
        return (0,) if known and first[:1] == full[:1] else ()

    def one(self, node: onnx.NodeProto) -> dict[int, list[int]]:
        """Sizes among the inputs that count samples, by position, for one sample."""
        position = {"Reshape": 1, "Resize": 3}.get(node.op_type, len(node.input))
        return {position: [1, *self.sizes[node.output[0]][1:]]} if any(node.input[position:]) else {}

    def _of_full_rank(self, node: onnx.NodeProto, full: list[int]) -> tuple[int, ...]:
        sizes = [self.sizes.get(name) if name else [] for name in node.input]
        given = [size if size is not None and len(size) == len(full) else [1] for size in sizes]
        unclear = any(size is None for size in sizes) or any(size[0] not in (1, full[0]) for size in given)
        return () if unclear else tuple(i for i, size in enumerate(given) if size[0] == full[0])

    def _keeps(self, node: onnx.NodeProto, rank: int) -> bool:
        """Whether an operator with one tensor keeps the samples on axis 0."""
        op, given = node.op_type, [self._values.get(name) for name in node.input]
        if op.endswith("QuantizeLinear") or op.endswith("DequantizeLinear"):
            scale = self.sizes.get(node.input[1], [0, 0])
            return scale in ([], [1]) or (len(scale) == 1 and self._axis(node, rank, 1) != 0)
        if op in ("Split", "Flatten"):
            return self._axis(node, rank, 0) != 0 if op == "Split" else self._axis(node, rank + 1, 1) == 1
        if op == "Transpose":
            return bool(_attribute(node, "perm", [-1])[0] == 0)
        if op in ("Squeeze", "Unsqueeze") or op in _REDUCTIONS:
            axes = list(given[1]) if len(given) > 1 and given[1] is not None else _attribute(node, "axes", [])
            return bool(axes) and all(int(axis) % (rank + len(axes) * (op == "Unsqueeze")) for axis in axes)
        if op == "Slice":
            axes = given[3] if len(given) > 3 else range(rank)
            return axes is not None and all(int(axis) % rank for axis in axes)
        if op == "Pad":
            return len(given) < 4 and given[1] is not None and not given[1].reshape(2, -1)[:, 0].any()
        if op == "Resize":
            scales = given[2] if len(given) > 2 else None
            return not _attribute(node, "axes", []) and (scales is None or not scales.size or scales[0] == 1)
        return True

    def _axis(self, node: onnx.NodeProto, rank: int, default: int) -> int:
        return int(_attribute(node, "axis", default)) % rank


def _attribute(node: onnx.NodeProto, name: str, default: Any) -> Any:
    import onnx

    return next((onnx.helper.get_attribute_value(a) for a in node.attribute if a.name == name), default)
