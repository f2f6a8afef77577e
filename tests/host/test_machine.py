"""The kind of core that the host's kernels are written for: from the Soc, from the preset, or the default."""

from __future__ import annotations

from dataclasses import replace

import pytest
from match_core.contract.errors import UsageError
from match_core.plugin.facade import Plugins
from match_host.machine import AVX512, GENERIC, SCALAR, machine_of
from match_host.soc import HOST_SOC


def test_the_socs_machine_comes_before_its_preset() -> None:
    assert machine_of(replace(HOST_SOC, preset="avx512", host_machine="scalar")) is SCALAR
    assert machine_of(replace(HOST_SOC, preset="avx512", host_machine="")) is AVX512
    assert machine_of(replace(HOST_SOC, preset="", host_machine="")) is GENERIC


@pytest.mark.parametrize("target", ["host", "stm32l4r5"])
def test_a_machine_that_does_not_exist_is_the_users_error_and_no_fault(target: str) -> None:
    plugins = Plugins.load()
    soc = replace(plugins.soc(target), host_machine="scaler")
    with pytest.raises(UsageError) as caught:
        plugins.patterns(soc, plugins.units_of(soc)[0])
    assert caught.value.code == "MATCH-U064"
    assert caught.value.why == "host_machine is 'scaler'; machines are generic, avx512, scalar"
    assert caught.value.help == ("did you mean scalar?",)
    assert not plugins.faults
