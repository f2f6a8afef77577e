"""Which operators compute every sample of a batch alone: axis 0 of their inputs and outputs counts samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.model import qualified_op
from match_core.ir.reader import attribute_ints, constant_input, shape_of

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: Operators that move values or write them in another form, with one tensor.
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
        *("BitShift", "BatchNormalization", "match.arith::AsInteger", "match.arith::RequantU8"),
        *("match.arith::RequantI8", "match.arith::IntegerGelu", "match.arith::IntegerHardswish"),
        *("match.arith::RoundedQuotient", "com.microsoft::QLinearAdd", "com.microsoft::QLinearMul"),
        *("com.microsoft::QLinearSigmoid", "com.microsoft::QLinearLeakyRelu"),
    ]
)
#: Operators along one axis, with its default.
_ALONG = {"Concat": 1, "com.microsoft::QLinearConcat": 1, "Softmax": -1, "com.microsoft::QLinearSoftmax": -1}


def sample_inputs(node: gs.Node) -> tuple[int, ...]:
    """Positions of the inputs with a sample axis; () if there is one sample, or the node mixes samples."""
    op, full = qualified_op(node), shape_of(node.outputs[0])
    if not full or full[0] < 2 or not node.inputs or (len(node.outputs) > 1 and op != "Split"):
        return ()
    if op in _ELEMENTWISE or (op in _ALONG and _axis(node, len(full), _ALONG[op]) != 0):
        sizes = [() if tensor.is_empty() else shape_of(tensor) for tensor in node.inputs]
        given = [size if len(size) == len(full) else (1,) for size in sizes]
        return tuple(i for i, size in enumerate(given) if size[0] == full[0])
    known = op in MOVES or op in _REDUCTIONS or op == "QuantizeLinear"
    return (0,) if known and shape_of(node.inputs[0])[:1] == full[:1] and _keeps_samples(node, op) else ()


def one_sample(node: gs.Node) -> tuple[int, list[int]] | None:
    """The position of an input that states the number of samples, and its values for one."""
    position = {"Reshape": 1, "Resize": 3}.get(node.op, len(node.inputs))
    stated = len(node.inputs) > position and not node.inputs[position].is_empty()
    return (position, [1, *shape_of(node.outputs[0])[1:]]) if stated else None


def _keeps_samples(node: gs.Node, op: str) -> bool:
    """Whether an operator with one tensor keeps the samples on axis 0."""
    rank, given = len(shape_of(node.inputs[0])), [constant_input(node, i) for i in range(len(node.inputs))]
    if op in ("QuantizeLinear", "DequantizeLinear"):
        scale = shape_of(node.inputs[1])
        return scale in ((), (1,)) or (len(scale) == 1 and _axis(node, rank, 1) != 0)
    if op == "Split":
        return _axis(node, rank, 0) != 0
    if op == "Flatten":
        return _axis(node, rank + 1, 1) == 1
    if op == "Transpose":
        return attribute_ints(node, "perm", [-1])[0] == 0
    if op in ("Squeeze", "Unsqueeze") or op in _REDUCTIONS:
        axes = attribute_ints(node, "axes", []) if len(given) < 2 or given[1] is None else given[1].tolist()
        rank += len(axes) if op == "Unsqueeze" else 0
        return bool(axes) and all(int(axis) % rank for axis in axes)
    if op == "Slice":
        sliced = range(rank) if len(given) < 4 else given[3]
        return sliced is not None and all(int(axis) % rank for axis in sliced)
    if op == "Pad":
        return len(given) == 3 and given[1] is not None and not given[1].reshape(2, -1)[:, 0].any()
    if op == "Resize":
        scales = given[2] if len(given) > 2 else None
        return "axes" not in node.attrs and (scales is None or scales.size == 0 or float(scales[0]) == 1)
    return True


def _axis(node: gs.Node, rank: int, default: int) -> int:
    return int(node.attrs.get("axis", default)) % rank
