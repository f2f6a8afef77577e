"""Models that are wrong in one way each, made here with a fixed seed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tests.end_to_end.models import QdqBuilder

Shape = tuple[int | str, ...]


def save(
    path: Path,
    nodes: list[onnx.NodeProto],
    shape: Shape,
    result: Shape,
    constants: list[onnx.TensorProto] | None = None,
    domains: tuple[str, ...] = (),
) -> Path:
    """A float model from ``x`` of ``shape`` to ``y`` of ``result``."""
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, result)],
        constants or [],
    )
    opsets = [helper.make_opsetid("", 17), *(helper.make_opsetid(domain, 1) for domain in domains)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), str(path))
    return path


def relu(path: Path, shape: Shape = (1, 8)) -> Path:
    """One ReLU, which every target runs on its host."""
    return save(path, [helper.make_node("Relu", ["x"], ["y"], name="activation")], shape, shape)


def picture(path: Path) -> Path:
    """A file that is no ONNX at all: the start of a PNG picture."""
    path.write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(200)))
    return path


def truncated(path: Path) -> Path:
    """A valid model of which the second half is missing."""
    whole = QdqBuilder(11, 3, 8, 8).conv(8, 3).save(path).read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    return path


def many_samples(path: Path) -> Path:
    """A convolution whose graph input holds more samples than are taken."""
    weight = numpy_helper.from_array(np.ones((4, 3, 3, 3), np.float32), "w")
    node = helper.make_node("Conv", ["x", "w"], ["y"], name="conv", kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    return save(path, [node], (65, 3, 8, 8), (65, 4, 8, 8), [weight])


def training_dropout(path: Path) -> Path:
    """A standard operator in a mode that no unit runs: it drops elements at random."""
    nodes = [
        helper.make_node("Dropout", ["x", "ratio", "training"], ["values"], name="matrix/drop"),
        helper.make_node("Relu", ["values"], ["y"], name="activation"),
    ]
    constants = [
        numpy_helper.from_array(np.array(0.5, np.float32), "ratio"),
        numpy_helper.from_array(np.array(True), "training"),
    ]
    return save(path, nodes, (1, 8), (1, 8), constants)


def foreign(path: Path) -> Path:
    """An operator of a domain that nobody knows."""
    node = helper.make_node("Frobnicate", ["x"], ["y"], name="layer/frob", domain="com.acme")
    return save(path, [node], (1, 8), (1, 8), domains=("com.acme",))


def wide_requantisation(path: Path) -> Path:
    """QuantLib's requantisation to 16 bits."""
    constants = [numpy_helper.from_array(np.float32(value), name) for name, value in (("mul", 3), ("add", 0))]
    attributes = {"div": 256, "n_levels": 65536, "signed": 1}
    node = helper.make_node("RequantShift", ["x", "mul", "add"], ["y"], name="layer/requant", **attributes)
    return save(path, [node], (1, 8), (1, 8), constants)


def endless_loop(path: Path) -> Path:
    """A loop that data end, without a trip count, whose rows nobody states."""
    row, truth = (TensorProto.FLOAT, (1, 8)), (TensorProto.BOOL, ())
    kinds = {"step": (TensorProto.INT64, ()), "go": truth, "state": row, "going": truth, "next": row}
    infos = {name: helper.make_tensor_value_info(name, *kind) for name, kind in kinds.items()}
    nodes = [
        helper.make_node("Sin", ["state"], ["next"]),
        helper.make_node("ReduceSum", ["next"], ["sum"], keepdims=0),
        helper.make_node("Greater", ["sum", "limit"], ["going"]),
    ]
    inputs, outputs = ([infos[n] for n in names] for names in (("step", "go", "state"), ("going", "next")))
    limit = numpy_helper.from_array(np.array(0.1, np.float32), "limit")
    body = helper.make_graph(nodes, "body", inputs, outputs, [limit])
    start = numpy_helper.from_array(np.array(True), "start")
    loop = helper.make_node("Loop", ["", "start", "x"], ["y"], name="choice", body=body)
    return save(path, [loop], (1, 8), (1, 8), [start])


def data_dependent(path: Path) -> Path:
    """The number of non-zero elements is known only when the model runs."""
    nodes = [
        helper.make_node("NonZero", ["x"], ["places"], name="nonzero"),
        helper.make_node("Cast", ["places"], ["y"], name="cast", to=TensorProto.FLOAT),
    ]
    return save(path, nodes, (1, 8), (2, "count"))


def words(path: Path) -> Path:
    """Strings instead of numbers."""
    graph = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["y"])],
        "net",
        [helper.make_tensor_value_info("x", TensorProto.STRING, (1, 8))],
        [helper.make_tensor_value_info("y", TensorProto.STRING, (1, 8))],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
    return path


def constant_output(path: Path) -> Path:
    """A second output that is a constant: nothing computes it."""
    model = onnx.load(str(relu(path)))
    model.graph.initializer.append(numpy_helper.from_array(np.ones(3, np.float32), "table"))
    model.graph.output.append(helper.make_tensor_value_info("table", TensorProto.FLOAT, (3,)))
    onnx.save(model, str(path))
    return path


def unknown_opset(path: Path) -> Path:
    """An opset that nobody has written yet."""
    model = onnx.load(str(relu(path)))
    model.opset_import[0].version = 29
    onnx.save(model, str(path))
    return path


def cycle(path: Path) -> Path:
    """Two nodes that each read the other's result: ONNX by its bytes, not by its rules."""
    nodes = [
        helper.make_node("Add", ["x", "b"], ["a"], name="first"),
        helper.make_node("Relu", ["a"], ["b"], name="second"),
        helper.make_node("Relu", ["b"], ["y"], name="third"),
    ]
    return save(path, nodes, (1, 8), (1, 8))


def contradictory(path: Path) -> Path:
    """A matrix product of sizes that do not fit."""
    weight = numpy_helper.from_array(np.ones((7, 3), np.float32), "w")
    return save(path, [helper.make_node("MatMul", ["x", "w"], ["y"], name="dense")], (1, 8), (1, 3), [weight])


def endless_function(path: Path) -> Path:
    """A local function that calls itself."""
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    call = helper.make_node("Again", ["x"], ["y"], name="call", domain="own")
    model = onnx.load(str(save(path, [call], (1, 8), (1, 8), domains=("own",))))
    model.functions.append(helper.make_function("own", "Again", ["x"], ["y"], [call], opsets))
    onnx.save(model, str(path))
    return path


def too_large(path: Path) -> Path:
    """Two convolutions on 256x256 pixels: 2 MiB between them, more than the chip's L2."""
    return QdqBuilder(13, 3, 256, 256).conv(32, 3).conv(8, 3).save(path)


def too_large_to_divide(path: Path) -> Path:
    """Functions of a whole row of 2 MiB, which has no rows of an image."""
    nodes = [
        helper.make_node("Softmax", ["x"], ["z"], "softmax"),
        helper.make_node("Expand", ["z", "size"], ["row"], "widen"),
        helper.make_node("Softmax", ["row"], ["wide"], "softmax_wide"),
        helper.make_node("ReduceMax", ["wide"], ["y"], "most", axes=[1]),
    ]
    size = helper.make_tensor("size", TensorProto.INT64, [2], [1, 1 << 19])
    return save(path, nodes, (1, 1), (1, 1), [size])


def too_many_weights(path: Path) -> Path:
    """2.25 MiB of weights."""
    return QdqBuilder(14, 512, 4, 4).conv(512, 3).save(path)


def external(path: Path, location: str) -> Path:
    """A model whose weights are in another file, named by ``location``."""
    weight = onnx.TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[8, 8])
    weight.data_location = TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", "0"), ("length", "256")):
        weight.external_data.append(onnx.StringStringEntryProto(key=key, value=value))
    return save(path, [helper.make_node("MatMul", ["x", "w"], ["y"], name="dense")], (1, 8), (1, 8), [weight])


def short_weights(path: Path) -> Path:
    """The file of weights was cut off."""
    (path.parent / "weights.bin").write_bytes(bytes(100))
    return external(path, "weights.bin")


def deep_functions(path: Path) -> Path:
    """Local functions that call each other 200 deep."""
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    functions = []
    for index in range(200):
        called = ("Neg", "") if index == 199 else (f"f{index + 1}", "own")
        node = helper.make_node(called[0], ["a"], ["b"], domain=called[1])
        functions.append(helper.make_function("own", f"f{index}", ["a"], ["b"], [node], imports))
    save(path, [helper.make_node("f0", ["x"], ["y"], name="call", domain="own")], (1, 8), (1, 8), domains=("own",))
    model = onnx.load(str(path))
    model.functions.extend(functions)
    onnx.save(model, str(path))
    return path


def long_loop(path: Path) -> Path:
    """A loop of a million steps that are not constant."""
    scalar, truth = ((), TensorProto.INT64), ((), TensorProto.BOOL)
    row = ((1, 8), TensorProto.FLOAT)
    kinds = {"step": scalar, "go": truth, "state": row, "going": truth, "next": row}
    infos = {name: helper.make_tensor_value_info(name, kind, shape) for name, (shape, kind) in kinds.items()}
    nodes = [helper.make_node("Identity", ["go"], ["going"]), helper.make_node("Sin", ["state"], ["next"])]
    inputs, outputs = ([infos[n] for n in names] for names in (("step", "go", "state"), ("going", "next")))
    body = helper.make_graph(nodes, "body", inputs, outputs)
    constants = [
        numpy_helper.from_array(np.array(10**6, np.int64), "trips"),
        numpy_helper.from_array(np.array(True), "start"),
    ]
    loop = helper.make_node("Loop", ["trips", "start", "x"], ["y"], name="loop", body=body)
    return save(path, [loop], (1, 8), (1, 8), constants)


def broadcast_gemm(path: Path) -> Path:
    """A Gemm of opset 6 whose first operand is no matrix, which the checker of that opset lets pass."""
    weight = numpy_helper.from_array(np.ones((8, 8), np.float32), "w")
    addend = numpy_helper.from_array(np.ones((8,), np.float32), "c")
    node = helper.make_node("Gemm", ["x", "w", "c"], ["y"], name="dense", broadcast=1)
    save(path, [node], (1, 1, 8), (1, 8), [weight, addend])
    model = onnx.load(str(path))
    model.opset_import[0].version = 6
    onnx.save(model, str(path))
    return path


def wide_convolution(path: Path) -> Path:
    """A convolution of float64, which ONNX Runtime does not have."""
    weight = numpy_helper.from_array(np.ones((1, 1, 3)), "w")
    nodes = [
        helper.make_node("Unsqueeze", ["x", "axes"], ["u"], name="up"),
        helper.make_node("Conv", ["u", "w"], ["y"], name="wide"),
    ]
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.DOUBLE, (1, 8))],
        [helper.make_tensor_value_info("y", TensorProto.DOUBLE, (1, 1, 6))],
        [weight, numpy_helper.from_array(np.array([1]), "axes")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
    return path


def random_numbers(path: Path) -> Path:
    """An operator whose results no standard fixes."""
    return save(path, [helper.make_node("RandomUniformLike", ["x"], ["y"], name="noise")], (1, 8), (1, 8))


def chain(path: Path, *operators: str) -> Path:
    """Operators one after the other."""
    names = ["x", *(f"t{index}" for index in range(len(operators) - 1)), "y"]
    nodes = [
        helper.make_node(operator, [names[index]], [names[index + 1]], name=operator.lower())
        for index, operator in enumerate(operators)
    ]
    return save(path, nodes, (1, 8), (1, 8))


def two_inputs(path: Path) -> Path:
    """A sum of two inputs."""
    save(path, [helper.make_node("Add", ["x", "z"], ["y"], name="sum")], (1, 8), (1, 8))
    model = onnx.load(str(path))
    model.graph.input.append(helper.make_tensor_value_info("z", TensorProto.FLOAT, (1, 8)))
    onnx.save(model, str(path))
    return path


#: Names that strangers could choose, to break out of comments, paths, templates and messages.
HOSTILE = (
    "*/ int injected; /*",
    'quote"; int injected; //',
    "line\nint injected;\n",
    "back\\\nint injected;",
    "../../etc/passwd",
    "${injected} % for x in y:",
    "??/\nint injected;",
    "int",
    "\x1b[31minjected\x1b[0m",
    "名前",
    "long" * 2000,
)


def hostile(path: Path) -> Path:
    """A quantised network whose node, tensor, graph and file names are all hostile."""
    builder = QdqBuilder(15, 4, 9, 7)
    for index, _ in enumerate(HOSTILE[:6]):
        builder.conv(8 if index % 2 else 6, 3 if index % 3 else 1, relu=bool(index % 2))
    builder.save(path)
    model = onnx.load(str(path))
    names = [*HOSTILE, *(f"{name}{index}" for index, name in enumerate(HOSTILE * 20))]
    renamed: dict[str, str] = {}

    def rename(name: str) -> str:
        if name and name not in renamed:
            renamed[name] = names[len(renamed)]
        return renamed.get(name, name)

    for node in model.graph.node:
        node.input[:] = [rename(name) for name in node.input]
        node.output[:] = [rename(name) for name in node.output]
    for index, node in enumerate(model.graph.node):
        node.name = names[index]
        node.doc_string = HOSTILE[0]
    for tensor in (*model.graph.initializer, *model.graph.input, *model.graph.output):
        tensor.name = rename(tensor.name)
    del model.graph.value_info[:]
    model.graph.name = HOSTILE[0]
    model.producer_name = HOSTILE[2]
    onnx.checker.check_model(model)
    onnx.save(model, str(path))
    return path
