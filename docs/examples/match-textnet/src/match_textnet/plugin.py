"""The hook of match-textnet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core import hookimpl
from match_core.contract.front_end import FrontEnd

if TYPE_CHECKING:
    import onnx

match_contract = 1


@hookimpl
def match_load() -> tuple[FrontEnd, ...]:
    """Files whose first line names the format."""
    return (FrontEnd("textnet", lambda content: content.startswith(b"match-textnet"), _convert),)


def _convert(content: bytes, source: str) -> onnx.ModelProto:
    from match_textnet.convert import textnet_to_onnx

    return textnet_to_onnx(content, source)
