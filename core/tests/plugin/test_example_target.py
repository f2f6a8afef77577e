"""The example package: found through its entry point, complete, and described as its pyproject says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from match_core import Hardware
from match_core.plugin.records import GivenAnswer

if TYPE_CHECKING:
    from core.tests.plugin.distributions import Site

PROJECT = Path(__file__).parent / "example_target" / "pyproject.toml"


def test_discovery_and_every_hook(site: Site) -> None:
    site.install_example()
    plugins = site.load()
    assert plugins.faults == ()
    soc = plugins.soc()
    assert soc.name == "example"
    host, relu_unit = plugins.units_of(soc)
    assert host.name == "host"
    (pattern,) = plugins.patterns(soc, relu_unit)
    cost = plugins.cost(soc, relu_unit, pattern)
    assert cost.name == "example-relu"
    assert "relu" in plugins.emit_api(soc, relu_unit).kernels
    answered = {(answer.hook, answer.plugin) for answer in plugins.answers}
    assert {("match_hardware", "example"), ("match_patterns", "example"), ("match_cost", "example")} <= answered
    assert GivenAnswer("match_emit_api", "example/relu_unit", "example") in plugins.answers
    assert plugins.owner_of("example").distribution == "match-example"


def test_its_cost_counts_elements(site: Site) -> None:
    site.install_example()
    plugins = site.load()
    soc = plugins.soc()
    unit = plugins.units_of(soc)[1]
    cost = plugins.cost(soc, unit, plugins.patterns(soc, unit)[0])
    tile = {"N": np.array([1, 4, 5, 4096])}
    assert cost.kernel_cycles(None, tile).tolist() == [1, 1, 2, 1024]  # type: ignore[arg-type]


def test_without_it_its_target_is_unknown(site: Site) -> None:
    site.install_example()
    plugins = site.load(MATCH_DISABLE_PLUGINS="match-example")
    assert isinstance(plugins.hardware(), Hardware)
    assert "example" not in [soc.name for soc in plugins.hardware().socs]


def test_the_site_and_the_project_agree() -> None:
    text = PROJECT.read_text(encoding="utf-8")
    assert 'name = "match-example"' in text
    assert 'version = "0.3.1"' in text
    assert 'example = "match_example.plugin"' in text
