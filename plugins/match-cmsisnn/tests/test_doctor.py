"""``match doctor`` tells whether the reader has the library."""

from __future__ import annotations

from match_core.plugin.facade import Plugins
from match_report.advice.doctor import _targets


def test_the_target_names_the_variable(monkeypatch):
    monkeypatch.delenv("CMSIS_NN_DIR", raising=False)
    found = {finding.name: finding for finding in _targets(Plugins.load())}
    finding = found["target stm32l4r5_cmsis_nn"]
    assert (finding.status, finding.needed) == ("missing", False)
    assert finding.detail == "folder $CMSIS_NN_DIR, unit cmsis_nn_dsp: CMSIS_NN_DIR is not set"
    assert finding.help == "set CMSIS_NN_DIR to the folder of your copy"
    assert found["target stm32l4r5"].status == "ok"


def test_the_target_is_ready_with_the_library(stand_in):
    found = {finding.name: finding for finding in _targets(Plugins.load())}
    assert found["target corstone300_cmsis_nn"].status == "ok"
