"""Whether outputs are those that the suite expects, by the rules of its own runner."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.conformance.suite import Array

#: Two units in the last place of bfloat16, which the suite's runner allows at least.
BFLOAT16_RTOL = 2.0**-6


def difference(got: Sequence[Array], wanted: Sequence[Array], rtol: float, atol: float) -> str:
    """What differs first; empty where nothing does. Shapes and element types must be equal, values within the
    tolerances (``onnx.backend.test.runner``)."""
    if len(got) != len(wanted):
        return f"{len(got)} outputs, not {len(wanted)}"
    for index, (ours, theirs) in enumerate(zip(got, wanted, strict=True)):
        if ours.shape != theirs.shape:
            return f"output {index} has shape {ours.shape}, not {theirs.shape}"
        if ours.dtype != theirs.dtype:
            return f"output {index} is {ours.dtype}, not {theirs.dtype}"
        told = _values(ours, theirs, rtol, atol)
        if told:
            return f"output {index}: {told}"
    return ""


def _values(ours: Array, theirs: Array, rtol: float, atol: float) -> str:
    if ours.dtype.name == "bfloat16":
        rtol = max(rtol, BFLOAT16_RTOL)
    if ours.dtype.name not in np.sctypeDict:  # numpy cannot join the types of ml_dtypes with its own
        ours, theirs = ours.astype(np.float32), theirs.astype(np.float32)
    close = np.isclose(ours, theirs, rtol=rtol, atol=atol, equal_nan=True)
    if bool(np.all(close)):
        return ""
    place = tuple(int(i) for i in np.argwhere(~close)[0])
    return f"{int(np.sum(~close))} of {ours.size} values differ, first {ours[place]} instead of {theirs[place]}"
