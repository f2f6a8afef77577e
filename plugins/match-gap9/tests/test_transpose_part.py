"""Parts of pictures that change their layout: rows are read where they are, columns are not contiguous."""

from __future__ import annotations

from pathlib import Path

import onnx
import onnx.parser
import pytest
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, verify_model


@pytest.mark.parametrize(("axis", "one_task"), [(2, True), (3, False)])
def test_rows_are_turned_where_they_are_and_columns_are_not(axis: int, one_task: bool, tmp_path: Path) -> None:
    shape = [8, 12]
    shape[axis - 2] = 5
    text = f"""<ir_version: 10, opset_import: ["" : 21]> net
        (uint8[1,3,8,12] x) => (uint8[1,{shape[0]},{shape[1]},3] y)
        <int64[1] first = {{2}}, int64[1] end = {{7}}, int64[1] axis = {{{axis}}}> {{
        part = Slice (x, first, end, axis)
        y = Transpose <perm = [0, 2, 3, 1]> (part) }}"""
    path = tmp_path / "net.onnx"
    onnx.save(onnx.parser.parse_model(text), str(path))
    result = verify_model(VerifyRequest(path, "gap9", without_units=("host",), sanitize=True), Plugins.load())
    assert result.bit_exact
    patterns = {task.assignment.candidate.pattern.name for task in result.compilation.program.tasks}
    assert (patterns == {"transpose_part"}) == one_task
