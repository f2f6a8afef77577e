"""What connects match with shells, commits, build servers and containers."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import onnx
import pytest
import yaml

from tests.conftest import ROOT
from tests.float_models import exported_network

BIN = Path(sys.executable).parent
MATCH = BIN / "match"


def _environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", **more}


def _completed(words: str, position: int) -> list[str]:
    """What bash is offered for the word at a position."""
    variables = {"COMP_WORDS": words, "COMP_CWORD": str(position), "_MATCH_COMPLETE": "complete_bash"}
    done = subprocess.run([MATCH], env=_environment(**variables), capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "position", "offered"),
    [
        ("match comp", 1, ["compile"]),
        ("match compile net.onnx --quantized", 3, ["--quantized-io"]),
        ("match compile net.onnx -t ga", 4, ["gap9"]),
    ],
)
def test_bash_completes_verbs_options_and_targets(words: str, position: int, offered: list[str]) -> None:
    assert _completed(words, position) == offered


def test_the_completion_script_of_bash_works(tmp_path: Path) -> None:
    """The script that typer installs, in a shell: the function fills COMPREPLY."""
    shown = subprocess.run(
        [MATCH, "--show-completion", "bash"], env=_environment(), capture_output=True, text=True, check=False
    )
    if "complete" not in shown.stdout:
        pytest.skip("typer does not print a script for a given shell")
    script = tmp_path / "completion.sh"
    ask = "COMP_WORDS=(match targets --js); COMP_CWORD=2; _match_completion match; echo ${COMPREPLY[@]}"
    script.write_text(f"{shown.stdout}\n{ask}\n", encoding="utf-8")
    done = subprocess.run(["bash", script], env=_environment(), capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["--json"]


def _hooks() -> dict[str, dict[str, Any]]:
    return {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))}


def _run(hook: dict[str, Any], *arguments: object, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [*shlex.split(hook["entry"]), *map(str, arguments)]
    return subprocess.run(command, cwd=folder, env=_environment(), capture_output=True, text=True, check=False)


def test_the_hook_checks_every_changed_model(tmp_path: Path) -> None:
    hook = _hooks()["match-check"]
    assert re.search(hook["files"], "a/net.onnx") and re.search(hook["files"], "net.tflite")
    assert not re.search(hook["files"], "net.onnx.txt")
    good = exported_network(channels=2)
    good.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 1
    onnx.save(good, tmp_path / "good.onnx")
    onnx.save(exported_network(channels=2), tmp_path / "open batch.onnx")
    done = _run(hook, "--target", "host", "open batch.onnx", "good.onnx", folder=tmp_path)
    assert done.returncode == 1 and "MATCH-F013" in done.stderr and "good can run on host" in done.stdout


def test_the_hook_compares_two_directories(tmp_path: Path) -> None:
    done = _run(_hooks()["match-diff"], "before", "after", "--limit", "cycles=2%", folder=tmp_path)
    assert done.returncode == 2 and "MATCH-" in done.stderr


def test_the_workflow_runs_commands_that_exist() -> None:
    workflow = yaml.safe_load((ROOT / "examples" / "ci" / "match-diff.yml").read_text("utf-8"))
    steps = workflow["jobs"]["diff"]["steps"]
    assert set(workflow) == {"name", True, "permissions", "env", "jobs"} and all(
        "run" in s or "uses" in s for s in steps
    )
    lines = [line for step in steps for line in step.get("run", "").splitlines() if line.startswith("match ")]
    assert [line.split()[1] for line in lines] == ["compile", "compile", "diff", "verify"]
    for line in lines:
        verb, *words = shlex.split(line.partition(">")[0])[1:]
        shown = subprocess.run([MATCH, verb, "--help"], env=_environment(NO_COLOR="1"), capture_output=True, text=True)
        for word in words:
            assert not word.startswith("--") or word in shown.stdout, f"match {verb} has no {word}"
    for step in (step["run"] for step in steps if "run" in step):
        assert subprocess.run(["bash", "-n", "-c", step], check=False).returncode == 0


def test_the_changelog_names_the_version() -> None:
    from match_core.version import __version__

    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert text.startswith("# Changelog\n") and "\n## Unreleased\n" in text and f"\n## {__version__}" in text


def test_the_container_builds_every_package() -> None:
    """Its first stage takes all folders that hold a package, and leaves out nothing that a wheel holds."""
    text = (ROOT / "Containerfile").read_text("utf-8")
    folders = re.findall(r"^COPY (\S+) \S+$", text, re.MULTILINE)
    assert {"core", "plugins"} <= set(folders) and all((ROOT / folder).exists() for folder in folders)
    assert "in core plugins/match-*" in text and "/wheels/*.whl" in text
    assert all(path.name.startswith("match-") for path in (ROOT / "plugins").iterdir() if path.is_dir())
    ignored = (ROOT / ".containerignore").read_text("utf-8")
    assert ignored == (ROOT / ".dockerignore").read_text("utf-8")
    assert {line[1:] for line in ignored.splitlines() if line.startswith("!")} == {*folders, "requirements.txt"}
    assert "**/tests" in ignored and not list(ROOT.glob("plugins/*/src/**/tests"))


def _builder() -> str | None:
    """A program that can build an image here."""
    for name in ("podman", "docker", "buildah"):
        if shutil.which(name) and subprocess.run([name, "info"], capture_output=True, check=False).returncode == 0:
            return name
    return None


@pytest.mark.slow
def test_the_image_compiles_a_model(tmp_path: Path) -> None:
    builder = _builder()
    if builder is None:
        pytest.skip("no podman, docker or buildah that works on this machine")
    build = "bud" if builder == "buildah" else "build"
    subprocess.run([builder, build, "-t", "match-test", "-f", "Containerfile", "."], cwd=ROOT, check=True)
    if builder == "buildah":
        pytest.skip("built; buildah runs no images")
    command = [builder, "run", "--rm", "-v", f"{ROOT}/examples:/work/examples:ro", "match-test", "match", "verify"]
    subprocess.run([*command, "examples/demo/resnet8_shapes.onnx", "-t", "gap9", "--sequential"], check=True)
