"""A network with control flow as a C program on the host, compared with what ONNX Runtime makes of the file itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from match_verify.verify import VerifyRequest, verify_model

from tests.base_packages import base_plugins

#: A state grows until data say that it is enough; a recurrent layer runs from the last row to the first, its results
#: columns from right to left, and data choose what is behind it; a row is taken out of a sequence; data give a range.
TEXT = """<ir_version: 8, opset_import: ["" : 17]>
g (float[3,4] x, float[4] start, bool pick, float from, float to, float by)
  => (float[4] last, float[4,3] rows, float[5] ramp, float[4] row)
  <int64 trips = {6}, bool go = {1}, float most = {40.0}, int64 one = {1}, float[4,4] w = {0.5, 0.1, 0.2, 0.3, 0.9, 0.4,
   0.1, 0.2, 0.3, 0.6, 0.2, 0.1, 0.5, 0.4, 0.3, 0.2}> {
    grown = Loop (trips, go, start) <body = grow (int64 i, bool on, float[4] s) => (bool more, float[4] t) {
        square = Mul (s, s)
        size = ReduceSum <keepdims = 0> (square)
        t = Add (s, s)
        more = Less (size, most)
    }>
    last, rows = Scan <num_scan_inputs = 1, scan_input_directions = [1], scan_output_axes = [1],
                       scan_output_directions = [1], body = step (float[4] h, float[4] e) => (float[4] k, float[4] r) {
        p = MatMul (h, w)
        q = Add (p, e)
        k = If (pick) <
            then_branch = a () => (float[4] u) { u = Tanh (q) },
            else_branch = b () => (float[4] v) { v = Relu (q) }>
        r = Neg (k)
    }> (grown, x)
    numbers = Range (from, to, by)
    ramp = Cos (numbers)
    parts = SplitToSequence <axis = 0, keepdims = 0> (x)
    part = SequenceAt (parts, one)
    row = Neg (part)
}"""


def test_a_network_with_control_flow(saved: Callable[..., Path]) -> None:
    random = np.random.default_rng(0)
    samples = 4
    arrays = {
        "x": random.standard_normal((samples, 3, 4)).astype(np.float32),
        "start": random.standard_normal((samples, 4)).astype(np.float32),
        "pick": np.array([False, True, True, False]),
        "from": np.float32([0.25, -1.0, 2.0, 0.0]),
    }
    arrays |= {"to": arrays["from"] + np.float32(0.49), "by": np.full(samples, 0.1, np.float32)}
    request = VerifyRequest(model=saved(TEXT), target="host", arrays=arrays, sanitize=True)
    result = verify_model(request, base_plugins())
    assert [check.name for check in result.outputs] == ["last", "rows", "ramp", "row"]
    assert result.ok
