"""The hook of match-tflite: the front end for TFLite files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.front_end import FrontEnd
from match_core.plugin.markers import hookimpl

if TYPE_CHECKING:
    import onnx

match_contract = 1

#: Bytes 4 to 7 of every TFLite file: the identifier of its schema.
_IDENTIFIER = b"TFL3"


@hookimpl
def match_load() -> tuple[FrontEnd, ...]:
    """The front end for TFLite files."""
    return (FrontEnd("TFLite", is_tflite, _convert),)


def is_tflite(content: bytes) -> bool:
    """Whether the bytes have the identifier of a TFLite file."""
    return content[4:8] == _IDENTIFIER


def _convert(content: bytes, source: str) -> onnx.ModelProto:
    from match_tflite.convert import tflite_to_onnx

    return tflite_to_onnx(content, source)
