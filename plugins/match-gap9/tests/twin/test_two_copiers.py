"""Copies of the controller and of core 0 at the same time: each command has an id of its own; with the code of before,
which merged later commands into the port's last id, the twin notices."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from match_core.lower.interfaces import context_header
from match_gap9.emit import INTERFACES
from match_gap9.timing import HEADER_NAME, render_timing_header

from tests.c_objects import link_cached

from .conftest import HERE, SANITIZE, WARNINGS, repository, sources

PLATFORM = repository() / "plugins/match-gap9/src/match_gap9/runtime/match_gap9_platform.c"
#: Each change makes copies of two cores share what each needs for itself.
MUTANTS = {
    "commands are merged": (
        "if ((copy->command == NULL) || (team.led != 0)) {",
        "if (copy->command == NULL) {",
    ),
    "both take all ids": ("#define SHARED_COPY_SLOTS 7u", "#define SHARED_COPY_SLOTS 9u"),
    "both have one list": ("return &copiers[(pi_core_id() < NUM_CORES) ? 0 : 1];", "return &copiers[0];"),
}
THREADS = ("-fsanitize=thread", "-fno-builtin", "-fPIE", "-g1", "-O1", "-DMATCH_TWIN_CONCURRENT")
MODES = ("eager", "lazy", "threads:1")

Runs = Callable[[str], "subprocess.CompletedProcess[str]"]


def _built(folder: Path, text: str) -> Runs:
    """Runs the program in a mode, with the platform's source as given."""
    files, folders = sources()
    (folder / HEADER_NAME).write_text(render_timing_header())
    for header in map(context_header, INTERFACES):
        (folder / header.name).write_text(header.text)
    platform = folder / "match_gap9_platform.c"
    platform.write_text(text)
    found = [file for file in files if file.name != "ne16_setters.c"]
    for name, flags in (("timeline", SANITIZE), ("threads", THREADS)):
        everything = (HERE / "two_copiers.c", platform, *found)
        link_cached(folder / name, (*WARNINGS, *flags, "-pthread"), everything, (folder, *folders))

    def run(mode: str) -> subprocess.CompletedProcess[str]:
        program = folder / ("threads" if mode.startswith("threads") else "timeline")
        return subprocess.run([str(program), mode], capture_output=True, text=True, timeout=120, check=False)

    return run


@pytest.mark.parametrize("mode", MODES)
def test_every_copy_is_whole_at_its_wait(tmp_path: Path, mode: str) -> None:
    done = _built(tmp_path, PLATFORM.read_text())(mode)
    assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr


@pytest.mark.parametrize("change", MUTANTS)
def test_what_two_copiers_share_is_noticed(tmp_path: Path, change: str) -> None:
    before, after = MUTANTS[change]
    text = PLATFORM.read_text()
    assert before in text
    run = _built(tmp_path, text.replace(before, after))
    results = [run(mode) for mode in MODES]
    assert any(done.returncode != 0 or done.stdout != "0\n" for done in results)
