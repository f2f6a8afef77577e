"""From the text of a network to ONNX."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import onnx
from match_core.contract.errors import ModelError
from match_core.contract.model import IR_VERSION, OPSET
from onnx import TensorProto, helper, numpy_helper

_ACTIVATIONS = {"relu": "Relu", "tanh": "Tanh", "sigmoid": "Sigmoid", "softmax": "Softmax"}
_INPUT = re.compile(r"input (?P<name>[A-Za-z_]\w*) (?P<batch>\d+)x(?P<size>\d+)")
_DENSE = re.compile(rf"dense (?P<size>\d+)(?: (?P<activation>{'|'.join(_ACTIVATIONS)}))?(?: seed (?P<seed>\d+))?")
#: No layer is wider: a damaged number must not take all memory.
_WIDEST = 4096


def textnet_to_onnx(content: bytes, source: str) -> onnx.ModelProto:
    """The network as ONNX. ModelError MATCH-F002 with the number of the line where the text cannot be read."""
    lines = _lines(content, source)
    number, head = next(lines)
    if head != "match-textnet 1":
        raise _damaged(source, number, f"{head!r} is not 'match-textnet 1'")
    number, text = next(lines, (number, "the end of the file"))
    given = _INPUT.fullmatch(text)
    if given is None:
        raise _damaged(source, number, f"'input NAME BATCHxSIZE' is expected, not {text!r}")
    batch, size = (_size(given[key], source, number) for key in ("batch", "size"))
    inputs = [helper.make_tensor_value_info(given["name"], TensorProto.FLOAT, [batch, size])]
    nodes: list[onnx.NodeProto] = []
    weights: list[onnx.TensorProto] = []
    current = given["name"]
    for number, text in lines:
        layer = _DENSE.fullmatch(text)
        if layer is None:
            raise _damaged(source, number, f"'dense SIZE [ACTIVATION] [seed NUMBER]' is expected, not {text!r}")
        name, outputs = f"dense.{number}", _size(layer["size"], source, number)
        random = np.random.default_rng(int(layer["seed"] or 0))
        scaled = random.standard_normal((size, outputs)) / np.sqrt(size)
        weights.append(numpy_helper.from_array(scaled.astype(np.float32), f"{name}.weight"))
        weights.append(numpy_helper.from_array(random.standard_normal(outputs).astype(np.float32), f"{name}.bias"))
        nodes.append(helper.make_node("Gemm", [current, f"{name}.weight", f"{name}.bias"], [name], name))
        if layer["activation"]:
            nodes.append(helper.make_node(_ACTIVATIONS[layer["activation"]], [name], [f"{name}.out"], f"{name}.act"))
        current, size = nodes[-1].output[0], outputs
    if not nodes:
        raise _damaged(source, number, "the network has no layer")
    outputs_ = [helper.make_tensor_value_info(current, TensorProto.FLOAT, [batch, size])]
    graph = helper.make_graph(nodes, "textnet", inputs, outputs_, weights)
    opset = [helper.make_opsetid("", OPSET)]
    return helper.make_model(graph, opset_imports=opset, ir_version=IR_VERSION, producer_name="textnet")


def _lines(content: bytes, source: str) -> Iterator[tuple[int, str]]:
    """Numbers and words of the lines that hold something besides comments."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _damaged(source, content.count(b"\n", 0, error.start) + 1, "it is not UTF-8") from error
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.partition("#")[0].split()
        if words:
            yield number, " ".join(words)


def _size(text: str, source: str, line: int) -> int:
    if not 1 <= len(text) <= 4 or not 1 <= int(text) <= _WIDEST:
        raise _damaged(source, line, f"{text} is not a size from 1 to {_WIDEST}")
    return int(text)


def _damaged(source: str, line: int, why: str) -> ModelError:
    return ModelError(
        code="MATCH-F002",
        what="cannot read the model",
        where=f"{source}, line {line}",
        why=why,
        help=("repair the line; README.md of match-textnet describes the format",),
    )
