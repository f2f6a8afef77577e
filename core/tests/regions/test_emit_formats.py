"""Programs with regions, in each format of code: what they compute on the twin, and their files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import onnx
import onnx.parser
import pytest
from match_core.observe import NullObserver
from match_core.pipeline import CompileRequest, build_program
from match_core.verify import VerifyRequest, verify_model

from core.tests.regions.engine_plugin import plugin

if TYPE_CHECKING:
    from match_core.pipeline import Compilation
    from match_core.plugin.host import Plugins

    from core.tests.plugin.distributions import Site

FORMATS = ("json", "c", "binary")
HEAD = '<ir_version: 10, opset_import: ["" : 21]> net '
#: Two regions around a Sigmoid: results that are graph outputs and read on, graph inputs read by both, a scalar.
NET = """(float[4,6] x, float[4,6] y) => (float[4,6] early, float[4,6] late, float[4,6] other)
    <float[4,6] w = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24}, float s = {0.5}> {
    early = Add (x, w)
    p = Mul (early, y)
    q = Relu (p)
    m = Sigmoid (q)
    n = Sub (m, s)
    late = Mul (n, early)
    k = Neg (x)
    other = Add (k, late) }"""


def model(folder: Path, text: str = NET, name: str = "net") -> Path:
    path = folder / f"{name}.onnx"
    onnx.save(onnx.parser.parse_model(HEAD + text), str(path))
    return path


def loaded(site: Site, form: str, **options: object) -> Plugins:
    site.plugin("engine", plugin(form, **options))  # type: ignore[arg-type]  # the options of ``plugin``
    plugins = site.load()
    assert plugins.faults == ()
    return plugins


def compiled(path: Path, plugins: Plugins, target: str = "engine_chip") -> Compilation:
    return build_program(CompileRequest(path, target), plugins, NullObserver())


@pytest.mark.parametrize("form", FORMATS)
def test_programs_are_right(site: Site, tmp_path: Path, form: str) -> None:
    plugins = loaded(site, form)
    result = verify_model(VerifyRequest(model(tmp_path), "engine_chip", sanitize=True), plugins)
    assert result.ok
    assert [node.unit for node in result.run.nodes].count("engine") == 2
    assert all(node.unit in ("engine", "host") for node in result.run.nodes)
