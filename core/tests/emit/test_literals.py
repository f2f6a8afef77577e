"""Constant arrays as C text: every number reads back as the same bits."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from match_core.contract.element_types import c_type
from match_core.lower.ctypes import array_definition
from match_core.lower.literals import initialiser

from tests.examples import examples

INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")


def parsed(text: str, dtype: np.dtype) -> np.ndarray:
    """The literals as C reads them."""
    found = []
    for literal in (part.strip() for part in text.replace("\n", " ").split(",") if part.strip()):
        if dtype.kind == "f":
            name = literal.lower().replace("infinity", "inf")
            found.append(float(name) if name.lstrip("-").isalpha() else float.fromhex(name.rstrip("f")))
        elif literal.endswith("_MIN"):
            found.append(-(2 ** (int(literal[3:-4]) - 1)))
        else:
            found.append(int(literal.rstrip("ul")))
    return np.array(found, dtype)


@settings(max_examples=examples(150), deadline=None)
@given(data=st.data(), name=st.sampled_from((*INTEGERS, "float32", "float64", "bool")))
def test_literals_read_back(data, name):
    dtype = np.dtype(name)
    values = data.draw(hnp.arrays(dtype, st.integers(1, 40)))
    per_line = data.draw(st.sampled_from([4, 6, 12, 16]))
    text = initialiser(values, per_line)
    got = parsed(text, dtype)
    same = got.view(f"u{dtype.itemsize}") == values.view(f"u{dtype.itemsize}")
    assert np.all(same | (np.isnan(values) & np.isnan(got) if dtype.kind == "f" else False))
    lines = text.splitlines()
    assert [line.count(",") for line in lines[:-1]] == [per_line] * (len(lines) - 1)
    assert all(re.fullmatch(r"    (\S+, )*\S+,", line) for line in lines)


def test_nothing_is_lost_between_the_parts_of_a_long_array():
    values = np.arange(200_003, dtype=np.int32)
    text = initialiser(values, 6)
    np.testing.assert_array_equal(parsed(text, values.dtype), values)
    assert {line.count(",") for line in text.splitlines()[:-1]} == {6}


def test_literals_are_short():
    assert (
        initialiser(np.array([1, -2.5, 0, 0.1], np.float32), 4) == "    0x1p+0f, -0x1.4p+1f, 0x0p+0f, 0x1.99999ap-4f,\n"
    )
    assert initialiser(np.array([-7, 0, 120], np.int8), 16) == "    -7, 0, 120,\n"
    assert initialiser(np.array([-(2**31), 5], np.int32), 6) == "    INT32_MIN, 5,\n"
    assert initialiser(np.array([2**63], np.uint64), 4) == "    9223372036854775808ull,\n"


def test_a_compiler_reads_the_same_bytes(tmp_path: Path) -> None:
    """All types at once, the narrow ones as the codes that carry them; no warning at the strictest level."""
    random = np.random.default_rng(3)
    arrays = [random.integers(np.iinfo(t).min, np.iinfo(t).max, 50, t, endpoint=True) for t in INTEGERS]
    arrays += [np.array([np.iinfo(t).min, np.iinfo(t).max], t) for t in INTEGERS]
    arrays += [random.standard_normal(50).astype(t) for t in ("float32", "float64", "float16", ml_dtypes.bfloat16)]
    arrays += [np.array([0.0, -0.0, np.inf, -np.inf, 1e-45, 3e-39], np.float32), np.array([5e-324, 1e308], np.float64)]
    arrays += [np.zeros(0, np.float32)]
    source = ["#include <math.h>", "#include <stdint.h>", "#include <stdio.h>"]
    source += [array_definition(f"a{n}", array, "static") for n, array in enumerate(arrays)]
    writes = [f"    fwrite(a{n}, 1, sizeof a{n}, stdout);" for n, array in enumerate(arrays) if array.size]
    source += ["int main(void)\n{", *writes, f"    return (int)a{len(arrays) - 1}[0];\n}}"]
    path = tmp_path / "arrays.c"
    path.write_text("\n".join(source) + "\n", encoding="utf-8")
    flags = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]
    subprocess.run(["cc", *flags, str(path), "-o", str(tmp_path / "arrays")], check=True)
    done = subprocess.run([tmp_path / "arrays"], capture_output=True, check=True)
    assert done.stdout == b"".join(array.tobytes() for array in arrays)


@pytest.mark.parametrize("dtype", ["complex64", "U4"])
def test_types_that_c_cannot_carry(dtype):
    with pytest.raises(KeyError):
        c_type(dtype)
