"""``match_small.h`` against ml_dtypes: every code to float, and floats around every code and every middle of two."""

from __future__ import annotations

import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from host_harness import FLAGS, SANITIZERS
from match_host.headers.small import SCALE_FLOAT, SMALL_FLOATS, small_header
from numpy.typing import NDArray

PROGRAM = """
#include <stdio.h>
#include "match_small.h"
int main(void)
{
    for (uint32_t code = 0u; code < CODES; code++) {
        const float value = TO((CODE_T)code);
        (void)fwrite(&value, sizeof value, 1, stdout);
    }
    float given = 0.0f;
    while (fread(&given, sizeof given, 1, stdin) == 1) {
        const CODE_T code = FROM(given);
        (void)fwrite(&code, sizeof code, 1, stdout);
    }
    return 0;
}
"""


def type_of(name: str) -> np.dtype[np.generic]:
    return np.dtype(getattr(ml_dtypes, name))


def floats_around(name: str) -> NDArray[np.float32]:
    """All values of the type, the middles between neighbours and their neighbours as floats, and special ones."""
    item = SMALL_FLOATS[name]
    carrier = np.uint16 if item.bits > 8 else np.uint8
    with np.errstate(all="ignore"):
        values = np.arange(1 << item.bits).astype(carrier).view(type_of(name)).astype(np.float32)
        finite = np.unique(values[np.isfinite(values)])
        middles = ((finite[1:].astype(np.float64) + finite[:-1]) / 2).astype(np.float32)
        centres = np.concatenate([finite, middles, finite[-1:] * np.float32(1.0625), finite[-1:] * np.float32(1.5)])
        around = [centres, np.nextafter(centres, np.float32(np.inf)), np.nextafter(centres, np.float32(-np.inf))]
    special = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1e-45, -1e-45, 3e38], np.float32)
    return np.concatenate([*around, special]).astype(np.float32)


def run(name: str, bits: int, folder: Path, given: NDArray[np.float32]) -> tuple[NDArray[np.float32], bytes]:
    """The floats of all codes, and the bytes of the codes of ``given``."""
    (folder / "match_small.h").write_text(small_header().text)
    (folder / "main.c").write_text(PROGRAM)
    macros = [f"-DTO=match_{name}_to_float", f"-DFROM=match_{name}_from_float", f"-DCODES={1 << bits}u"]
    macros.append(f"-DCODE_T={'uint16_t' if bits > 8 else 'uint8_t'}")
    subprocess.run(["gcc", *FLAGS, *SANITIZERS, *macros, "main.c", "-o", "main"], cwd=folder, check=True)
    done = subprocess.run(["./main"], cwd=folder, check=True, input=given.tobytes(), capture_output=True)
    size = 4 << bits
    return np.frombuffer(done.stdout[:size], np.float32), done.stdout[size:]


@pytest.mark.parametrize("name", SMALL_FLOATS)
def test_conversions(name: str, tmp_path: Path) -> None:
    item, given = SMALL_FLOATS[name], floats_around(name)
    carrier = np.uint16 if item.bits > 8 else np.uint8
    values, codes = run(name, item.bits, tmp_path, given)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(
            values, np.arange(1 << item.bits).astype(carrier).view(type_of(name)).astype("f4")
        )
        wanted = given.astype(type_of(name))
    got = np.frombuffer(codes, carrier).view(type_of(name))
    numbers = ~np.isnan(wanted.astype(np.float32))
    np.testing.assert_array_equal(np.isnan(got.astype(np.float32)), ~numbers)
    np.testing.assert_array_equal(got.view(carrier)[numbers], wanted.view(carrier)[numbers])


def test_scales(tmp_path: Path) -> None:
    exact = (2.0 ** np.arange(-126, 128)).astype(np.float32)
    values, codes = run(SCALE_FLOAT, 8, tmp_path, exact)
    np.testing.assert_array_equal(values, np.arange(256).astype(np.uint8).view(type_of(SCALE_FLOAT)).astype(np.float32))
    np.testing.assert_array_equal(np.frombuffer(codes, np.uint8), exact.astype(type_of(SCALE_FLOAT)).view(np.uint8))
