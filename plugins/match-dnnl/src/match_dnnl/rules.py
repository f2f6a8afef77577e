"""Rules for every operator, and rules of dense operators, with descriptions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from match_core import NodeRule
from match_core.contract.model import qualified_op
from match_core.ir.reader import constant_input, optional_input, shape_of

from match_dnnl.functions import posts_of
from match_dnnl.graph import axis_of, given, result
from match_dnnl.lower_dense import reduced_axes

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: oneDNN takes 12 axes; more than 6 are not tested here.
RANK_MAX = 6
#: Elements of a tensor are counted in 32 bits.
ELEMENTS_MAX = (1 << 31) - 1
CONCAT_MAX = 32

#: Inputs that say how, not what: shapes, axes, amounts, bounds; they are read when the region is compiled.
_SAYS_HOW = {
    "Clip": (1, 2),
    "Pad": (1, 2, 3),
    "Reshape": (1,),
    "Resize": (1, 2, 3),
    "Squeeze": (1,),
    "Unsqueeze": (1,),
    "Pow": (1,),
}


def _how(node: gs.Node) -> tuple[int, ...]:
    op = qualified_op(node)
    return (1,) if op.startswith("Reduce") else _SAYS_HOW.get(op, ())


def _data(node: gs.Node) -> list[gs.Tensor]:
    """The tensors that are computed with."""
    how = _how(node)
    return [t for number, t in enumerate(node.inputs) if number not in how and not t.is_empty()]


def _types(node: gs.Node) -> str | None:
    kinds = [tensor.dtype for tensor in (*_data(node), *node.outputs) if not tensor.is_empty()]
    names = sorted({f"type {kind} of ONNX" if isinstance(kind, int) else np.dtype(kind).name for kind in kinds})
    return None if names == ["float32"] else f"they are {', '.join(names)}"


def _shapes(node: gs.Node) -> str | None:
    for sizes in [shape_of(tensor) for tensor in (*_data(node), *node.outputs) if not tensor.is_empty()]:
        if len(sizes) > RANK_MAX:
            return f"one has {len(sizes)} axes"
        if not all(sizes):
            return f"one has shape {list(sizes)}"
        if np.prod(sizes, dtype=np.float64) > ELEMENTS_MAX:
            return f"one has shape {list(sizes)}"
    return None


def _constants(node: gs.Node) -> str | None:
    for position in _how(node):
        if optional_input(node, position) is not None and constant_input(node, position) is None:
            return f"input {position} is computed"
    return None


def _outputs(node: gs.Node) -> str | None:
    count = sum(not tensor.is_empty() for tensor in node.outputs)
    return None if count == 1 else f"there are {count}"


def _computes(node: gs.Node) -> str | None:
    return None if any(constant_input(node, n) is None for n in range(len(node.inputs))) else "all are constants"


def in_order(*rules: NodeRule) -> tuple[NodeRule, ...]:
    """The same rules, each checked only if those before it hold and all shapes are known: a rule may then take for
    granted what the ones before it say."""
    return tuple(NodeRule(rule.name, rule.description, _behind(rules[:n], rule)) for n, rule in enumerate(rules))


def _behind(before: Sequence[NodeRule], rule: NodeRule) -> Callable[[gs.Node], str | None]:
    def check(node: gs.Node) -> str | None:
        tensors = [tensor for tensor in (*node.inputs, *node.outputs) if not tensor.is_empty()]
        if any(t.shape is None or any(isinstance(size, str) for size in t.shape) for t in tensors):
            return None
        return None if any(other.check(node) is not None for other in before) else rule.check(node)

    return check


COMMON = (
    NodeRule("types", "tensors are float32", _types),
    NodeRule("shapes", f"tensors have at most {RANK_MAX} axes and at least one element", _shapes),
    NodeRule("constants", "shapes, axes, amounts and bounds are constants", _constants),
    NodeRule("outputs", "one output is used", _outputs),
    NodeRule("inputs", "at least one input is computed", _computes),
)


def _broadcast(node: gs.Node) -> str | None:
    if posts_of(node) is not None:
        return None
    sizes = shape_of(result(node))
    operands = [shape_of(tensor) for tensor in node.inputs]
    ordered = node.op in ("Sub", "Div")
    if sizes in (operands[:1] if ordered else operands):
        return None
    which = "the first operand has" if ordered else "no operand has"
    return f"{which} the result's shape {list(sizes)}: {', '.join(str(list(s)) for s in operands)}"


def _two(node: gs.Node) -> str | None:
    return None if len(given(node)) == 2 else f"there are {len(given(node))}"


BINARY = (
    NodeRule("operands", "there are two operands", _two),
    NodeRule("broadcast", "one operand (for Sub and Div the first) has the shape of the result", _broadcast),
)


def _power(node: gs.Node) -> str | None:
    return None if posts_of(node) is not None else "it is no number"


POWER = (NodeRule("exponent", "the exponent is one number", _power),)


def _bounds(node: gs.Node) -> str | None:
    arrays = [array for position in (1, 2) if (array := constant_input(node, position)) is not None]
    return None if all(array.size == 1 and not np.isnan(array).any() for array in arrays) else "one is not"


CLIP = (NodeRule("bounds", "bounds are numbers", _bounds),)


def _matrices(node: gs.Node) -> str | None:
    ranks = [len(shape_of(tensor)) for tensor in node.inputs[:2]]
    return None if min(ranks) >= 2 else f"one has {min(ranks)} axis"


MATMUL = (NodeRule("matrices", "operands have two axes or more", _matrices),)


def _factors(node: gs.Node) -> str | None:
    alpha, beta = float(node.attrs.get("alpha", 1.0)), float(node.attrs.get("beta", 1.0))
    return None if alpha == 1 and (beta == 1 or optional_input(node, 2) is None) else f"they are {alpha:g} and {beta:g}"


def _bias(node: gs.Node) -> str | None:
    tensor = optional_input(node, 2)
    if tensor is None:
        return None
    sizes, columns = shape_of(tensor), shape_of(result(node))[1]
    known = constant_input(node, 2) is not None
    whole = all(size == 1 for size in sizes[:-1]) and (sizes[-1:] == (columns,) or (known and sizes[-1:] in ((), (1,))))
    return None if whole else f"its shape is {list(sizes)}"


GEMM = (
    NodeRule("factors", "alpha and beta are 1", _factors),
    NodeRule("bias", "the bias holds one value for each column", _bias),
)


def _reduces(node: gs.Node) -> str | None:
    sizes = shape_of(node.inputs[0])
    listed = constant_input(node, 1)
    if int(node.attrs.get("noop_with_empty_axes", 0)) and (listed is None or listed.size == 0):
        return "none is given, which means none"
    axes = reduced_axes(node)
    return None if any(sizes[axis] > 1 for axis in axes) else f"axes {axes} have one element"


REDUCE = (NodeRule("axes", "at least one reduced axis has more than one element", _reduces),)


def _training(node: gs.Node) -> str | None:
    return "it is set" if int(node.attrs.get("training_mode", 0)) else None


BATCH_NORMALIZATION = (NodeRule("training", "training_mode is not set", _training),)


def _stash(node: gs.Node) -> str | None:
    kind = int(node.attrs.get("stash_type", 1))
    return None if kind == 1 else f"it is {kind}"


def _line(node: gs.Node) -> str | None:
    sizes = shape_of(node.inputs[0])
    tail = sizes[axis_of(node, "axis", -1, len(sizes)) :]
    other = [list(shape_of(t)) for t in given(node)[1:] if shape_of(t) != tail]
    return f"one has shape {other[0]}, a line has {list(tail)}" if other else None


LAYER_NORMALIZATION = (
    NodeRule("stash", "statistics are float32", _stash),
    NodeRule("line", "scale and shift have the shape of the normalised axes", _line),
)


def _count(node: gs.Node) -> str | None:
    return None if len(node.inputs) <= CONCAT_MAX else f"there are {len(node.inputs)}"


CONCAT = (NodeRule("count", f"at most {CONCAT_MAX} tensors", _count),)
