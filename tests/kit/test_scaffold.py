"""The package that ``match new-target`` writes is small, passes, and is not whole without any of its parts."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from match_core.contract.errors import UsageError
from match_kit.lines import code_lines
from match_kit.scaffold import KINDS, files_of, package_files, target_name, write_package

from tests.base_packages import allowing
from tests.docs.pages import DOCS, text_of

if TYPE_CHECKING:
    from tests.kit.conftest import Scaffolded

#: Of modules and C, without tests.
LINES_MAX = 340
#: Those of the kind tiles.
FILES = files_of("tiles")


def _counted(project: Path) -> dict[str, int]:
    return {
        path.relative_to(project).as_posix(): code_lines(path.read_text("utf-8"))
        for path in (project / "src").rglob("*")
        if path.suffix in (".py", ".c", ".h")
    }


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_as_small_as_the_page_says(kind: str, scaffolded: Scaffolded) -> None:
    counted = _counted(scaffolded.project)
    row = next(line for line in text_of(DOCS / "kinds.md").splitlines() if line.startswith("| lines of Python and C"))
    stated = dict(zip(KINDS, (int(cell) for cell in row.split("|")[2:5]), strict=True))
    assert sum(counted.values()) == stated[kind] < LINES_MAX, counted


@pytest.mark.parametrize("kind", KINDS)
def test_it_passes(kind: str, scaffolded: Scaffolded) -> None:
    outcomes = scaffolded.outcomes()
    assert scaffolded.faults("loads") == ""
    assert [outcome for outcome in outcomes if outcome.status == "failed"] == []
    skipped = ["programs-threads"] if kind != "library" else ["costs-counted", "programs-threads"]
    assert [outcome.case for outcome in outcomes if outcome.status == "skipped"] == skipped


@pytest.mark.parametrize("kind", KINDS)
def test_every_module_is_used_and_every_template_filled(kind: str) -> None:
    texts = dict(package_files("sprout", kind))
    assert [place for place, text in texts.items() if "${" in text or "{module}" in place] == []
    named = "\n".join(texts.values())
    modules = [Path(place).stem for place in texts if place.startswith("src/") and place.endswith(".py")]
    assert [name for name in modules if name != "__init__" and f"match_sprout.{name}" not in named] == []


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(UsageError, match="no such kind") as caught:
        write_package("sprout", kind="tile")
    assert caught.value.code == "MATCH-U054" and "did you mean --kind tiles?" in caught.value.help


#: What is said where a file is missing; levels that are enough to say it.
MISSING = {
    "pyproject.toml.mako": "pyproject.toml",
    "tiles/README.md.mako": "README.md",
    "ci.yml.mako": ".github/workflows",
    "tiles/page.md.mako": "docs/sprout.md",
    "init.py.mako": "match_sprout/__init__.py",
    "plugin.py.mako": "match_sprout.plugin",
    "tiles/hardware.py.mako": "match_sprout.hardware",
    "tiles/patterns.py.mako": "match_sprout.patterns",
    "tiles/cost.py.mako": "match_sprout.cost",
    "tiles/emit.py.mako": "match_sprout.emit",
    "tiles/conformance.py.mako": "match_sprout.conformance",
    "tiles/sdk.h.mako": "sprout_sdk.h",
    "tiles/twin.c.mako": "sprout_twin.c",
    "test_conformance.py.mako": "tests/test_conformance.py",
}


@pytest.mark.parametrize("template", FILES)
def test_a_file_that_is_missing_is_named(template: str, scaffolded: Scaffolded) -> None:
    place = FILES[template].format(name="sprout", module="match_sprout")
    (scaffolded.project / place).unlink()
    assert MISSING[template] in scaffolded.faults("loads", "describes")


PLUGIN, HARDWARE, PATTERNS, COST, EMIT, TWIN = (
    f"src/match_sprout/{name}"
    for name in ("plugin.py", "hardware.py", "patterns.py", "cost.py", "emit.py", "c/sprout_twin.c")
)
BUILD = "pyproject.toml"
#: Part that is taken out (file, text, what stands there instead), the level that tells, and what it says.
PARTS = {
    "entry point": (BUILD, 'sprout = "match_sprout.plugin"', "", "loads", "entry point"),
    "bound": (BUILD, "match-core>=0.1,<0.2", "match-core>=0.1", "loads", "upper bound"),
    "licence": (BUILD, 'license = "Apache-2.0"', "", "loads", "licence"),
    "description": (BUILD, 'readme = "README.md"', "", "loads", "description"),
    "contract": (PLUGIN, "match_contract = 1", "", "loads", "contract"),
    "marker": (PLUGIN, "@hookimpl\ndef match_cost", "def match_cost", "loads", "match_cost is not marked"),
    "match_hardware": (PLUGIN, "    return HARDWARE", "    return None", "loads", "match_hardware"),
    "match_patterns": (PLUGIN, "return PATTERNS if", "return () if", "describes", "match_patterns, unit sprout_array"),
    "match_cost": (PLUGIN, "return ArrayCost() if", "return None if", "describes", "match_cost"),
    "match_emit_api": (PLUGIN, "return unit_api() if", "return None if", "describes", "match_emit_api"),
    "unit of a figure": (HARDWARE, '40, "cycles"', '40, ""', "describes", "constant start_cycles of unit sprout_array"),
    "source of a memory": (HARDWARE, "64 * 1024, 8, _EXAMPLE", "64 * 1024, 8", "describes", "memory l1"),
    "link": (HARDWARE, 'max_dims=3),)', 'max_dims=3),)[:0]', "describes", "no link joins l1"),
    "local memory": (HARDWARE, 'Memory("l1", 1, 64 * 1024, 8, _EXAMPLE), ', "", "loads", "match_hardware"),
    "kernel": (EMIT, "kernels={", "kernels={} and {", "describes", "no kernel has the pattern's name"),
    "copies": (EMIT, "memory=MemoryApi(", "memory=None and MemoryApi(", "describes", "no copy functions"),
    "twin": (EMIT, 'sources=(_file("sprout_twin.c"),)', "sources=()", "describes", "it has no twin"),
    "clock": (EMIT, "clock=ARRAY.name", 'clock="none"', "describes", "clock 'none'"),
    "structure": (PATTERNS, 'requantised(DENSE, "U8")', 'requantised(DENSE, "X")', "patterns", "matches in the sample"),
    "own name only": (PLUGIN, "return unit_api() if", "assert len(soc.name) < 7\n    return unit_api() if",
                      "describes", "unit sprout_array on a Soc of another name"),
    "rule in words": (PATTERNS, 'f"a row has at most {FEATURES_MAX} features"', '""', "patterns",
                      "constraint 'features'"),
    "reason": (PATTERNS, 'f"it has {count}"', '""', "patterns", "its reason ''"),
    "dimension": (PATTERNS, 'axis("k", outputs)', 'axis("q", outputs)', "patterns", "uses unknown dimension Q"),
    "parameter": (PATTERNS, "arithmetic=bounds(match)", "arithmetic=bounds(match)[1:]", "patterns", "geometry"),
    "version": (COST, 'version: str = "1"', 'version: str = ""', "describes", "no version"),
    "whole cycles": (COST, 'return tile["N"] * ', 'return 1.0 * tile["N"] * ', "costs", "float64"),
    "vectorised": (COST, 'np.full_like(tile["N"], VALUES["start_cycles"])', "40", "costs", "launch"),
    "work": (COST, ' * -(-tile["K"] // side)', "", "costs", "per cycle"),
    "growth": (COST, 'return tile["N"] * -(', 'return 10**6 - tile["N"] * -(', "costs", "cycles; "),
    "words": (COST, "words = -", "words = 0 * -", "costs", "link dma"),
    "poison's end": (TWIN, "match_twin_complete(copies[i]);", "", "programs", "mode lazy"),
    "clip": (TWIN, "y > t->high ? t->high : y", "y", "programs", "mode eager"),
    "warning-free C": (TWIN, "(uint8_t)(y < t->low", "(y < t->low", "programs", "sprout_twin.c"),
    "copy": (TWIN, "start_copy((copy_t){far, near", "(void)((copy_t){far, near", "programs", "unit sprout_array"),
}  # fmt: skip


@pytest.mark.parametrize("part", PARTS)
def test_a_part_that_is_missing_is_named(part: str, scaffolded: Scaffolded) -> None:
    place, before, after, level, said = PARTS[part]
    scaffolded.edit(place, before, after)
    assert said in scaffolded.faults(level)


def test_an_emission_that_hangs_on_hashes_is_named(scaffolded: Scaffolded) -> None:
    scaffolded.edit(
        "src/match_sprout/emit.py", "runtime=(", "runtime=(RuntimeFile(f'x{hash(chr(97)) % 2**61}.h', ''), "
    )
    assert "the bytes differ between two processes with different hash seeds" in scaffolded.faults("repeats")


def test_a_crash_where_a_memory_is_too_small_is_named(scaffolded: Scaffolded) -> None:
    scaffolded.edit(
        "src/match_sprout/plugin.py",
        "    return ArrayCost() if",
        "    if soc.memory('l1').size_bytes < 100:\n        raise KeyError('l1')\n    return ArrayCost() if",
    )
    # A hook that raises is told with a code: that is not a crash.
    assert scaffolded.faults("errors") == ""


def test_it_installs_offline_and_the_verb_writes_its_badge(tmp_path: Path) -> None:
    """As a third party would: pip, then the command in a process of its own."""
    project = write_package("sprout", tmp_path / "match-sprout")
    site = tmp_path / "site"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--target", str(site), str(project)], check=True)
    match = [
        sys.executable,
        "-c",
        f"import sys; sys.path.insert(0, {str(site)!r})\nfrom match_core.cli.main import main; main()",
    ]
    environment = {"PYTHONPATH": str(site), "PATH": "/usr/bin:/bin", **allowing("match-sprout", "match-kit")}
    done = subprocess.run(
        [*match, "test-target", str(project)], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok: match-sprout 0.1.0: 9 of 9 levels" in done.stdout
    listed = subprocess.run([*match, "plugins"], capture_output=True, text=True, check=True, env=environment)
    assert "9 of 9 levels" in listed.stdout


@pytest.mark.parametrize("text", ["", "-", "7up", "é", "host", "int", "match", "x" * 41, "stdio", "for"])
def test_names_that_are_refused(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        target_name(text)
    assert caught.value.code == "MATCH-U050"


@given(st.text(max_size=50))
def test_other_names_are_safe_everywhere(text: str) -> None:
    try:
        name = target_name(text)
    except UsageError:
        return
    assert re.fullmatch(r"[a-z][a-z0-9_]{0,39}", name)
    assert target_name(name) == name


def test_hostile_names() -> None:
    assert target_name("My Chip/../2") == "my_chip_2"
    assert target_name("match-${x}") == "x"


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    for folder in (tmp_path, tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(UsageError) as caught:
            write_package("sprout", folder)
        assert caught.value.code == "MATCH-U051"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_two_packages_are_told_apart(tmp_path: Path) -> None:
    for name in ("sprout", "long-name"):
        write_package(name, tmp_path / name)
    text = (tmp_path / "long-name" / "src" / "match_long_name" / "plugin.py").read_text("utf-8")
    assert "long_name_array" in text and "sprout" not in text
    assert 'name = "match-long-name"' in (tmp_path / "long-name" / "pyproject.toml").read_text("utf-8")
