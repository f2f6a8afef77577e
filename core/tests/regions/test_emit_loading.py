"""Regions are loaded once and unloaded: counted by a fake engine, in both kinds of programs, with sanitizers."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest
from match_core.contract.observe import NullObserver
from match_core.pipeline import CompileRequest, build_program
from match_core.run.compiler import SANITIZE, STRICT

from core.tests.regions.test_emit_formats import FORMATS, loaded, model

if TYPE_CHECKING:
    from core.tests.plugin.distributions import Site

HERE = Path(__file__).parent
THREADS = ("-fsanitize=thread", "-fPIE", "-g1", "-O1")
#: The files of this folder that are no part of the program.
OWN = ("engine_main.c", "engine_threads.c")


def _run(folder: Path, form: str, site: Site, execution: Literal["sequential", "concurrent"], **options: bool) -> None:
    target = "engine_chip" if execution == "sequential" else "beside_chip"
    request = CompileRequest(model(folder), target, execution=execution)
    sources = build_program(request, loaded(site, form, **options), NullObserver()).sources
    for file in sources.files:
        (folder / file.name).parent.mkdir(exist_ok=True)
        (folder / file.name).write_bytes(file.content)
    manifest = json.loads(sources.text("match.lock.json"))
    assert bool(manifest["queues"]) == (execution == "concurrent")
    checks = SANITIZE if execution == "sequential" else THREADS
    program = [name for name in sorted(manifest["files"]) if name.endswith(".c") and "/" not in name]
    for name in OWN:
        (folder / name).write_text((HERE / name).read_text())
    objects = []
    for name in (*program, *OWN):
        objects.append(f"{name}.o")
        flags = STRICT if name in program else ("-std=c11", f"-DSTATE_BYTES={manifest['state_bytes']}u")
        done = subprocess.run(
            ["cc", *flags, *checks, "-c", name, "-o", objects[-1]],
            cwd=folder, check=False, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    subprocess.run(["cc", *checks, *objects, "-lm", "-pthread", "-o", "app"], cwd=folder, check=True)
    ran = subprocess.run([folder / "app"], check=False, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("form", FORMATS)
def test_one_task_after_another(site: Site, tmp_path: Path, form: str) -> None:
    _run(tmp_path, form, site, "sequential")


def test_tasks_that_the_platform_hands_to_the_unit(site: Site, tmp_path: Path) -> None:
    _run(tmp_path, "binary", site, "sequential", call=True)


@pytest.mark.parametrize("form", FORMATS)
def test_units_side_by_side(site: Site, tmp_path: Path, form: str) -> None:
    _run(tmp_path, form, site, "concurrent")


def test_regions_that_the_host_starts(site: Site, tmp_path: Path) -> None:
    _run(tmp_path, "json", site, "concurrent", started=True)
