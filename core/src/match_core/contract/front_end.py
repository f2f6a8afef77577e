"""A front end: from the bytes of a model file that is not ONNX to an ONNX model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnx


@dataclass(frozen=True, slots=True)
class FrontEnd:
    """``name`` of the format, for messages; ``recognises``: whether bytes (the whole file, or at least its first 64)
    are of that format; cheap and without imports; ``convert``: from the file's bytes and its name (for messages) to an
    ONNX model with all weights inside. It raises ModelError for a file that is damaged or cannot be converted."""

    name: str
    recognises: Callable[[bytes], bool]
    convert: Callable[[bytes, str], onnx.ModelProto]
