"""The C sources themselves: warning-free everywhere, and the runtime free of the host's library."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from match_gap9.constants import constants
from match_gap9.timing import CLOCKS, HEADER_NAME, render_timing_header

WARNINGS = ("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")
PACKAGE = next(p for p in Path(__file__).resolve().parents if (p / "src/match_gap9").is_dir()) / "src/match_gap9"
RUNTIME = PACKAGE.parents[3] / "core/src/match_core/run/runtime"

#: What a silicon build has instead of the twin's pmsis.h: no cycle hooks.
BARE_PMSIS = """#pragma once
struct pi_cluster_task;
typedef struct pi_task pi_task_t;
int pi_core_id(void);
void pi_cl_team_barrier(int barrier);
"""


def compile_object(source: Path, output: Path, *flags: str) -> None:
    command = ["gcc", *WARNINGS, *flags, "-c", str(source), "-o", str(output)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"


@pytest.mark.parametrize("preset", ["as-published", "engine"])
@pytest.mark.parametrize("level", ["-O0", "-O3"])
def test_twin_is_warning_free(tmp_path, preset, level):
    (tmp_path / HEADER_NAME).write_text(render_timing_header(preset))
    folders = [tmp_path, PACKAGE / "twin/include", PACKAGE / "runtime", RUNTIME]
    files = [*sorted((PACKAGE / "twin/src").glob("*.c")), *sorted(RUNTIME.glob("*.c"))]
    assert len(files) >= 14
    for source in files:
        compile_object(source, tmp_path / "x.o", level, *(f"-I{folder}" for folder in folders))


def test_kernels_compile_for_silicon_and_need_nothing_else(tmp_path):
    (tmp_path / "pmsis.h").write_text(BARE_PMSIS)
    compile_object(PACKAGE / "runtime/match_gap9_kernels.c", tmp_path / "k.o", "-Os", f"-I{tmp_path}")
    done = subprocess.run(["nm", "-u", str(tmp_path / "k.o")], capture_output=True, text=True, check=True)
    assert {line.split()[-1] for line in done.stdout.splitlines()} == {"pi_core_id", "pi_cl_team_barrier"}


def test_headers_stand_alone(tmp_path):
    (tmp_path / HEADER_NAME).write_text(render_timing_header())
    for header in sorted((PACKAGE / "twin/include").glob("*.h")):
        unit = tmp_path / "unit.c"
        unit.write_text(f'#include "{header.name}"\nint match_test_unit;\n')
        compile_object(unit, tmp_path / "u.o", f"-I{PACKAGE / 'twin/include'}", f"-I{tmp_path}")


def test_timing_header_is_complete_and_deterministic():
    for preset in ("as-published", "engine"):
        text = render_timing_header(preset)
        for constant in constants(preset):
            assert f"#define MATCH_GAP9_{constant.name.upper()} {int(constant.value)}u " in text
        for index, clock in enumerate(CLOCKS):
            assert f"#define MATCH_TWIN_CLOCK_{clock.upper()} {index}u" in text
        code = f"from match_gap9.timing import render_timing_header as r; print(r({preset!r}), end='')"
        for seed in ("1", "2"):
            again = subprocess.run(
                [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
            )
            assert again.stdout == text
    with pytest.raises(KeyError):
        render_timing_header("made-up")


def test_sources_stay_readable():
    for source in [*PACKAGE.glob("twin/*/*"), *RUNTIME.glob("*"), *PACKAGE.glob("runtime/match_gap9_kernels.*")]:
        lines = source.read_text(encoding="utf-8").splitlines()
        assert len(lines) <= 350, source
        assert all(len(line) <= 122 for line in lines), source
        assert any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:20]), source
