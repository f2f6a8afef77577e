"""Broken, outdated and clashing packages of third parties: every other target works, each is told in one line."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pytest
from match_core.plugin.facade import Plugins
from match_report.npz import write_arrays

from tests.envelope import opened
from tests.errors import models
from tests.errors.packages import ALL, BROKEN, CARELESS, CLASHING, USURPER, Package, install

Run = Callable[..., "subprocess.CompletedProcess[str]"]
#: Targets of the packages of this repository.
TARGETS = tuple(sorted(soc.name for soc in Plugins.load().hardware().socs))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All faulty packages, installed side by side."""
    return install(ALL, tmp_path_factory.mktemp("faulty"))


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory, match_command: Run) -> Path:
    """A folder with a model and its program, made where nothing is faulty."""
    folder = tmp_path_factory.mktemp("program")
    model = models.relu(folder / "model.onnx")
    done = match_command("compile", model, "-t", "host", "-o", folder / "out")
    assert done.returncode == 0, done.stderr
    return folder


def _each_told_once(stderr: str, packages: Iterable[Package]) -> None:
    """Which package, of which version, what is wrong with it and how it is switched off; nothing else is printed."""
    lines = stderr.splitlines()
    for package in packages:
        (line,) = [line for line in lines if f"({package.name} {package.version})" in line]
        lines.remove(line)
        assert line.startswith("warning: plugin ")
        assert package.told in line and package.code in line
        assert line.endswith(f"to disable it, set MATCH_DISABLE_PLUGINS={package.name}]")
    assert lines == []


@pytest.mark.parametrize("target", TARGETS)
def test_every_other_target_is_compiled_for(target: str, site: Path, tmp_path: Path, match_command: Run) -> None:
    model = models.relu(tmp_path / "model.onnx")
    options = ("-t", target, "-o", tmp_path / "out", "--quiet", "--json")
    done = match_command("compile", model, *options, PYTHONPATH=str(site))
    assert done.returncode == 0, done.stderr
    assert opened(done.stdout)["target"] == target
    assert (tmp_path / "out" / "match.lock.json").is_file()
    about_plugins, _, _ = done.stderr.partition("warning: the whole network")  # of one Relu
    _each_told_once(about_plugins, ALL)


#: Arguments by verb; whether it asks the hooks that only compiling asks.
VERBS = {
    "targets": (["--json"], False),
    "plugins": (["--json"], False),
    "doctor": (["--json"], True),
    "check": (["MODEL", "-t", "host", "--json", "--quiet"], True),
    "verify": (["MODEL", "-t", "host", "--json", "--quiet"], True),
    "explain": (["MODEL", "activation", "-t", "host", "--json", "--quiet"], True),
    "fit": (["MODEL", "-t", "host", "--budget", "ram=1M", "--json", "--quiet"], True),
    "run": (["PROGRAM", "--inputs", "INPUTS", "--outputs", "OUTPUTS", "--json", "--quiet"], True),
}


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_tells_each_once(verb: str, site: Path, program: Path, tmp_path: Path, match_command: Run) -> None:
    arguments, compiling = VERBS[verb]
    write_arrays(tmp_path / "in.npz", {"x": np.ones((1, 1, 8), np.float32)})
    places = {"MODEL": program / "model.onnx", "PROGRAM": program / "out"}
    places |= {"INPUTS": tmp_path / "in.npz", "OUTPUTS": tmp_path / "out.npz"}
    done = match_command(verb, *(places.get(text, text) for text in arguments), PYTHONPATH=str(site))
    assert done.returncode == 0, done.stdout + done.stderr
    assert opened(done.stdout)
    _each_told_once(done.stderr, [package for package in ALL if compiling or not package.compiling])


def test_verbs_without_targets_ask_no_package(site: Path, tmp_path: Path, match_command: Run) -> None:
    done = match_command("new-target", "chip", "-o", tmp_path / "match-chip", PYTHONPATH=str(site))
    assert done.returncode == 0 and "plugin" not in done.stderr


def test_plugins_and_doctor_tell_what_is_wrong(site: Path, match_command: Run) -> None:
    listed = opened(match_command("plugins", "--json", PYTHONPATH=str(site)).stdout)
    status = {row["distribution"]: row["status"] for row in listed["plugins"]}
    refused = {fault["distribution"]: fault for fault in listed["faults"]}
    findings = opened(match_command("doctor", "--json", PYTHONPATH=str(site)).stdout)["findings"]
    assert next(finding for finding in findings if finding["name"] == "target careless")["status"] == "failed"
    for package in ALL:
        wanted = {"MATCH-H006": "faulty", "MATCH-H007": "faulty", "MATCH-H005": "active"}.get(package.code, "refused")
        assert status[package.name] == wanted
        if not package.compiling:
            assert package.told in refused[package.name]["cause"]
        (finding,) = [
            finding
            for finding in findings
            if finding["name"].startswith("plugin ") and f"{package.name} {package.version}," in finding["detail"]
        ]
        assert finding["status"] == "failed" and not finding["needed"]
        assert package.told in finding["detail"] and package.code in finding["detail"]
        assert finding["help"] == f"to disable it, set MATCH_DISABLE_PLUGINS={package.name}"


def test_targets_lists_the_others(site: Path, match_command: Run) -> None:
    done = match_command("targets", "--json", PYTHONPATH=str(site))
    assert sorted(row["name"] for row in opened(done.stdout)["targets"]) == sorted((*TARGETS, "careless"))


@pytest.mark.parametrize(
    ("target", "code", "words"),
    [
        ("broken", "MATCH-H001", "RuntimeError: this chip was never built"),
        ("careless", "MATCH-H005", "KeyError: 'careless with careless'"),
        ("old", "MATCH-H002", "it was written for contract 0; this core has contract 1"),
        ("both", "MATCH-H007", "the Soc name 'both' is defined by match-left 1.0 and match-right 1.1"),
    ],
)
def test_asking_for_a_target_of_one_is_an_error_that_says_why(
    target: str, code: str, words: str, site: Path, program: Path, tmp_path: Path, match_command: Run
) -> None:
    options = ("-t", target, "-o", tmp_path / "out", "--quiet")
    done = match_command("compile", program / "model.onnx", *options, PYTHONPATH=str(site))
    assert done.returncode == 3
    assert f"error: {code}: " in done.stderr
    assert done.stderr.count(words) == 1, "told as the error, not as a warning too"
    assert "Traceback" not in done.stderr


def test_switched_off_they_are_silent(site: Path, match_command: Run) -> None:
    names = ",".join(package.name for package in ALL)
    done = match_command("doctor", PYTHONPATH=str(site), MATCH_DISABLE_PLUGINS=names)
    assert done.returncode == 0 and "plugin" not in done.stderr


def test_one_of_a_pair_switched_off_leaves_the_other_in_use(site: Path, match_command: Run) -> None:
    names = ",".join(package.name for package in (BROKEN, CARELESS, *CLASHING[1::2]))
    done = match_command("targets", "--json", PYTHONPATH=str(site), MATCH_DISABLE_PLUGINS=names)
    assert {"both", "one"} <= {row["name"] for row in opened(done.stdout)["targets"]}


def test_nobody_takes_a_name_from_an_installed_package(tmp_path: Path, match_command: Run) -> None:
    """Neither of the two has it, because order must not decide; all other targets work."""
    site, model = str(install([USURPER], tmp_path)), models.relu(tmp_path / "model.onnx")
    done = match_command("compile", model, "-t", "gap9", "-o", tmp_path / "gap9", PYTHONPATH=site)
    assert done.returncode == 3
    assert "the Soc name 'gap9' is defined by match-gap9 0.1.0 and match-gap9-fork 3.1" in done.stderr
    done = match_command("compile", model, "-t", "diana", "-o", tmp_path / "diana", "--quiet", PYTHONPATH=site)
    assert done.returncode == 0
    warnings = [line for line in done.stderr.splitlines() if line.startswith("warning: plugin")]
    assert [line.split(",")[0] for line in warnings] == [
        "warning: plugin gap9 (match-gap9 0.1.0)",
        "warning: plugin gap9-fork (match-gap9-fork 3.1)",
    ]
    options = ("-t", "gap9", "-o", tmp_path / "gap9", "--quiet")
    done = match_command("compile", model, *options, PYTHONPATH=site, MATCH_DISABLE_PLUGINS=USURPER.name)
    assert done.returncode == 0 and "plugin" not in done.stderr
