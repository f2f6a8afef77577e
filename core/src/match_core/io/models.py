"""Writes ONNX files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.io.files import whole_file

if TYPE_CHECKING:
    from pathlib import Path

    import onnx


def write_model(path: Path, model: onnx.ModelProto) -> None:
    """Write a model; equal models give equal bytes. UsageError MATCH-U045."""
    with whole_file(path, "the model") as file:
        file.write(model.SerializeToString(deterministic=True))
