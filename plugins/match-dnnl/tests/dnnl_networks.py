"""Networks of single operators, compiled through match for the target and run on the twin."""

from __future__ import annotations

import ctypes.util
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, VerifyResult, verify_model
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

HEADERS = (Path("/usr/include/oneapi/dnnl/dnnl.h"), Path("/usr/include/cjson/cJSON.h"))


def need_library() -> None:
    """Skip where oneDNN or cJSON is not installed; on a CI machine that is a failure."""
    missing = [str(path) for path in HEADERS if not path.exists()]
    missing += [f"lib{name}" for name in ("dnnl", "cjson") if ctypes.util.find_library(name) is None]
    if not missing:
        return
    reason = f"apt install libdnnl-dev libcjson-dev: there is no {', '.join(missing)}"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@dataclass
class Network:
    """Cases side by side in one model: each has inputs and one output of its own, whose name is the case's."""

    opset: int = 21
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)
    inputs: list[onnx.ValueInfoProto] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    _random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(3))

    def input(self, *shape: int) -> str:
        """A float input of the model."""
        name = f"x{len(self.inputs)}"
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        return name

    def floats(self, *shape: int, low: float = -1.0, high: float = 1.0) -> str:
        """A constant of seeded floats."""
        return self.constant(self._random.uniform(low, high, shape).astype(np.float32))

    def constant(self, values: NDArray[np.generic] | Sequence[int]) -> str:
        """A constant; lists are int64."""
        array = values if isinstance(values, np.ndarray) else np.asarray(values, np.int64)
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def node(self, op: str, inputs: Sequence[str], **attributes: Any) -> str:
        """A node whose result others read."""
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], name=name, **attributes))
        return name

    def case(self, name: str, op: str, inputs: Sequence[str], **attributes: Any) -> None:
        """A node whose result is the output of that name."""
        self.nodes.append(helper.make_node(op, list(inputs), [name], name=f"node_{name}", **attributes))
        self.outputs.append(name)

    def model(self) -> onnx.ModelProto:
        """All of it, with shapes inferred."""
        outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in self.outputs]
        graph = helper.make_graph(self.nodes, "cases", self.inputs, outputs, self.constants)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=10)
        return onnx.shape_inference.infer_shapes(made, strict_mode=True)


def verified(network: Network | onnx.ModelProto, directory: Path, **options: Any) -> VerifyResult:
    """Compiled, built with sanitizers, run on seeded samples and compared with ONNX Runtime."""
    need_library()
    path = directory / "network.onnx"
    model = network.model() if isinstance(network, Network) else network
    onnx.save(model, path)
    options.setdefault("sanitize", True)
    return verify_model(VerifyRequest(path, "dnnl", **options), Plugins.load())


def check_operators(network: Network, directory: Path, **options: Any) -> VerifyResult:
    """All cases on oneDNN, none on the host, each within the bound of ``match verify``."""
    result = verified(network, directory, without_units=("host",), **options)
    wrong = {o.name: (o.worst_difference, o.bound) for o in result.outputs if not o.within_bound}
    assert not wrong
    assert {output.name for output in result.outputs} == set(network.outputs)
    assert {task.assignment.candidate.unit for task in result.compilation.program.tasks} == {"dnnl"}
    return result
