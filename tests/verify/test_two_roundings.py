"""``--max-loss`` with requantisation that rounds twice: layers keep one rounding where two lose too much."""

from __future__ import annotations

from pathlib import Path

import pytest
from match_core.contract.hardware import RequantSpec
from match_core.contract.passes import Pass
from match_core.plugin.discovery import Found
from match_core.plugin.facade import Plugins
from match_core.plugin.markers import hookimpl
from match_quant.double import double_rounding
from match_verify.verify import VerifyRequest, verify_model

from tests.verify.lossy import inexact


class Twice:
    """A package whose unit rounds twice, on every Soc."""

    match_contract = 1

    @hookimpl
    def match_transforms(self, soc: object) -> tuple[Pass, ...]:
        return (double_rounding("twice", RequantSpec(32, False, 63, shift_max=31, rounding="double")),)


@pytest.mark.parametrize(("limit", "kept"), [(40.0, 0), (54.0, 3)])
def test_layers_keep_one_rounding_where_two_lose_too_much(limit: float, kept: int, tmp_path: Path) -> None:
    """Four layers in a chain: two roundings of all leave 47 dB, those of the last one alone 59 dB, of any other
    one less than 54 dB. The programs are bit exact."""
    plugins = Plugins.load((Found("twice", "twice", "0", Twice),))
    result = verify_model(VerifyRequest(inexact(tmp_path / "net.onnx"), "host", max_loss=limit), plugins)
    choice, model = result.compilation.choice, result.compilation.model
    assert result.ok and result.bit_exact and choice is not None
    assert choice.document["sqnr_db"] >= limit
    operators = [str(node.op) for node in model.graph.nodes if "Requant" in str(node.op)]
    assert sorted(operators) == ["RequantDoubleI8"] * (4 - kept) + ["RequantI8"] * kept
    assert list(choice.exact) == ["conv0", "conv5", "conv10"][:kept]
    assert sum("two roundings change" in note for note in model.notes) == 4 - kept
