"""Measured ranges of tensors in a float network, for units that quantise by themselves.

``match quantize --ranges`` stores them in the network's file as ONNX metadata; passes of regions read them from their
context (docs/regions.md).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnx
    from match_core.contract.passes import PassContext

#: The key in ``metadata_props``; the value is a JSON object: name of a tensor -> [least, largest value].
KEY = "match.ranges"


def with_ranges(proto: onnx.ModelProto, ranges: Mapping[str, tuple[float, float]]) -> onnx.ModelProto:
    """A copy of the network with these ranges in place of others."""
    copied = type(proto)()
    copied.CopyFrom(proto)
    kept = [(entry.key, entry.value) for entry in copied.metadata_props if entry.key != KEY]
    del copied.metadata_props[:]
    for key, value in (*kept, (KEY, json.dumps({name: list(pair) for name, pair in sorted(ranges.items())}))):
        copied.metadata_props.add(key=key, value=value)
    return copied


def ranges_of(context: PassContext) -> dict[str, tuple[float, float]]:
    """(least, largest) real value of tensors, by name; empty if the file states none. Entries that are not two finite
    numbers in order are left out."""
    try:
        stated = json.loads(dict(context.metadata).get(KEY, "{}"))
    except (ValueError, RecursionError):
        return {}
    entries = stated.items() if isinstance(stated, dict) else ()
    return {name: (float(pair[0]), float(pair[1])) for name, pair in entries if _is_range(pair)}


def _is_range(pair: object) -> bool:
    if not isinstance(pair, list) or len(pair) != 2:
        return False
    if not all(isinstance(end, (int, float)) and not isinstance(end, bool) for end in pair):
        return False
    return abs(pair[0]) < 1e38 and abs(pair[1]) < 1e38 and not math.isnan(pair[0]) and pair[0] <= pair[1]
