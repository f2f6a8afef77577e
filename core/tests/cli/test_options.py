"""Preset, memory sizes, objective, name and cache on the command line, on the example target."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from match_core.contract.errors import UsageError
from match_core.deploy.compile_options import adapted_soc, memory_size

from tests.forked import MATCH
from tests.program_files import program_files

if TYPE_CHECKING:
    from core.tests.cli.conftest import MakeModel, Match
    from core.tests.plugin.distributions import Site

DATA = np.linspace(-1, 1, 4096, dtype=np.float32)[np.newaxis]
#: Large enough for the engine to be worth waking up.
SHAPE = (1, 4096)


@pytest.fixture(autouse=True)
def _example(site: Site) -> None:
    site.install_example()


def manifest(match: Match) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((match.directory / "out" / "match.lock.json").read_text())
    return document


@pytest.mark.parametrize(("preset", "start"), [("awake", 30), ("asleep", 500)])
def test_a_preset_changes_cycles_everywhere(match: Match, make_model: MakeModel, preset: str, start: int) -> None:
    """The prediction, the twin and the program that is run later agree on it."""
    model, cycles = make_model(shape=SHAPE), start + 4096 // 4
    compiled = match("compile", model, "-o", "out", "--json", "--preset", preset).json
    assert (compiled["preset"], compiled["predicted_cycles"]) == (preset, cycles)
    assert manifest(match)["options"]["preset"] == preset
    np.savez(match.directory / "x.npz", x=DATA)
    run = match("run", "out", "--inputs", "x.npz", "--outputs", "y.npz", "--json").json
    assert (run["preset"], run["cycles"]["total"]) == (preset, cycles)
    verified = match("verify", model, "--inputs", "x.npz", "--json", "--preset", preset).json
    assert (verified["preset"], verified["cycles"]["total"], verified["ok"]) == (preset, cycles, True)
    shown = match("verify", model, "--inputs", "x.npz", "--preset", preset).out.splitlines()
    assert f"layers (preset {preset})" in shown
    assert f"cycles of one inference (preset {preset})" in shown


def test_the_default_preset_is_named(match: Match, make_model: MakeModel) -> None:
    done = match("compile", make_model(shape=SHAPE), "-o", "out")
    assert "layers (preset awake)" in done.out.splitlines()
    assert manifest(match)["options"]["preset"] == "awake"


def test_less_memory(match: Match, make_model: MakeModel) -> None:
    model = make_model(operators=("Relu", "Abs"), shape=SHAPE)
    compiled = match("compile", model, "-o", "out", "--json", "--memory", "ram=49152").json
    assert compiled["memory"]["ram"] == {"used": 49152, "available": 49152, "caller": 32768}
    assert manifest(match)["options"]["memory"] == {"ram": 49152}
    np.savez(match.directory / "x.npz", x=DATA)
    assert match("run", "out", "--inputs", "x.npz", "--outputs", "y.npz").code == 0
    fused = match("compile", model, "-o", "out", "--json", "--memory", "ram=48kB").json
    assert fused["memory"]["ram"] == {"used": 32768, "available": 48000, "caller": 32768}, "one loop over both"
    done = match("compile", model, "-o", "out", "--json", "--memory", "ram=32kB")
    assert done.json["error"]["code"] == "MATCH-M001"
    assert "needs 32768 bytes of 32000" in done.json["error"]["why"]


def test_energy(match: Match, make_model: MakeModel) -> None:
    """The engine publishes figures, the host does not, so it runs nothing that the engine can."""
    model = make_model(operators=("Relu", "Relu"), shape=SHAPE)
    compiled = match("compile", model, "-o", "out", "--json", "--objective", "energy").json
    assert compiled["objective"] == "energy"
    assert compiled["energy"] == {"pj": 2 * 4096 * 2.0, "unpublished": []}
    assert manifest(match)["solvers"]["mapping"]["objective"] == 2 * 4096 * 2
    done = match("compile", model, "-o", "out", "--objective", "edp", "--without-unit", "host")
    assert "energy: 0.016 uJ (modelled)" in done.out.splitlines()


def test_energy_is_asked_of_units_that_publish_none(match: Match, make_model: MakeModel) -> None:
    model = make_model(operators=("Relu", "Abs"), shape=SHAPE)
    done = match("compile", model, "-o", "out", "--json", "--objective", "energy")
    error = done.json["error"]
    assert (done.code, error["code"]) == (2, "MATCH-U028")
    assert error["why"] == "no energy figures are published for host"
    assert error["help"] == ["use --objective latency"]


def test_a_program_without_all_figures_says_so(match: Match, make_model: MakeModel) -> None:
    done = match("compile", make_model(operators=("Relu", "Abs"), shape=SHAPE), "-o", "out")
    assert "energy: no figures are published for host" in done.out.splitlines()


def test_a_name(match: Match, make_model: MakeModel) -> None:
    done = match("compile", make_model(shape=SHAPE), "-o", "out", "--json", "--name", "ears")
    assert done.json["name"] == manifest(match)["name"] == "ears"
    assert {"ears.c", "ears.h"} <= set(done.json["files"])
    assert "int ears_run(" in (match.directory / "out" / "ears.h").read_text()


@pytest.mark.parametrize("name", ["1st", "my-net", "int", "match_net", "_net", "", "n" * 200])
def test_a_name_that_is_no_identifier(match: Match, make_model: MakeModel, name: str) -> None:
    done = match("compile", make_model(shape=SHAPE), "-o", "out", "--json", "--name", name)
    assert (done.code, done.json["error"]["code"]) == (2, "MATCH-U027")
    suggestion = done.json["error"]["help"][0].removeprefix("use --name ")
    assert match("compile", make_model(shape=SHAPE), "-o", "out", "--name", suggestion).code == 0


@pytest.mark.parametrize(
    ("options", "code", "why"),
    [
        (["--preset", "awak"], "MATCH-U025", "its presets are awake, asleep"),
        (["--memory", "rom=1kB"], "MATCH-U026", "there is no memory 'rom'; the memories are ram (262144 bytes)"),
        (
            ["--memory", "ram=1MB"],
            "MATCH-U026",
            "ram has 262144 bytes, not 1000000; --memory can only reduce it",
        ),
        (["--memory", "ram"], "MATCH-U026", "'ram' is not NAME=SIZE with a whole number of bytes"),
        (["--memory", "ram=0"], "MATCH-U026", "'ram=0' is not NAME=SIZE with a whole number of bytes"),
        (["--memory", "ram=1kB", "--memory", "ram=2kB"], "MATCH-U026", "a memory is given twice"),
        (["--region-min", "nodes"], "MATCH-U036", "'nodes' is not nodes=N or macs=N with a whole number N"),
        (["--region-min", "bytes=4"], "MATCH-U036", "'bytes=4' is not nodes=N or macs=N with a whole number N"),
        (["--region-min", "nodes=-4"], "MATCH-U036", "'nodes=-4' is not nodes=N or macs=N with a whole number N"),
        (
            ["--region-min", "nodes=4", "--region-min", "nodes=5"],
            "MATCH-U036",
            "nodes is given twice, as 4 and as 5",
        ),
        (["--region-min", f"macs={'9' * 5000}"], "MATCH-U036", "'macs=999"),
        (["--regions", "some"], "MATCH-U001", "Invalid value for '--regions'"),
        (["--objective", "beauty"], "MATCH-U001", "Invalid value for '--objective'"),
        (["--jobs", "0"], "MATCH-U001", "Invalid value for '--jobs'"),
    ],
)
def test_wrong_values(match: Match, make_model: MakeModel, options: list[str], code: str, why: str) -> None:
    done = match("compile", make_model(shape=SHAPE), "-o", "out", "--json", *options)
    error = done.json["error"]
    assert (done.code, error["code"]) == (2, code)
    assert error["why"].startswith(why)
    assert all(error[part] for part in ("what", "where", "why", "help"))
    assert list(match.directory.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("a=90112", 90112),
        ("a=8kB", 8000),
        ("a=64KiB", 65536),
        ("a = 1 MiB", 1 << 20),
        ("a=2mb", 2_000_000),
        ("a=7B", 7),
        ("a=2GB", 2_000_000_000),
    ],
)
def test_sizes(text: str, size: int) -> None:
    assert memory_size(text) == ("a", size)


@pytest.mark.parametrize(
    "text", ["", "a", "=8", "a=", "a=kB", "a=-8", "a=1.5kB", "a=8TB", f"a={'9' * 5000}", "a=0x10", "a=8 8"]
)
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(UsageError, match="the size of a memory cannot be changed"):
        memory_size(text)


def test_a_soc_without_presets() -> None:
    from match_core.contract.hardware import Memory, Soc

    soc = Soc("plain", "", "host", ("host",), (Memory("ram", 1, 64),), (), "ram")
    with pytest.raises(UsageError) as caught:
        adapted_soc(soc, "fast", ())
    assert caught.value.why == "it has no presets"
    assert adapted_soc(soc, None, (("ram", 32),)).memory("ram").size_bytes == 32


def test_cold_and_warm_and_uncached_programs_are_equal(match: Match, make_model: MakeModel) -> None:
    model, cache = make_model(operators=("Relu", "Sigmoid"), shape=SHAPE), match.directory / "cache"
    for name, options in (("cold", []), ("warm", []), ("none", ["--no-cache"])):
        assert match("compile", model, "-o", name, *options, MATCH_CACHE_DIR=str(cache)).code == 0
    programs = [program_files(match.directory / name) for name in ("cold", "warm", "none")]
    assert programs[0] == programs[1] == programs[2]


def test_two_compilations_at_once(match: Match, make_model: MakeModel) -> None:
    model = make_model(operators=("Relu", "Sigmoid", "Relu"), shape=SHAPE)
    environment = match.environment(MATCH_CACHE_DIR=str(match.directory / "cache"))
    commands = [[*MATCH, "compile", str(model), "-o", f"out{number}"] for number in range(2)]
    running = [subprocess.Popen(command, cwd=match.directory, env=environment) for command in commands]
    assert [process.wait(timeout=60) for process in running] == [0, 0]
    assert program_files(match.directory / "out0") == program_files(match.directory / "out1")
