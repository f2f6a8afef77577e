"""Element-wise kernels of the host that overwrite an input: less memory, the same bits under sanitizers."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from match_core.lower.overlap import overwritten
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, verify_model

#: Operators between two tensors that other kernels make and read: text of the model, most bytes of the arena. Without
#: overlaps, inputs and results of the operator live together. Tensors of floats have 2048 bytes.
CASES = {
    "sum": ("r = Sub (p, q)", "float", 2 * 2048),
    "twice": ("r = Mul (p, p)", "float", 2048),
    "broadcast": ("h = Slice (q, zero, one, zero) r = Sub (p, h)", "float", 2048 + 128),
    "narrower": ("r = QuantizeLinear (p, scale, point)", "int8", 2048),
    "wider": (
        "n = QuantizeLinear (p, scale, point) t = Transpose (n) r = DequantizeLinear (t, scale, point)",
        "",
        2560,
    ),
}
MADE = """<ir_version: 9, opset_import: ["" : 17]> g (float[16,32] x, float[16,32] y) => (SINK out)
<float scale = {0.01}, int8 point = {3}, int64[1] zero = {0}, int64[1] one = {1}>
{ p = Softmax (x) q = Softmax (y) BODY }"""


@pytest.fixture
def made(tmp_path: Path) -> Path:
    return tmp_path / "model.onnx"


@pytest.mark.parametrize("name", CASES)
def test_elementwise_operators_overwrite_an_input(name: str, made: Path, plugins: Plugins) -> None:
    body, kind, most = CASES[name]
    end = f"{body} out = Transpose (r)" if kind == "int8" else f"{body} out = Softmax <axis = 0> (r)"
    sink = f"{kind or 'float'}[{'16,32' if kind == 'float' else '32,16'}]"
    onnx.save(onnx.parser.parse_model(MADE.replace("BODY", end).replace("SINK", sink)), made)
    result = verify_model(VerifyRequest(made, "host", sanitize=True, cache=False), plugins)
    assert result.computed
    program = result.compilation.program
    (home,) = (use for use in program.memory if use.memory == program.soc.home)
    assert home.arena_bytes <= most, [(b.tensors, b.offset_bytes, b.size_bytes) for b in program.buffers]
    assert overwritten(program), "no task overwrites an input"
    code = result.compilation.sources.text("model_host.c")
    assert "overwrites p" in code or "overwrites t" in code
    assert "*restrict" in code, "kernels whose tensors are apart keep their promise"
