"""Studies on a small network made here, with a cache of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.end_to_end.models import QdqBuilder

MakeStudy = Callable[..., Path]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache for this test."""
    monkeypatch.setenv("MATCH_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def make_study(tmp_path: Path) -> MakeStudy:
    """Writes a study of one small network; ``text`` replaces everything after the models."""

    def make(text: str = "", *, targets: str = '["gap9"]', models: str = '["small.onnx"]', name: str = "study") -> Path:
        if not (tmp_path / "small.onnx").exists():
            QdqBuilder(5, 8, 8, 8).conv(16, 3).conv(8, 1).save(tmp_path / "small.onnx")
        path = tmp_path / f"{name}.toml"
        path.write_text(f"[study]\nmodels = {models}\ntargets = {targets}\n{text}\n", encoding="utf-8")
        return path

    return make
