"""The emitted C of a small model, looked at by people: tiles with halo and remainder, both accelerators."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins

from core.tests.emit.side_program import emit
from core.tests.regions.engine_plugin import plugin as engine_plugin
from core.tests.regions.test_emit_formats import model as regions_model
from tests.end_to_end.diana_models import readable
from tests.end_to_end.models import QdqBuilder
from tests.end_to_end.qdq_encoders import Encoder, save
from tests.errors.sites import site_in

FILES = (
    "golden.h",
    "golden.c",
    "golden_cluster.c",
    "golden_ne16.c",
    "golden_tasks.h",
    "golden_port.h",
    "match_conv2d.h",
    "match_runtime.h",
    "example/main.c",
    "Makefile",
    "CMakeLists.txt",
)


def test_emitted_c(tmp_path: Path, plugins: Plugins, golden: Callable[[str, str], None]) -> None:
    builder = QdqBuilder(30, 16, 61, 61).conv(48, 3).conv(48, 3, stride=2, group=48).conv(8, 5, stride=3)
    model = builder.conv(3, 1, relu=False).save(tmp_path / "golden.onnx")
    request = CompileRequest(model, "gap9", precision="fast", execution="sequential")
    compilation = compile_model(request, plugins).compilation
    for name in FILES:
        golden(name.replace("/", "_"), compilation.sources.text(name))


def test_streamed_c(tmp_path: Path, plugins: Plugins, golden: Callable[[str, str], None]) -> None:
    """Constants that do not fit the home memory: staging areas, the store's address in the context."""
    model = QdqBuilder(31, 32, 9, 9).conv(96, 3).conv(96, 3).conv(24, 1).save(tmp_path / "streamed.onnx")
    request = CompileRequest(
        model, "gap9", precision="fast", memory=(("l2", 100_000),), cache=False, execution="sequential"
    )
    sources = compile_model(request, plugins).compilation.sources
    for name in ("streamed.h", "streamed.c", "streamed_ne16.c", "example/main.c"):
        golden(name.replace("/", "_"), sources.text(name))


def test_gap9_concurrent_c(tmp_path: Path, plugins: Plugins, golden: Callable[[str, str], None]) -> None:
    """Cluster and NE16 side by side: an operator that both compute, one after it that waits for parts of it."""
    model = QdqBuilder(32, 16, 24, 24).conv(32, 3).conv(16, 1).save(tmp_path / "beside.onnx")
    request = CompileRequest(model, "gap9", precision="fast", execution="concurrent", cache=False)
    sources = compile_model(request, plugins).compilation.sources
    for name in ("beside.h", "beside.c", "beside_cluster.c", "beside_ne16.c", "beside_tasks.h", "example/main.c"):
        golden(name.replace("/", "_"), sources.text(name))


def test_concurrent_c(golden: Callable[[str, str], None]) -> None:
    """Units side by side: what tasks need, the host's side of a run, the tables and loops of the units."""
    files = {file.name: file.content.decode() for file in emit("side") if not file.name.endswith(".bin")}
    for name in ("side.h", "side.c", "side_array.c", "side_host.c", "side_tasks.h", "side_port.h"):
        golden(name, files[name])


def test_attention_c(tmp_path: Path, plugins: Plugins, golden: Callable[[str, str], None]) -> None:
    """Attention with 81 keys on ITA: blocks made by copies, projections turned and not, a short last block."""
    model = save(Encoder(rows=81, width=64, heads=2, seed=33), tmp_path / "attention.onnx")
    request = CompileRequest(model, "ita", quantized_io=True, execution="sequential", cache=False)
    sources = compile_model(request, plugins).compilation.sources
    for name in ("attention.h", "attention.c", "attention_ita.c"):
        golden(name.replace("/", "_"), sources.text(name))


def test_diana_c(tmp_path: Path, plugins: Plugins, golden: Callable[[str, str], None]) -> None:
    """Two arrays and the host, little L1: noted weights, conversions between stored forms, blocking copies of rows."""
    model = readable(tmp_path / "diana.onnx")
    request = CompileRequest(model, "diana", memory=(("l1", 24_000),), cache=False)
    sources = compile_model(request, plugins).compilation.sources
    for name in ("diana.h", "diana.c", "diana_digital.c", "diana_analog.c", "diana_host.c", "example/main.c"):
        golden(name.replace("/", "_"), sources.text(name))


def test_regions_c(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Callable[[str, str], None]) -> None:
    """Regions of a unit that takes them whole: tables and code, one task after another and side by side."""
    site = site_in(tmp_path / "site")
    monkeypatch.syspath_prepend(str(site.path))
    site.plugin("engine", engine_plugin("json"))
    plugins = site.load()
    request = CompileRequest(regions_model(tmp_path, name="whole"), "engine_chip", cache=False)
    sources = compile_model(request, plugins).compilation.sources
    for name in ("whole.h", "whole.c", "whole_engine.c", "whole_regions.c", "whole_tasks.h", "whole_region_00.json"):
        golden(name.replace("/", "_"), sources.text(name))
    path = regions_model(tmp_path, name="both")
    request = CompileRequest(path, "beside_chip", execution="concurrent", cache=False)
    sources = compile_model(request, plugins).compilation.sources
    for name in ("both.h", "both.c", "both_engine.c", "both_regions.c", "both_tasks.h"):
        golden(name.replace("/", "_"), sources.text(name))
    site.forget()
