"""Odd shapes through the whole compiler under sanitizers, on models made here."""

from __future__ import annotations

from pathlib import Path

import pytest
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, verify_model

from tests.end_to_end.models import QdqBuilder

CASES = {
    "plain": lambda: QdqBuilder(1, 3, 9, 7).conv(8, 3).conv(8, 3, relu=False),
    "asymmetric_input": lambda: QdqBuilder(2, 5, 8, 8, zero_point=17).conv(12, 3).conv(4, 1),
    "stride_two": lambda: QdqBuilder(3, 16, 17, 13).conv(32, 3, stride=2).conv(16, 3, stride=2),
    "depthwise": lambda: QdqBuilder(4, 24, 12, 10).conv(24, 3, group=24).conv(10, 1).conv(10, 3, stride=2, group=10),
    "odd_channels": lambda: QdqBuilder(5, 7, 11, 5).conv(13, 3).conv(9, 1, stride=2),
    "large_kernel": lambda: QdqBuilder(6, 4, 20, 20).conv(6, 5, stride=2).max_pool(2, 2).conv(6, 7),
    "tiled": lambda: QdqBuilder(7, 32, 48, 48).conv(64, 3).conv(64, 1),
    "symmetric": lambda: QdqBuilder(10, 16, 10, 10, zero_point=0).conv(16, 3, zero=0).conv(32, 1, zero=0).conv(8, 3),
    "one_column": lambda: QdqBuilder(9, 4, 9, 2, zero_point=3).conv(8, 3, stride=2).conv(6, 3, stride=2),
    "grouped": lambda: QdqBuilder(8, 8, 6, 6).conv(8, 3, group=2),
}
UNITS = {"all": (), "cluster": ("ne16",), "ne16": ("cluster",)}


@pytest.mark.parametrize("without", UNITS.values(), ids=UNITS)
@pytest.mark.parametrize("case", CASES)
def test_shape(case: str, without: tuple[str, ...], tmp_path: Path, plugins: Plugins) -> None:
    model = CASES[case]().save(tmp_path / f"{case}.onnx")
    for mode, precision in (("eager", "fast"), ("lazy", "exact")):
        # Side by side both units compute parts of layers, of sizes that no program has otherwise.
        request = VerifyRequest(
            model,
            "gap9",
            without_units=without,
            sanitize=True,
            mode=mode,
            precision=precision,
            execution="sequential" if without else "concurrent",
        )
        result = verify_model(request, plugins)
        assert result.bit_exact, result.outputs
        assert result.outputs[0].mean_abs_lsb <= 0.25  # 1 LSB per operator at most, seldom


@pytest.mark.parametrize("bits", [2, 3, 4, 7])
def test_narrow_weights_take_fewer_bits_on_ne16(bits: int, tmp_path: Path, plugins: Plugins) -> None:
    """NE16 reads weights bit by bit: a model whose weights need fewer gets a denser encoding and fewer cycles."""
    cycles = {}
    for width in (bits, 8):
        builder = QdqBuilder(20, 16, 12, 12, weight_bits=width).conv(32, 3).conv(32, 3, group=32).conv(16, 1)
        model = builder.save(tmp_path / f"narrow{width}.onnx")
        for precision in ("fast", "exact"):
            request = VerifyRequest(
                model,
                "gap9",
                without_units=("cluster",),
                sanitize=True,
                precision=precision,
                execution="sequential",
            )
            result = verify_model(request, plugins)
            assert result.bit_exact
            emitted = result.compilation.sources.text(f"narrow{width}_ne16.c")
            assert emitted.count(f".weight_bits = {width},") == 3
            cycles[width, precision] = sum(node.cycles for node in result.run.nodes if node.unit == "ne16")
    assert cycles[bits, "fast"] < cycles[8, "fast"]
    assert cycles[bits, "exact"] < cycles[8, "exact"]
