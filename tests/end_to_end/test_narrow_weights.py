"""Weights of 2 and 4 bits from the file to the twin: what runs where, every bit, and the bytes of the constants."""

from __future__ import annotations

import re
from pathlib import Path

import onnx
import pytest
from match_core.contract.candidate import Candidate
from match_core.contract.unit_api import Kernel
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_gap9.emit import unit_api
from match_kit.testing import samples
from match_verify.verify import VerifyRequest, VerifyResult, verify_model
from onnx import TensorProto

from tests.end_to_end.narrow_weights import block_network, narrow_network, with_two_bits

#: Source nodes of the layers with weights, and the number of weights.
CONVOLUTIONS = {"c0": 32 * 16 * 9, "c1": 32 * 9, "c2": 64 * 32}


def verify(path: Path, target: str, plugins: Plugins, **options: object) -> VerifyResult:
    result = verify_model(VerifyRequest(path, target, **options), plugins)  # type: ignore[arg-type]
    assert result.ok
    return result


def candidates(result: VerifyResult, unit: str) -> dict[str, Candidate]:
    """Those that a unit runs, by the name of the source's layer."""
    return {
        node.name.split("_")[0]: assignment.candidate
        for assignment in result.compilation.mapping.assignments
        for node in assignment.candidate.match.nodes
        if node.op in ("ConvInteger", "MatMulInteger") and assignment.candidate.unit == unit
    }


def weight_bytes(candidate: Candidate) -> int:
    """Bytes of the weights that the program stores for a kernel of NE16."""
    kernel = unit_api("ne16").kernels[candidate.pattern.name]
    assert isinstance(kernel, Kernel)
    return kernel.pack(candidate.match, candidate.workload)["weight"].nbytes


@pytest.mark.parametrize(("kind", "per_channel"), [("int4", True), ("uint4", False), ("int2", False), ("uint2", True)])
def test_ne16_reads_packed_weights(kind: str, per_channel: bool, plugins: Plugins, tmp_path: Path) -> None:
    path = narrow_network(tmp_path / "net.onnx", kind, per_channel)
    result = verify(path, "gap9", plugins)
    assert result.bit_exact
    on_ne16 = candidates(result, "ne16")
    assert set(on_ne16) == set(CONVOLUTIONS)
    bits = int(kind[-1])
    for name, count in CONVOLUTIONS.items():
        assert on_ne16[name].workload.parameters["weight_bits"] == bits
        assert weight_bytes(on_ne16[name]) == count * bits // 8
    assert set(candidates(result, "cluster")) == {"mean", "dense"}
    if kind == "int4":
        assert _cycles(result) > _cycles(verify(narrow_network(tmp_path / "two.onnx", "int2"), "gap9", plugins))


def _cycles(result: VerifyResult) -> int:
    return sum(node.cycles for node in result.run.nodes)


@pytest.mark.parametrize("kind", ["int4", "uint2"])
def test_the_host_reads_narrow_weights(kind: str, plugins: Plugins, tmp_path: Path) -> None:
    path = narrow_network(tmp_path / "net.onnx", kind)
    result = verify(path, "host", plugins, sanitize=True)
    assert result.bit_exact
    assert set(candidates(result, "host")) == {*CONVOLUTIONS, "mean", "dense"}


def _constants(result: VerifyResult) -> int:
    """Bytes of all constants of a program."""
    return sum(use.constant_bytes for use in result.compilation.program.memory)


@pytest.mark.parametrize(
    ("kind", "form", "target"),
    [
        ("uint4", "qdq", "gap9"),
        ("uint4", "nbits", "gap9"),
        ("int4", "transposed", "host"),
        ("uint2", "nbits", "host"),
    ],
)
def test_blocks_stay_packed(kind: str, form: str, target: str, plugins: Plugins, tmp_path: Path) -> None:
    path = block_network(tmp_path / "net.onnx", kind, form)
    result = verify(path, target, plugins, sanitize=target == "host")
    patterns = [a.candidate.pattern.name for a in result.compilation.mapping.assignments]
    assert patterns.count("host_weights_mat_mul") == 2
    # Codes of 40 columns and of 24 in tiles of 8 fill their bytes; scales in float32, zero points in a byte, the bias.
    weights, blocks = 96 * 40 + 40 * 24, 3 * 40 + 2 * 24
    assert _constants(result) == weights * int(kind[-1]) // 8 + blocks * 5 + 40 * 4


def test_float16_and_a_short_last_block(plugins: Plugins, tmp_path: Path) -> None:
    path = block_network(tmp_path / "net.onnx", "uint4", "qdq", depth=75, float_type=TensorProto.FLOAT16)
    verify(path, "host", plugins, sanitize=True)


def test_units_with_real_products_get_real_weights(plugins: Plugins, tmp_path: Path) -> None:
    """Carfield's clusters multiply float16: there the weights are expanded."""
    path = block_network(tmp_path / "net.onnx", "uint4", "qdq", float_type=TensorProto.FLOAT16)
    result = verify(path, "carfield", plugins)
    assert {node.op for a in result.compilation.mapping.assignments for node in a.candidate.match.nodes} >= {"MatMul"}
    units = {a.candidate.unit for a in result.compilation.mapping.assignments}
    assert units & {"pulp", "spatz"}


def test_an_unknown_order_of_weights_is_refused(plugins: Plugins, tmp_path: Path) -> None:
    from match_core.contract.errors import ModelError

    path = block_network(tmp_path / "net.onnx", "uint4", "nbits")
    model = onnx.load(path)
    model.graph.node[0].attribute.append(onnx.helper.make_attribute("weight_prepacked", 1))
    onnx.save(model, path)
    with pytest.raises(ModelError) as error:
        verify(path, "host", plugins)
    assert error.value.code == "MATCH-F009"


def test_the_analog_array_takes_weights_of_two_bits(plugins: Plugins, tmp_path: Path) -> None:
    """The program is that of the same network with its -1, 0 and 1 in bytes."""
    network = samples.ternary("ternary", layers=6).make()
    sources = []
    for name, model in (("wide", network), ("narrow", with_two_bits(network))):
        (tmp_path / name).mkdir()
        onnx.save(model, tmp_path / name / "net.onnx")
        compilation = compile_model(CompileRequest(tmp_path / name / "net.onnx", "diana"), plugins).compilation
        units = [assignment.candidate.unit for assignment in compilation.mapping.assignments]
        assert units.count("analog") == 6
        code = [file for file in compilation.sources.files if file.name.endswith((".c", ".h"))]
        sources.append([(file.name, re.sub(rb"(sha256 |SHA256 \")\w+", b"", file.content)) for file in code])
    assert sources[0] == sources[1]
