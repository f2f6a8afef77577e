"""The depth of the stack from gcc's call graphs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.stack import stack_depth


def _node(title: str, frame: str = "") -> str:
    label = f"{title.rsplit(':', 1)[-1]}\\nx.c:1:1" + (f"\\n{frame}" if frame else "")
    return f'node: {{ title: "{title}" label: "{label}" }}\n'


def _edge(caller: str, callee: str) -> str:
    return f'edge: {{ sourcename: "{caller}" targetname: "{callee}" label: "x.c:1:1" }}\n'


def test_the_deepest_path_counts() -> None:
    first = _node("run", "16 bytes (static)") + _node("conv", "") + _edge("run", "conv") + _edge("run", "b.c:pool")
    first += _node("b.c:pool", "200 bytes (static)") + _node("memcpy") + _edge("b.c:pool", "memcpy")
    second = _node("conv", "48 bytes (static)") + _node("inner", "160 bytes (dynamic,bounded)") + _edge("conv", "inner")
    depth = stack_depth([first, second], "run")
    assert depth.size_bytes == 16 + 48 + 160 and depth.path == ("run", "conv", "inner")
    assert depth.outside == ("memcpy",)
    assert stack_depth([first, second], "b.c:pool").path == ("pool",)


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        (_node("walk", "8 bytes (static)"), "no function run"),
        (_node("run", "8 bytes (dynamic)"), "no constant size"),
        (_node("run", "8 bytes (static)") + _edge("run", "__indirect_call"), "through a pointer"),
        (
            _node("run", "8 bytes (static)")
            + _node("a.c:f", "8 bytes (static)")
            + _edge("run", "a.c:f")
            + _edge("a.c:f", "run"),
            "run -> f -> run",
        ),
    ],
)
def test_what_has_no_bound_is_refused(graph: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        stack_depth([graph], "run")


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_of_a_compiler(tmp_path: Path) -> None:
    source = tmp_path / "a.c"
    source.write_text(
        "void other(char *);\n"
        "static __attribute__((noinline)) void deep(void) { char room[1000]; other(room); }\n"
        "void run(void); void run(void) { char room[100]; other(room); deep(); }\n",
        encoding="utf-8",
    )
    command = ["gcc", "-O1", "-fcallgraph-info=su", "-c", str(source), "-o", str(tmp_path / "a.o")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("this gcc writes no call graph (it came with gcc 10)")
    depth = stack_depth([(tmp_path / "a.ci").read_text(encoding="utf-8")], "run")
    assert 1100 <= depth.size_bytes <= 1300 and depth.path == ("run", "deep") and depth.outside == ("other",)
