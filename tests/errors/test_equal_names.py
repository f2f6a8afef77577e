"""Names that become equal as C identifiers get distinct ones, and the program computes what the model says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import onnx
import pytest
from match_core.contract.hardware import Memory, Soc
from match_core.emit.manifest import NAME
from match_core.emit.memory_views import arena_field
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_core.run.compiled_program import run_program
from onnx import TensorProto, helper

from tests.errors.models import HOSTILE

#: Equal as identifiers; names that clashes get; names that C, the program or the order of inputs takes.
INPUTS = ("input_2", "a b", "a-b", "a_b", "a.b", "input_5", "input_3", "A_B", "input", "int", "int_", "__", "")
OUTPUTS = ("output_1", "y/0", "y_0", "y:0", "output_3", "state", "ctx", "in", "arena", "run", "init", "net_run", "名")


def _model(path: Path) -> None:
    """Each output is its input plus its number, through nodes whose names are alike too."""
    inputs = [name or "x" for name in INPUTS]
    nodes = [
        helper.make_node("Add", [given, f"c{number}"], [made], name=re.sub(r"\W", "-_."[number % 3], made))
        for number, (given, made) in enumerate(zip(inputs, OUTPUTS, strict=True))
    ]
    infos = [
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, (1, 4)) for n in names] for names in (inputs, OUTPUTS)
    ]
    constants = [onnx.numpy_helper.from_array(np.float32([n]), f"c{n}") for n in range(len(nodes))]
    graph = helper.make_graph(nodes, "net", *infos, constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))


@pytest.mark.parametrize("target", ["host", "gap9"])
def test_names_that_are_alike(target: str, tmp_path: Path, plugins: Plugins) -> None:
    _model(tmp_path / "a b.onnx")
    compile_model(CompileRequest(tmp_path / "a b.onnx", target, tmp_path / "out"), plugins)
    manifest = json.loads((tmp_path / "out" / NAME).read_text(encoding="utf-8"))
    for kind, names in (("inputs", [name or "x" for name in INPUTS]), ("outputs", OUTPUTS)):
        assert [tensor["name"] for tensor in manifest[kind]] == list(names)
        fields = [tensor["field"] for tensor in manifest[kind]]
        assert len(set(fields)) == len(fields), fields
        assert all(re.fullmatch(r"[A-Za-z]\w*", field, re.ASCII) for field in fields)
    arrays = {name or "x": np.full((1, 4), number * 100, np.float32) for number, name in enumerate(INPUTS)}
    made = run_program(tmp_path / "out", arrays, plugins, sanitize=True).outputs
    assert {name: float(made[name].flat[0]) for name in made} == {n: 101.0 * i for i, n in enumerate(OUTPUTS)}


@pytest.mark.parametrize("names", [("a-b", "a_b"), ("x" * 300 + "1", "x" * 300 + "2"), (HOSTILE[0], HOSTILE[1])])
def test_two_models_in_one_application(names: tuple[str, str], tmp_path: Path, plugins: Plugins) -> None:
    """Their files say which model they are of; long names stay apart, and ``--name`` tells short ones apart."""
    _model(tmp_path / "model.onnx")
    from match_core.ir.program_name import program_name

    first, second = map(program_name, names)
    assert re.fullmatch(r"[A-Za-z]\w*", first, re.ASCII) and len(first) < 120
    if first == second:
        request = CompileRequest(tmp_path / "model.onnx", "host", tmp_path / "out", name=f"{second}2")
        compile_model(request, plugins)
        assert (tmp_path / "out" / f"{first}2.h").is_file()


def test_memories_whose_parts_have_the_name_of_another() -> None:
    """A store keeps its name for constants; its arena is neither that nor another memory."""
    memories = tuple(Memory(name, 2, 1024) for name in ("l2", "l3", "l3_data", "l3_data_"))
    soc = Soc("chip", "", "host", ("host",), memories, (), "l2", store="l3")
    fields = [arena_field(soc, memory.name) for memory in memories]
    assert len({*fields, "l3"}) == len(fields) + 1 and fields[1] == "l3_data__"
