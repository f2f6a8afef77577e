from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import onnx
import onnx.parser
import pytest


@pytest.fixture
def saved(tmp_path: Path) -> Callable[..., Path]:
    """Saves a model written as ONNX text and gives its path."""

    def save(text: str, name: str = "net.onnx") -> Path:
        path = tmp_path / name
        path.write_bytes(onnx.parser.parse_model(text).SerializeToString())
        return path

    return save
