"""Units without a loop in concurrent programs: the host starts their regions, goes on, and asks for their end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from match_core.contract.errors import PluginError, ToolError
from match_core.contract.observe import NullObserver
from match_core.pipeline import CompileRequest, build_program
from match_verify.verify import VerifyRequest, verify_model

from core.tests.regions.engine_plugin import plugin
from core.tests.regions.test_emit_formats import loaded, model
from tests.tiers import in_ci

if TYPE_CHECKING:
    from pathlib import Path

    from core.tests.plugin.distributions import Site

#: A region and operators that only the host runs, which do not wait for each other, and a region that waits for both.
NET = """(float[40,60] x, float[40,60] y) => (float[40,60] z) <float s = {0.5}> {
    a = Add (x, y)
    b = Mul (a, s)
    c = Softmax (y)
    z = Sub (b, c) }"""


MODES = ("eager", "lazy", "lazy:engine", "lazy:host", "threads:3")


@pytest.mark.parametrize("mode", in_ci(MODES, lambda mode: mode not in ("lazy", "lazy:host")))
def test_the_host_goes_on_while_a_region_is_computed(site: Site, tmp_path: Path, mode: str) -> None:
    path = model(tmp_path, NET)
    request = VerifyRequest(path, "beside_chip", sanitize=mode == "eager", mode=mode, execution="concurrent")
    result = verify_model(request, loaded(site, "json", started=True))
    assert result.ok and {node.unit for node in result.run.nodes} == {"host", "engine"}
    if mode == "eager":
        total = result.run.cycles_total
        assert [node.cycles for node in result.run.nodes] == [node.predicted_cycles for node in result.run.nodes]
        assert total < sum(node.cycles for node in result.run.nodes)
        assert abs(total - result.compilation.program.predicted_cycles) <= 10


def test_what_is_emitted(site: Site, tmp_path: Path) -> None:
    request = CompileRequest(model(tmp_path, NET), "beside_chip", execution="concurrent")
    plugins = loaded(site, "json", started=True)
    sources = build_program(request, plugins, NullObserver()).sources
    queues = json.loads(sources.text("match.lock.json"))["queues"]
    assert [(queue["name"], queue["kind"]) for queue in queues] == [("host", "host"), ("engine", "unit")]
    assert "region->status = engine_begin(region->handle, " in sources.text("net_engine.c")
    assert "engine_launch" not in sources.text("net.c") and "const int ended = engine_done();" in sources.text("net.c")
    assert "engine_run(region" not in sources.text("net_engine.c")
    alone = CompileRequest(model(tmp_path, NET), "beside_chip", execution="sequential")
    sources = build_program(alone, plugins, NullObserver()).sources
    assert "region->status = engine_run(region->handle, " in sources.text("net_engine.c")


def test_a_unit_that_never_ends_is_waited_for_in_vain(site: Site, tmp_path: Path) -> None:
    request = VerifyRequest(model(tmp_path, NET), "beside_chip", mode="hang:engine", execution="concurrent")
    with pytest.raises(ToolError, match="run returned -3"):
        verify_model(request, loaded(site, "json", started=True))


@pytest.mark.parametrize(
    ("old", "new"), [("return (job.status == 0) ? 1 : -1;", "return -1;"), ("job.busy = 1u;", "return 1;")]
)
def test_a_failure_ends_the_run(site: Site, tmp_path: Path, old: str, new: str) -> None:
    text = plugin("json", started=True)
    assert text.count(old) == 1
    site.plugin("engine", text.replace(old, new))
    request = VerifyRequest(model(tmp_path, NET), "beside_chip", execution="concurrent")
    with pytest.raises(ToolError, match="run returned -2"):
        verify_model(request, site.load())


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('QueueApi(done="engine_done")', 'QueueApi("engine_launch")', "queue needs the names of launch and wait, or"),
        ('QueueApi(done="engine_done")', 'QueueApi("a", "b", done="c")', "queue needs the names of launch and wait"),
        ('"engine_begin" if STARTED else ""', '""', "start is '', the name of a C function expected"),
    ],
)
def test_what_a_package_must_name(site: Site, tmp_path: Path, old: str, new: str, words: str) -> None:
    text = plugin("json", started=True)
    assert text.count(old) == 1
    site.plugin("engine", text.replace(old, new))
    request = CompileRequest(model(tmp_path, NET), "beside_chip", execution="concurrent")
    with pytest.raises(PluginError, match=words) as caught:
        build_program(request, site.load(), NullObserver())
    assert "engine" in caught.value.where
