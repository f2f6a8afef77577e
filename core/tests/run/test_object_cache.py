"""Objects kept between builds: what they are found by, and which ones are kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from match_core.run.compiler import BuildOptions, View, compile_sources
from match_core.run.object_cache import ObjectCache, keep_object, kept_object

COMMAND = ("cc", "-O2", '-DSYNC="sync.h"', "-include", "before.h")
FILES = {
    "kernel.c": '#include "kernel.h"\nint match_kernel(void) { return match_one; }\n',
    "kernel.h": "#include MATCH_INNER\n#define MATCH_INNER <inner.h>\nenum { match_one = 1 };\n",
    "inner.h": "\n",
    "sync.h": "\n",
    "before.h": "\n",
    "net.h": "\n",
    "net.c": "int match_net(void);\nint match_net(void) { return 2; }\n",
}


def _written(folder: Path, **changed: str) -> Path:
    folder.mkdir()
    for name, text in {**FILES, **changed}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def _place(folder: Path, command: tuple[str, ...] = COMMAND) -> Path:
    return ObjectCache(command, (folder,)).path(folder / "kernel.c")


def test_the_same_files_elsewhere_are_the_same_object(tmp_path: Path) -> None:
    assert _place(_written(tmp_path / "a")) == _place(_written(tmp_path / "b"))


def test_headers_that_the_source_cannot_see_do_not_matter(tmp_path: Path) -> None:
    first, second = _written(tmp_path / "a"), _written(tmp_path / "b", **{"net.h": "int other;\n"})
    assert _place(first) == _place(second)


@pytest.mark.parametrize("name", ["kernel.c", "kernel.h", "inner.h", "sync.h", "before.h"])
def test_whatever_the_compiler_reads_matters(tmp_path: Path, name: str) -> None:
    """The header of a header, one that a macro names and those that the command names too."""
    other = _written(tmp_path / "b", **{name: FILES[name] + "/* changed */\n"})
    assert _place(_written(tmp_path / "a")) != _place(other)


def test_a_header_that_appears_in_another_folder_matters(tmp_path: Path) -> None:
    folder, other = _written(tmp_path / "a"), tmp_path / "b"
    other.mkdir()
    cache = ObjectCache(COMMAND, (other, folder)).path(folder / "kernel.c")
    (other / "inner.h").write_text("int before;\n", encoding="utf-8")
    assert ObjectCache(COMMAND, (other, folder)).path(folder / "kernel.c") != cache


def test_flags_matter(tmp_path: Path) -> None:
    folder = _written(tmp_path / "a")
    assert _place(folder) != _place(folder, ("cc", "-O1", *COMMAND[2:]))


def test_runtime_files_are_kept_and_sources_of_a_model_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MATCH_CACHE_DIR", str(tmp_path / "cache"))
    program = _written(tmp_path / "program", **{"kernel.h": "int match_kernel(void);\nenum { match_one = 1 };\n"})
    for work in (tmp_path / "first", tmp_path / "second"):
        work.mkdir()
        for name in ("harness.c", "twin.c"):
            (work / name).write_text(f"int {name[:-2]}(void);\nint {name[:-2]}(void) {{ return 0; }}\n", "utf-8")
        sources, own = [program / "kernel.c", program / "net.c"], [work / "harness.c", work / "twin.c"]
        objects = compile_sources(sources, own, {"kernel.c"}, [work, program], View(), BuildOptions())
        assert all(path.is_file() for path in objects.objects.values())
        assert sorted(path.name for path in (tmp_path / "cache").rglob("*.o")) == ["kernel.o", "twin.o"]


def test_a_kept_object_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MATCH_CACHE_DIR", str(tmp_path / "cache"))
    work = _written(tmp_path / "work", **{"harness.c": "typedef int empty;\n", "kernel.h": "enum { match_one = 1 };\n"})
    for content in (None, b"kept"):
        objects = compile_sources([work / "net.c"], [work / "harness.c"], {"net.c"}, [work], View(), BuildOptions())
        kept = next((tmp_path / "cache").rglob("net.o"))
        assert objects.objects[work / "net.c"].read_bytes() == (content or kept_object(kept))
        keep_object(kept, b"kept")
