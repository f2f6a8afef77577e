# mypy: disable-error-code="empty-body"
"""Which model files can be read besides ONNX."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.plugin.markers import hookspec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from match_core.contract.front_end import FrontEnd


@hookspec
def match_load() -> Sequence[FrontEnd]:
    """Give the front ends of this package: readers of model files that are not ONNX.

    Called: before a model file is read.

    Arguments: none.

    Returns: a tuple of FrontEnd, each with the name of its format. None and () mean no front ends.

    Several answers: all are collected; the first one that recognises the file converts it. Two front ends for the same
        format from two packages are an error that names both.

    Nobody answers: only ONNX files are read.

    May be changed: nothing.

    Example::

        @hookimpl
        def match_load() -> Sequence[FrontEnd]:
            return (FrontEnd("MyFormat", lambda content: content[:4] == b"MYFM", my_convert),)
    """
