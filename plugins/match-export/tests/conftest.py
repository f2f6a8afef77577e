"""A program of the host, compiled once."""

from __future__ import annotations

from pathlib import Path

import pytest
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins

from tests.end_to_end.models import QdqBuilder


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory, plugins: Plugins) -> Path:
    folder = tmp_path_factory.mktemp("exported")
    model = QdqBuilder(3, 4, 8, 8).conv(8, 3).conv(4, 1).save(folder / "net.onnx")
    compile_model(CompileRequest(model, "host", folder / "program"), plugins)
    return folder / "program"
