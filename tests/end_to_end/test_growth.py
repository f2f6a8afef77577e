"""Larger networks take more work in proportion: calls of every function are counted, so that no clock decides."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path
from types import FrameType

import pytest
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins

from benchmarks.sized_networks import KINDS, write

#: Operators of the networks: each is twice as large as the one before. Blocks of residual networks are small.
SIZES = {"residual": (10, 20, 40)}
OTHER_SIZES = (40, 80, 160)
#: Calls grow by twice as much from the second to the third size as from the first to the second if they are
#: proportional to the size, by four times as much if they are to its square.
GROWTH_MAX = 3
#: Fewer calls do not matter.
CALLS_MIN = 300
#: Regular expressions are compiled once, until others take their places in Python's cache: whatever the size.
PATTERNS = str(Path(re.__file__).parent)


@pytest.mark.parametrize(
    ("target", "kind"), [*(("host", kind) for kind in sorted(KINDS)), ("gap9", "residual"), ("carfield", "residual")]
)
def test_no_function_is_called_more_than_in_proportion(
    target: str, kind: str, plugins: Plugins, tmp_path: Path
) -> None:
    sizes = SIZES.get(kind, OTHER_SIZES)
    _calls(kind, sizes[0], target, plugins, tmp_path)  # imports
    small, middle, large = (_calls(kind, size, target, plugins, tmp_path) for size in sizes)
    steep = {
        called: (small[called], middle[called], count)
        for called, count in large.items()
        if count > CALLS_MIN and count - middle[called] > GROWTH_MAX * max(1, middle[called] - small[called])
    }
    assert not steep


def _calls(kind: str, size: int, target: str, plugins: Plugins, folder: Path) -> Counter[tuple[str, int, str]]:
    """Calls in a compilation by the file and line of the function that is called, or that calls one written in C."""
    model, found = folder / f"{kind}_{size}.onnx", Counter[tuple[str, int, str]]()
    write(kind, size, model)

    def count(frame: FrameType, event: str, called: object) -> None:
        code = frame.f_code
        if event in ("call", "c_call") and not code.co_filename.startswith(PATTERNS):
            name = code.co_name if event == "call" else getattr(called, "__name__", "")
            found[code.co_filename, code.co_firstlineno, name] += 1

    request = CompileRequest(model=model, target=target, cache=False, jobs=1, execution="sequential")
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        compile_model(request, plugins)
    finally:
        sys.setprofile(before)
    return found
