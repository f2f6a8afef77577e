"""Random programs of nested branches and loops compute what ONNX Runtime computes; damaged ones are refused."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import onnx
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from match_core.contract.errors import ModelError
from match_core.load.load import model_from_proto
from match_verify.reference import ReferenceRunner
from onnx import TensorProto, helper

from tests.examples import examples

#: Shape of every tensor of floats.
SHAPE = (2, 2)
FLOATS = TensorProto.FLOAT


@dataclass
class Writer:
    """Writes bodies whose nodes read any tensor that is in sight; names are used once in the model."""

    draw: st.DrawFn
    constants: list[onnx.TensorProto] = field(default_factory=list)
    count: int = 0

    def name(self) -> str:
        self.count += 1
        return f"t{self.count}"

    def constant(self, values: np.ndarray) -> str:
        name = self.name()
        self.constants.append(onnx.numpy_helper.from_array(values, name))
        return name

    def any_of(self, names: list[str]) -> str:
        return self.draw(st.sampled_from(names))

    def nodes(self, seen: list[str], depth: int) -> tuple[list[onnx.NodeProto], list[str]]:
        """Some nodes that read tensors of ``seen``; what is in sight behind them."""
        nodes: list[onnx.NodeProto] = []
        seen = list(seen)
        for _ in range(self.draw(st.integers(1, 3))):
            kind = self.draw(st.sampled_from(["plain", "if", "loop", "scan"] if depth else ["plain"]))
            made = getattr(self, f"write_{kind}")(seen, depth)
            nodes.append(made[0])
            seen += made[1]
        return nodes, seen

    def write_plain(self, seen: list[str], depth: int) -> tuple[onnx.NodeProto, list[str]]:
        op, out = self.draw(st.sampled_from(["Add", "Sub", "Mul", "Max", "Neg", "Identity"])), self.name()
        inputs = [self.any_of(seen) for _ in range(1 if op in ("Neg", "Identity") else 2)]
        return helper.make_node(op, inputs, [out]), [out]

    def write_if(self, seen: list[str], depth: int) -> tuple[onnx.NodeProto, list[str]]:
        choice = self.draw(st.sampled_from(["flag", "true", "false"]))
        condition = "flag" if choice == "flag" else self.constant(np.array(choice == "true"))
        outs = [self.name(), self.name()]
        graphs = {}
        for branch in ("then_branch", "else_branch"):
            nodes, inner = self.nodes(seen, depth - 1)
            results = []
            for _ in outs:  # a branch's outputs are its own tensors
                results.append(self.name())
                nodes.append(helper.make_node("Identity", [self.any_of(inner)], [results[-1]]))
            values = [helper.make_tensor_value_info(name, FLOATS, SHAPE) for name in results]
            graphs[branch] = helper.make_graph(nodes, branch, [], values)
        return helper.make_node("If", [condition], outs, **graphs), outs

    def write_loop(self, seen: list[str], depth: int) -> tuple[onnx.NodeProto, list[str]]:
        trips = self.draw(st.integers(0, 3))
        count, go = self.constant(np.array(trips, np.int64)), self.constant(np.array(True))
        step, on, state = self.name(), self.name(), self.name()
        nodes, inner = self.nodes([*seen, state], depth - 1)
        more, result = self.name(), self.name()
        if self.draw(st.booleans()):
            nodes.append(helper.make_node("Less", [step, self.constant(np.array(1, np.int64))], [more]))
        else:
            nodes.append(helper.make_node("Identity", [on], [more]))
        nodes.append(helper.make_node("Identity", [self.any_of(inner)], [result]))
        body = helper.make_graph(
            nodes,
            "body",
            [
                helper.make_tensor_value_info(step, TensorProto.INT64, []),
                helper.make_tensor_value_info(on, TensorProto.BOOL, []),
                helper.make_tensor_value_info(state, FLOATS, SHAPE),
            ],
            [
                helper.make_tensor_value_info(more, TensorProto.BOOL, []),
                helper.make_tensor_value_info(result, FLOATS, SHAPE),
            ],
        )
        out = self.name()
        return helper.make_node("Loop", [count, go, self.any_of(seen)], [out], body=body), [out]

    def write_scan(self, seen: list[str], depth: int) -> tuple[onnx.NodeProto, list[str]]:
        """Over the rows or columns of a tensor, either way; every row that comes out is a row of a new tensor."""
        state, element, row = self.name(), self.name(), self.name()
        nodes, inner = self.nodes([*seen, state], depth - 1)
        result = self.name()
        nodes.append(helper.make_node("Add", [self.any_of(inner), element], [result]))
        nodes.append(helper.make_node("Neg", [element], [row]))
        line = SHAPE[1:]
        body = helper.make_graph(
            nodes,
            "body",
            [helper.make_tensor_value_info(state, FLOATS, SHAPE), helper.make_tensor_value_info(element, FLOATS, line)],
            [helper.make_tensor_value_info(result, FLOATS, SHAPE), helper.make_tensor_value_info(row, FLOATS, line)],
        )
        outs = [self.name(), self.name()]
        bits = [self.draw(st.integers(0, 1)) for _ in range(4)]
        attributes = dict(zip(_SCANNED, ([bit] for bit in bits), strict=True))
        inputs = [self.any_of(seen), self.any_of(seen)]
        return helper.make_node("Scan", inputs, outs, body=body, num_scan_inputs=1, **attributes), outs


_SCANNED = ("scan_input_axes", "scan_input_directions", "scan_output_axes", "scan_output_directions")


@st.composite
def programs(draw: st.DrawFn) -> onnx.ModelProto:
    writer = Writer(draw)
    nodes, seen = writer.nodes(["x", "z"], 3)
    outputs = [name for name in seen if name not in ("x", "z")][-2:]
    graph = helper.make_graph(
        nodes,
        "program",
        [
            helper.make_tensor_value_info("x", FLOATS, SHAPE),
            helper.make_tensor_value_info("z", FLOATS, SHAPE),
            helper.make_tensor_value_info("flag", TensorProto.BOOL, []),
        ],
        [helper.make_tensor_value_info(name, FLOATS, SHAPE) for name in outputs],
        writer.constants,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def subgraphs(graph: onnx.GraphProto) -> list[onnx.GraphProto]:
    """The graph and all graphs in it."""
    inner = [a.g for node in graph.node for a in node.attribute if a.HasField("g")]
    return [graph, *(found for one in inner for found in subgraphs(one))]


@st.composite
def damaged(draw: st.DrawFn) -> onnx.ModelProto:
    """A program in which something does not fit any more."""
    program = draw(programs())
    graph = draw(st.sampled_from(subgraphs(program.graph)))
    node = draw(st.sampled_from(list(graph.node)))
    names = [name for one in graph.node for name in (*one.input, *one.output)]
    kind = draw(st.sampled_from(["input", "fewer", "more", "output", "operator", "attribute", "ends"]))
    if kind == "input":
        node.input[draw(st.integers(0, len(node.input) - 1))] = draw(st.sampled_from([*names, ""]))
    elif kind == "fewer":
        del node.input[-1]
    elif kind == "more":
        node.input.append(draw(st.sampled_from(names)))
    elif kind == "output":
        del node.output[-1]
    elif kind == "operator":
        node.op_type = draw(st.sampled_from(["If", "Loop", "Scan", "SequenceAt", "SplitToSequence", "Range", "Concat"]))
    elif kind == "attribute" and node.attribute:
        attribute = draw(st.sampled_from(list(node.attribute)))
        attribute.i = draw(st.sampled_from([-(2**63), -1, 7]))
        if attribute.ints:
            attribute.ints[0] = attribute.i
    elif graph.output:
        del graph.output[-1]
    return program


@settings(
    max_examples=examples(120), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(damaged())
def test_damaged_programs_are_taken_or_refused_with_a_code(program: onnx.ModelProto) -> None:
    try:
        onnx.checker.check_model(program)
    except onnx.checker.ValidationError:
        return  # refused with MATCH-F003 when the file is read
    try:
        model_from_proto(program, "program", "program.onnx")
    except ModelError as error:
        assert error.code.startswith("MATCH-F")


@settings(
    max_examples=examples(120), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(programs(), st.booleans(), st.integers(0, 2**32 - 1))
def test_random_programs(program: onnx.ModelProto, flag: bool, seed: int) -> None:
    random = np.random.default_rng(seed)
    feeds = {name: random.standard_normal(SHAPE).astype(np.float32) for name in ("x", "z")}
    feeds["flag"] = np.array(flag)
    expected = ReferenceRunner(program).run(feeds)
    own = onnx.ModelProto()
    own.CopyFrom(program)
    model = model_from_proto(own, "program", "program.onnx")
    assert not {"If", "Loop", "Scan"} & {node.op for node in model.graph.nodes}
    got = ReferenceRunner(model).run(feeds)
    for name, values in expected.items():
        assert np.array_equal(values, got[name], equal_nan=True)
