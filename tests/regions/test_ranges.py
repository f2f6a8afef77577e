"""Ranges in a network's metadata: written, read by passes, hostile ones left out."""

from __future__ import annotations

import json

import onnx.parser
import pytest
from match_core.contract.hardware import Memory, Soc
from match_core.contract.passes import PassContext
from match_core.load.load import model_from_proto
from match_quant.ranges import KEY, ranges_of, with_ranges

SOC = Soc("chip", "a chip", "host", ("host",), (Memory("ram", 1, 1024),), (), "ram")


def _context(metadata: tuple[tuple[str, str], ...]) -> PassContext:
    return PassContext(SOC, (), metadata=metadata)


def test_what_is_written_is_read_from_the_loaded_model() -> None:
    text = '<ir_version: 10, opset_import: ["" : 21]> net (float[1,8] x) => (float[1,8] y) { y = Relu (x) }'
    proto = with_ranges(onnx.parser.parse_model(text), {"y": (0.0, 2.5), "x": (-1.0, 2.5)})
    proto.metadata_props.add(key="author", value="somebody")
    again = with_ranges(proto, {"x": (-3.0, 3.0)})
    assert [entry.key for entry in proto.metadata_props] == [KEY, "author"]
    assert ranges_of(_context(model_from_proto(proto, "net", "net.onnx").metadata)) == {"x": (-1, 2.5), "y": (0, 2.5)}
    assert ranges_of(_context(model_from_proto(again, "net", "net.onnx").metadata)) == {"x": (-3, 3)}


NO_RANGES = ("1", "[1]", '["a", "b"]', "[2, 1]", "[NaN, 1]", "[0, 1e999]", "[true, 2]")


@pytest.mark.parametrize("value", ["", "[]", "{", "[" * 100_000, *(f'{{"x": {pair}}}' for pair in NO_RANGES)])
def test_what_is_no_range_is_left_out(value: str) -> None:
    assert ranges_of(_context(((KEY, value),))) == {}
    assert ranges_of(_context(())) == {}


def test_the_others_stay() -> None:
    assert ranges_of(_context(((KEY, json.dumps({"x": [0, 1], "y": None})),))) == {"x": (0, 1)}
