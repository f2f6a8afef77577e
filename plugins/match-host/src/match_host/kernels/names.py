"""Names of a kernel's parameters after what they are, and the places where a long kernel yields."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: What operators call their inputs: the end or a part of the operator's name, position -> name.
_ROLES: tuple[tuple[str, Mapping[int, str]], ...] = (
    ("AddRequant", {0: "summand", 1: "summand"}),
    ("LayerNormRequant", {1: "multipliers", 2: "addends"}),
    ("Requant", {1: "multipliers", 2: "addends"}),
    ("ConvInteger", {1: "weights", 2: "input_zero", 3: "weight_zero"}),
    ("MatMulInteger", {1: "weights", 2: "input_zero", 3: "weight_zero"}),
    ("Conv", {1: "weights", 2: "bias"}),
    ("MatMul", {1: "weights"}),
    ("Gemm", {1: "weights", 2: "bias"}),
    ("Normalization", {1: "scale", 2: "bias", 3: "mean", 4: "variance"}),
    ("Softmax", {1: "table"}),
    ("Table", {1: "table"}),
    ("LSTM", {1: "weights", 2: "recurrent_weights", 3: "bias", 5: "initial_h", 6: "initial_c", 7: "peepholes"}),
    ("GRU", {1: "weights", 2: "recurrent_weights", 3: "bias", 5: "initial_h"}),
    ("RNN", {1: "weights", 2: "recurrent_weights", 3: "bias", 5: "initial_h"}),
    ("Gather", {1: "indices"}),
    ("Scatter", {1: "indices", 2: "updates"}),
    ("Where", {0: "condition"}),
    ("QuantizeLinear", {1: "scale", 2: "zero_point"}),
    ("Add", {1: "summand"}),
    ("Mul", {1: "factor"}),
)
#: Constants that kernels add to those of the graph, by the last part of their name.
_ADDED = {"moved": "initial_sums", "outside": "padding"}
#: Longest line of an emitted file, in characters.
WIDTH = 120
_PLACEHOLDER = re.compile(r"\b(?:in|out|arg)\d+\b")
_LOOP = re.compile(r"^( *)for \(.*\{$")


def parameter_names(
    inputs: Sequence[gs.Tensor], outputs: Sequence[gs.Tensor], roles: Mapping[str, str], body: str
) -> dict[str, str]:
    """Placeholder (``in0``, ``out0``, ``arg0``) -> a name that ``body`` does not use otherwise. ``roles``: what the
    numbers among the parameters are."""
    wanted = {f"in{position}": _role(tensor, position) for position, tensor in enumerate(inputs)}
    wanted |= {f"out{position}": "output" for position in range(len(outputs))}
    wanted |= roles
    taken = set(re.findall(r"[A-Za-z_]\w*", body))
    names = {}
    for placeholder, name in wanted.items():
        free = (name, *(f"{name}_{number}" for number in range(2, len(wanted) + len(taken) + 3)))
        names[placeholder] = next(text for text in free if text not in taken)
        taken.add(names[placeholder])
    return names


def _role(tensor: gs.Tensor, position: int) -> str:
    if not tensor.outputs and (added := _ADDED.get(tensor.name.rsplit("/", 1)[-1])):
        return added
    found = [role for node in tensor.outputs for role in _of_operator(node, tensor)]
    constant = not tensor.inputs and hasattr(tensor, "values")
    return next((role for role in found if role != "input"), "input") if position or constant else "input"


def _of_operator(node: gs.Node, tensor: gs.Tensor) -> Iterator[str]:
    """What the operator calls the tensor, for each time that it reads it."""
    known = next((roles for part, roles in _ROLES if part in node.op), {})
    for place, other in enumerate(node.inputs):
        if other is tensor:
            yield known.get(place, "input")


def named(definition: str, names: Mapping[str, str]) -> str:
    """The C of a kernel with these names; lines that become too long are broken."""
    text = _PLACEHOLDER.sub(lambda found: names.get(found[0], found[0]), definition)
    return "\n".join(
        line if len(line) <= WIDTH or line.lstrip().startswith(("/*", "*", "#")) else _split(line)
        for line in text.split("\n")
    )


def _split(line: str) -> str:
    margin = " " * (len(line) - len(line.lstrip()))
    lines = textwrap.wrap(line.strip(), WIDTH - len(margin) - 4, break_long_words=False, break_on_hyphens=False)
    return f"\n{margin}    ".join([f"{margin}{lines[0]}", *lines[1:]])


def yielding(body: str) -> str:
    """The body with a call of ``MATCH_YIELD`` in the loops that may take long: outermost ones around another, and those
    in them around three more."""
    lines = body.split("\n")
    loops = [(number, len(found[1])) for number, line in enumerate(lines) if (found := _LOOP.match(line))]
    for place, (number, indent) in reversed(list(enumerate(loops))):
        inner, outer = _nested(loops[place + 1 :], indent), _outer(loops[:place], indent)
        if outer <= 1 and inner >= (3 if outer else 1):
            lines.insert(number + 1, f"{' ' * (indent + 4)}MATCH_YIELD();")
    return "\n".join(lines)


def _outer(before: Sequence[tuple[int, int]], indent: int) -> int:
    """How many loops there are around one at this indentation, given the loops before it."""
    count = 0
    for _, other in reversed(before):
        if other < indent:
            count, indent = count + 1, other
    return count


def _nested(behind: Sequence[tuple[int, int]], indent: int) -> int:
    """How many loops there are one in another in a loop at this indentation, given the loops behind it."""
    depth, stack = 0, [indent]
    for _, other in behind:
        if other <= indent:
            break
        while stack[-1] >= other:
            stack.pop()
        stack.append(other)
        depth = max(depth, len(stack) - 1)
    return depth
