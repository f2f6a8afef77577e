"""The runtime by itself, under sanitizers: code that it cannot run is refused, and everything is freed."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import match_core
import match_dnnl
import pytest
from dnnl_networks import need_library
from match_host.chip import runtime_files

CODE = """{"format":"match.region","version":1,
"tensors":[
{"kind":"input","index":0,"type":1,"shape":[1,4,6,6]},
{"kind":"constant","index":0,"type":1,"shape":[4,4,3,3]},
{"kind":"constant","index":1,"type":1,"shape":[4]},
{"kind":"inner","index":0,"type":1,"shape":[1,4,6,6]},
{"kind":"output","index":0,"type":1,"shape":[1,4,6,6]}],
"nodes":[
{"op":"dnnl::convolution","inputs":[0,1,2,0],"outputs":[3],"attributes":{"after":[1,1],"algorithm":"convolution_winograd","before":[1,1],"dilations":[0,0],\
"last":0,"own":3,"post":["sum","relu"],"post_alpha":[0.0,0.0],"post_beta":[0.0,0.0],"strides":[1,1]}},
{"op":"dnnl::softmax","inputs":[3],"outputs":[4],"attributes":{"algorithm":"softmax","axis":1,"own":1}}]}
"""
FLAGS = ("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", "-g1", "-O1")
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runtime with a program that loads the code in a file."""
    need_library()
    directory = tmp_path_factory.mktemp("runtime")
    for file in runtime_files(Path(match_dnnl.__file__).parent / "runtime"):
        (directory / file.name).write_text(file.text, encoding="utf-8")
    header = Path(match_core.__file__).parent / "templates" / "core" / "match_region.h"
    (directory / header.name).write_bytes(header.read_bytes())
    sources = [str(path) for path in sorted(directory.glob("*.c"))]
    main = str(Path(__file__).with_name("runtime_driver.c"))
    command = ["gcc", *FLAGS, *SANITIZERS, f"-I{directory}", *sources, main, "-ldnnl", "-lcjson", "-lm"]
    subprocess.run([*command, "-o", str(directory / "driver")], check=True)
    return directory / "driver"


def _answer(driver: Path, code: str) -> str:
    path = driver.with_name("code.json")
    path.write_text(code, encoding="utf-8")
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    run = subprocess.run([str(driver), str(path)], capture_output=True, text=True, check=False, env=environment)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def test_it_runs(driver: Path) -> None:
    """Softmax over channels: each of 36 positions sums to 1. The second run gives the same."""
    assert _answer(driver, CODE) == "36.0"


WRONG = {
    "no JSON": ("nodes", "nodes\\"),
    "another format": ("match.region", "match.other"),
    "a newer version": ('"version":1', '"version":2'),
    "half": (CODE[300:], ""),
    "an unknown operator": ("dnnl::softmax", "dnnl::hardmax"),
    "an unknown algorithm": ('"algorithm":"softmax"', '"algorithm":"best"'),
    "an algorithm of another operator": ('"algorithm":"softmax"', '"algorithm":"add"'),
    "no axis": ('"axis":1', '"axes":1'),
    "an axis that is not there": ('"axis":1', '"axis":4'),
    "a number that is none": ('"axis":1', '"axis":"1"'),
    "a fraction": ('"axis":1', '"axis":0.5'),
    "a tensor that is not there": ('"inputs":[3]', '"inputs":[5]'),
    "a tensor that is not made yet": ('"inputs":[0,1,2,0]', '"inputs":[0,1,2,3]'),
    "an output that is made twice": ('"outputs":[3]', '"outputs":[4]'),
    "an input as a result": ('"outputs":[3]', '"outputs":[0]'),
    "an output that nobody makes": ('"inputs":[3],"outputs":[4]', '"inputs":[3],"outputs":[3]'),
    "no weights": ('"inputs":[0,1,2,0]', '"inputs":[0,-1,2,0]'),
    "a sum of nothing": ('"inputs":[0,1,2,0]', '"inputs":[0,1,2]'),
    "one input too many": ('"inputs":[0,1,2,0]', '"inputs":[0,1,2,0,0]'),
    "two sums": ('"relu"', '"sum"'),
    "another shape of weights": ("[4,4,3,3]", "[4,4,3,2]"),
    "another shape of the input": (
        '"index":0,"type":1,"shape":[1,4,6,6]},\n{"kind":"constant"',
        '"index":0,"type":1,"shape":[1,4,6,7]},\n{"kind":"constant"',
    ),
    "a shape that does not follow": (
        '"inner","index":0,"type":1,"shape":[1,4,6,6]',
        '"inner","index":0,"type":1,"shape":[1,4,5,6]',
    ),
    "another type": ('"constant","index":1,"type":1', '"constant","index":1,"type":7'),
    "a constant that is not there": ('"constant","index":1', '"constant","index":2'),
    "padding that is no list": ('"before":[1,1]', '"before":1'),
    "padding of another rank": ('"before":[1,1]', '"before":[1,1,1]'),
    "negative padding": ('"before":[1,1]', '"before":[-1,1]'),
    "no numbers of a post-operation": ('"post_alpha":[0.0,0.0]', '"post_alpha":[0.0]'),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_it_cannot_run_is_refused(driver: Path, case: str) -> None:
    """With nothing left behind: the leak sanitizer looks at each."""
    old, new = WRONG[case]
    assert CODE.count(old) >= 1
    assert _answer(driver, CODE.replace(old, new, 1)) == "refused"


def test_any_number_may_be_wrong(driver: Path) -> None:
    """Each number of the text in turn becomes another one: refused, or run without touching what is not its own."""
    numbers = [found.span() for found in re.finditer(r"(?<![\w.\"])\d+(?![\w.])", CODE)]
    assert len(numbers) > 40
    for number, (begin, end) in enumerate(numbers[::3]):
        changed = ("0", "-1", "2", "999999999999")[number % 4]
        answer = _answer(driver, CODE[:begin] + changed + CODE[end:])
        assert answer == "refused" or re.fullmatch(r"-?(\d+\.\d|nan|inf)", answer), (begin, changed)
