"""Conversions between stored forms: emitted C under sanitizers against ``Form.store``."""

from __future__ import annotations

import subprocess
from itertools import product
from pathlib import Path

import numpy as np
import onnx_graphsurgeon as gs
import pytest
from host_harness import FLAGS, MAIN, SANITIZERS
from match_core.contract.forms import Form, plain_form
from match_core.run.compiler import host_compiler
from match_host.kernels.movement.convert import build_convert

ROWS = Form("rows", 4, pad=((1, 16), (3, 16)), reversed_group=4)
WORDS = Form("words", 4, pad=((3, 8),))
BLOCKS = Form("blocks", 4, pad=((1, 8),), split=(1, 8), order=(0, 1, 3, 4, 2), reversed_group=4)
TILES = Form("tiles", 4, pad=((3, 4),), split=(3, 4), order=(0, 3, 1, 2, 4), reversed_group=2)
FORMS = (plain_form(4), ROWS, WORDS, BLOCKS, TILES)
#: Columns that are no whole words, single ones, and whole words; channels below and above a block.
SHAPES = ((1, 3, 5, 7), (1, 20, 2, 8), (1, 1, 1, 1), (1, 9, 3, 12), (2, 8, 1, 4))
TYPES = (np.int8, np.float32)


def _node(source: Form, target: Form, shape: tuple[int, ...], dtype: type) -> gs.Node:
    x, y = (gs.Variable(name, dtype=np.dtype(dtype), shape=list(shape)) for name in ("x", "y"))
    attributes = {**source.attributes("source"), **target.attributes("target")}
    return gs.Node("Convert", "convert", attributes, [x], [y], domain="match.form")


def test_all_pairs_of_forms(tmp_path: Path) -> None:
    """Padding of the source is junk, padding of the target must be zero."""
    cases = [
        (source, target, shape, dtype)
        for (source, target), shape, dtype in product(product(FORMS, FORMS), SHAPES, TYPES)
        if source != target and source.takes(shape) and target.takes(shape)
    ]
    assert len(cases) > 100
    rng = np.random.default_rng(7)
    texts, calls, given, wanted = [], [], [], []
    for number, (source, target, shape, dtype) in enumerate(cases):
        code = build_convert((_node(source, target, shape, dtype),), f"convert_{number}").code
        texts.append(code.definition)
        values = rng.integers(-100, 100, shape).astype(dtype)
        stored = source.store(values)
        junk = np.ones(stored.shape, bool)
        junk[source.places(shape)] = False
        stored[junk] = 77
        result = target.store(values)
        given.append(stored.tobytes())
        wanted.append(result.tobytes())
        calls.append(
            f"    in0 = load(stdin, {stored.nbytes}); out0 = block({result.nbytes});\n"
            f"    convert_{number}(in0, out0); fwrite(out0, 1, {result.nbytes}, stdout); free(in0); free(out0);"
        )
    source_file = tmp_path / "convert.c"
    includes = "\n".join(f"#include <{name}>" for name in ("stdint.h", "stdio.h", "stdlib.h", "string.h"))
    body = "\n".join(calls)
    main = f"int main(void)\n{{\n    void *in0, *out0;\n{body}\n    return 0;\n}}\n"
    includes += "\n#define MATCH_YIELD() ((void)0)"
    source_file.write_text("\n".join([includes, MAIN, *texts, main]), encoding="utf-8")
    program = tmp_path / "convert"
    subprocess.run([*host_compiler(), *FLAGS, *SANITIZERS, str(source_file), "-o", str(program)], check=True)
    done = subprocess.run([str(program)], input=b"".join(given), stdout=subprocess.PIPE, check=True)
    place = 0
    for case, expected in zip(cases, wanted, strict=True):
        assert done.stdout[place : place + len(expected)] == expected, case
        place += len(expected)


@pytest.mark.parametrize(("width", "cycles_max"), [(8, 6), (7, 9), (3, 13)])
def test_neighbours_are_moved_together(width: int, cycles_max: int) -> None:
    """Four bytes in one pass, as a word where they are one on both sides; single bytes take some twelve cycles."""
    built = build_convert((_node(plain_form(4), ROWS, (1, 16, 4, width), np.int8),), "f")
    assert ("uint32_t word" in built.code.definition) == (width == 8)
    fill = 16 * 4 * 16 // 4  # words of zeros
    work = built.work
    cycles = 2 * (work.memory - fill) + work.integer + 4 * (work.steps - fill)
    assert (cycles_max - 3) * 16 * 4 * width < cycles < cycles_max * 16 * 4 * width
