"""What you have when you start: a float network with a dynamic batch, a folder of images, and their labels.

    python examples/demo/own_data.py FOLDER

writes ``net.onnx``, ``images/000.png`` ... and ``labels.npy``, made from the demo: its network with the weights as
floats and without quantisers, and its first test pictures. For docs/calibration.md. Needs pillow.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
from demo_data import TEST_IMAGES
from numpy.typing import NDArray
from onnx import numpy_helper
from PIL import Image

MODEL = Path(__file__).with_name("resnet8_shapes.onnx")
COUNT = 40


def main(folder: Path) -> None:
    """Write all three."""
    (folder / "images").mkdir(parents=True, exist_ok=True)
    onnx.save(float_network(onnx.load(str(MODEL))), str(folder / "net.onnx"))
    with np.load(TEST_IMAGES, allow_pickle=False) as archive:
        pictures, labels = archive["images_u8"][:COUNT], archive["labels"][:COUNT]
    for index, picture in enumerate(pictures):
        Image.fromarray(picture.transpose(1, 2, 0)).save(folder / "images" / f"{index:03}.png")
    np.save(folder / "labels.npy", labels.astype(np.int64))


def float_network(quantised: onnx.ModelProto) -> onnx.ModelProto:
    """The network without QuantizeLinear and DequantizeLinear, its weights as floats, its batch dynamic."""
    graph = quantised.graph
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    floats: dict[str, NDArray[np.float32]] = {}
    source: dict[str, str] = {}  # result of a quantiser -> the tensor that it rounds
    nodes: list[onnx.NodeProto] = []
    for node in graph.node:
        if node.op_type == "DequantizeLinear" and node.input[0] in constants:
            floats[node.output[0]] = _dequantised(node, *(constants[name] for name in node.input))
        elif node.op_type in ("QuantizeLinear", "DequantizeLinear"):
            source[node.output[0]] = source.get(node.input[0], node.input[0])
        else:
            nodes.append(node)
    renamed = {source[output.name]: output.name for output in graph.output}
    for node in nodes:
        inputs = [source.get(name, name) for name in node.input]
        for names, new in ((node.input, inputs), (node.output, list(node.output))):
            names[:] = [renamed.get(name, name) for name in new]
    ends = [*graph.input, *graph.output]
    for end in ends:
        end.type.tensor_type.shape.dim[0].dim_param = "batch"
    weights = [numpy_helper.from_array(values, name) for name, values in floats.items()]
    made = onnx.helper.make_graph(nodes, "shapes", list(graph.input), list(graph.output), weights)
    return onnx.helper.make_model(made, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)


def _dequantised(
    node: onnx.NodeProto, values: NDArray[np.generic], scale: NDArray[np.generic], zero: NDArray[np.generic]
) -> NDArray[np.float32]:
    axis = next((attribute.i for attribute in node.attribute if attribute.name == "axis"), 1)
    along = [-1 if index == axis else 1 for index in range(values.ndim)] if scale.ndim else []
    wide = values.astype(np.float64) - zero.astype(np.float64).reshape(along)
    return (wide * scale.astype(np.float64).reshape(along)).astype(np.float32)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python own_data.py FOLDER")
    main(Path(sys.argv[1]))
