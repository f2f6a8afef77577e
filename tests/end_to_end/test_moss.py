"""The example package match-moss, installed by pip: a convolution engine with resident weights."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from match_kit.testing import samples
from onnx import TensorProto, helper, numpy_helper

from tests.conftest import ROOT, SHARED_MODELS
from tests.envelope import opened
from tests.examples_packages.test_examples import EXAMPLES, Site

PACKAGE = EXAMPLES / "match-moss"
BOARD = ROOT / "examples" / "boards" / "ita_moss.toml"


@pytest.fixture(scope="module")
def moss(tmp_path_factory: pytest.TempPathFactory) -> Site:
    site = Site(tmp_path_factory.mktemp("moss"))
    site.install("match-moss")
    return site


def _lines(*patterns: str) -> int:
    return sum(len(f.read_text("utf-8").splitlines()) for pattern in patterns for f in PACKAGE.glob(pattern))


def test_the_package_is_small() -> None:
    assert 0 < _lines("src/**/*.py", "tests/*.py") <= 300
    assert 0 < _lines("src/**/*.[ch]") <= 250


class Int8Network:
    """A QDQ network with zero points of 0. Scales of results use the range of 8 bits."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.scales: dict[str, float] = {}

    def _constant(self, values: Any, name: str) -> str:
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def add(self, op: str, inputs: list[str], name: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def _scale(self, tensor: str) -> list[str]:
        scale, zero = np.float32(self.scales[tensor]), np.int8(0)
        count = len(self.constants)
        return [self._constant(scale, f"s{count}"), self._constant(zero, f"z{count}")]

    def real(self, tensor: str) -> str:
        return self.add("DequantizeLinear", [tensor, *self._scale(tensor)], f"d{len(self.nodes)}")

    def stored(self, real: str, name: str, scale: float) -> str:
        self.scales[name] = scale
        return self.add("QuantizeLinear", [real, *self._scale(name)], name)

    def _weight(self, shape: Sequence[int]) -> str:
        name = f"w{len(self.constants)}"
        self._constant(self.random.integers(-127, 128, shape).astype(np.int8), name)
        self.scales[name] = 0.01
        return self.real(name)

    def layer(self, x: str, name: str, shape: Sequence[int], relu: bool = True, **attributes: Any) -> str:
        """A convolution (weights of four axes) or a product (two)."""
        product = self.add(
            "Conv" if len(shape) == 4 else "MatMul", [self.real(x), self._weight(shape)], f"{name}_p", **attributes
        )
        terms = int(np.prod(shape[1:])) if len(shape) == 4 else shape[0]
        real = self.add("Relu", [product], f"{name}_r") if relu else product
        return self.stored(real, name, self.scales[x] * 0.73 * np.sqrt(terms) * 1.2)

    def model(self, inputs: dict[str, Sequence[int]], outputs: dict[str, Sequence[int]]) -> onnx.ModelProto:
        ends = [
            [helper.make_tensor_value_info(name, TensorProto.INT8, shape) for name, shape in side.items()]
            for side in (inputs, outputs)
        ]
        graph = helper.make_graph(self.nodes, "net", *ends, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        onnx.checker.check_model(model, full_check=True)
        return model


def _everything(path: Path) -> Path:
    """What the engine takes: stride 2 with uneven padding and without, pooling in front, channels that fill no group of
    four, a sum with a ReLU, a dense layer."""
    net = Int8Network(7)
    net.scales["image"] = 0.05
    a = net.layer("image", "a", (6, 5, 3, 3), kernel_shape=[3, 3], pads=[0, 0, 1, 1], strides=[2, 2])
    pooled = net.add("MaxPool", [net.real(a)], "pool", kernel_shape=[2, 2], strides=[2, 2])
    p = net.stored(pooled, "p", net.scales[a])
    b = net.layer(p, "b", (6, 6, 3, 3), kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    c = net.layer(b, "c", (6, 6, 1, 1), relu=False, kernel_shape=[1, 1])
    total = net.add("Add", [net.real(b), net.real(c)], "total")
    s = net.stored(net.add("Relu", [total], "total_r"), "s", net.scales[b] + net.scales[c])
    e = net.layer(s, "e", (9, 6, 3, 3), kernel_shape=[3, 3], strides=[2, 2])
    flat = net.stored(net.add("Flatten", [net.real(e)], "flat"), "f", net.scales[e])
    y = net.layer(flat, "y", (9, 10), relu=False)
    onnx.save(net.model({"image": (1, 5, 16, 16)}, {y: (1, 10)}), path)
    return path


@pytest.mark.parametrize("options", [(), ("--mode", "lazy")])
def test_everything_that_the_engine_takes(moss: Site, tmp_path: Path, options: tuple[str, ...]) -> None:
    model = _everything(tmp_path / "net.onnx")
    found = opened(moss.run("verify", model, "-t", "moss", "--accept-loss", "--json", *options).stdout)
    assert found["bit_exact"] and found["cycles"]["total"] == found["predicted_cycles"]
    units = {name: node["unit"] for node in found["nodes"] for name in node["onnx_names"]}
    products = {f"{name}_p" for name in "abcey"} | {"pool", "total"}
    assert {name: units[name] for name in products if units[name] != "moss_conv"} == {}


#: Modelled cycles, and the bytes of biases that the engine holds, of 2,048.
NETWORKS = {"autoencoder": (661_864, 2_048), "dscnn": (4_522_508, 1_072), "resnet8": (500_652, 1_396)}


@pytest.mark.parametrize("network", NETWORKS)
def test_networks_run_on_the_engine_bit_exact(moss: Site, network: str) -> None:
    path = SHARED_MODELS / f"mlperf_{network}_int8_qdq" / "model.onnx"
    if not path.is_file():
        pytest.skip("../shared/models is not there")
    found = moss.verified(path, "moss")
    cycles, biases = NETWORKS[network]
    assert found["ok"] and found["bit_exact"]
    assert found["cycles"]["total"] == found["predicted_cycles"] <= cycles
    memory = found["memory"]
    assert memory["moss_biases"]["used"] == biases
    assert all(use["used"] <= use["available"] for use in memory.values())


def test_a_layer_without_room_says_so(moss: Site, tmp_path: Path) -> None:
    """810 biases of 4 bytes, room for 512: the first layer costs least on the host for what it holds."""
    onnx.save(samples.dense("wide", (64, 300, 300, 200, 10)).make(), tmp_path / "wide.onnx")
    found = opened(moss.run("check", tmp_path / "wide.onnx", "-t", "moss", "--json").stdout)
    (fallback,) = found["fallbacks"]
    assert (fallback["cause"], fallback["unit"]) == ("memory", "moss_conv")
    assert fallback["rule"] == "what moss_conv would hold for it fits moss_biases"
    assert fallback["value"] == "it is 1200 bytes, and others leave 8"
    assert fallback["onnx_names"][0] == "gemm3"


def two_branches(path: Path) -> Path:
    """Convolutions of an image, and products of rows."""
    net = Int8Network(3)
    net.scales.update(image=0.05, rows=0.05)
    image, rows = "image", "rows"
    for number, channels in enumerate((16, 32, 32)):
        image = net.layer(image, f"c{number}", (32, channels, 3, 3), kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    for number in range(4):
        rows = net.layer(rows, f"m{number}", (128, 128), relu=False)
    model = net.model({"image": (1, 16, 16, 16), "rows": (64, 128)}, {image: (1, 32, 16, 16), rows: (64, 128)})
    onnx.save(model, path)
    return path


def test_tiles_and_regions_of_two_packages_run_at_the_same_time(moss: Site, tmp_path: Path) -> None:
    """ITA's cluster computes tiles while the engine computes a region, in one program."""
    model = two_branches(tmp_path / "two.onnx")
    found = opened(moss.run("verify", model, "-t", BOARD, "--concurrent", "--json").stdout)
    assert found["ok"] and found["bit_exact"]
    assert {"ita", "moss_conv"} <= {node["unit"] for node in found["nodes"]}
    assert {"host", "ita"} <= {queue["name"] for queue in found["queues"]}  # the host waits for the engine
    assert max(found["bounds"].values()) <= found["predicted_cycles"] < found["sequential_cycles"]
    assert found["cycles"]["total"] < min(found["sequential_cycles"], sum(found["cycles"]["units"].values()))
