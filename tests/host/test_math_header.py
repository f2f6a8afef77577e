"""match_math.h: errors in units of the last place over the whole range of float32, limits, and what is no number."""

from __future__ import annotations

import math
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from match_host.headers.real import math_header
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
#: One number in so many, signs and exponents all covered (a prime, so that mantissas differ too).
STRIDE = 16411


def _softplus(x: Doubles) -> Doubles:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def _mish(x: Doubles) -> Doubles:
    return x * np.tanh(_softplus(x))


#: The exact function and the error that the header states.
FUNCTIONS: dict[str, tuple[Callable[[Doubles], Doubles], float]] = {
    "match_exp": (np.exp, 1.0),
    "match_expm1": (np.expm1, 1.6),
    "match_tanh": (np.tanh, 1.3),
    "match_erf": (lambda x: np.array([math.erf(value) for value in x.tolist()]), 1.2),
    "match_softplus": (_softplus, 2.6),
    "match_mish": (_mish, 4.5),
    "match_floor": (np.floor, 0.0),
    "match_ceil": (np.ceil, 0.0),
    "match_round": (np.rint, 0.0),
}
#: The least unit that counts, where it is not that of float32: products of a subnormal number.
SMALLEST_UNIT = {"match_mish": 2.0**-142}


@pytest.fixture(scope="module")
def computed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, NDArray[np.float32]]:
    """Every function at all numbers of ``arguments``."""
    folder = tmp_path_factory.mktemp("math")
    (folder / "match_math.h").write_text(math_header().text)
    x = arguments()
    (folder / "in").write_bytes(x.tobytes())
    loops = "\n".join(
        f"    for (size_t i = 0; i < count; i++) out[i] = {name}(in[i]);\n    fwrite(out, 4, count, stdout);"
        for name in FUNCTIONS
    )
    (folder / "all.c").write_text(
        '#include <stdio.h>\n#include "match_math.h"\n'
        f"static float in[{x.size}], out[{x.size}];\n"
        "int main(void)\n{\n"
        f"    const size_t count = fread(in, 4, {x.size}, stdin);\n{loops}\n    return 0;\n}}\n"
    )
    flags = ("-std=c11", "-O3", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")
    subprocess.run(["gcc", *flags, "all.c", "-o", "all"], cwd=folder, check=True)
    with (folder / "in").open("rb") as given:
        data = subprocess.run([Path(folder, "all")], stdin=given, capture_output=True, check=True).stdout
    rows = np.frombuffer(data, np.float32).reshape(len(FUNCTIONS), -1)
    return dict(zip(FUNCTIONS, rows, strict=True))


def arguments() -> NDArray[np.float32]:
    """Numbers over all exponents, more of them where functions change, and the special ones."""
    spread = np.arange(0, 2**32, STRIDE, dtype=np.uint64).astype(np.uint32).view(np.float32)
    near = np.linspace(-11, 11, 40001, dtype=np.float32)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 88.72284, 88.7229, -87.4, -103.97, -104.1], np.float32)
    return np.concatenate([spread, near, special])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_error_in_units_of_the_last_place(name: str, computed: dict[str, NDArray[np.float32]]) -> None:
    exact_of, most = FUNCTIONS[name]
    with np.errstate(all="ignore"):
        x = arguments().astype(np.float64)
        exact = exact_of(x)
        nearest = exact.astype(np.float32)
        got = computed[name]
        finite = np.isfinite(nearest)
        np.testing.assert_array_equal(got[~finite], nearest[~finite])
        unit = np.maximum(2.0 ** (np.frexp(exact[finite])[1] - 24.0), SMALLEST_UNIT.get(name, 2.0**-149))
        error = np.abs(got[finite].astype(np.float64) - exact[finite]) / unit
    assert float(error.max()) <= most, f"{error.max()} at {x[finite][error.argmax()]}"


def test_zeros_keep_their_sign(computed: dict[str, NDArray[np.float32]]) -> None:
    zeros = np.flatnonzero(arguments() == 0)
    for name in ("match_tanh", "match_erf", "match_floor", "match_ceil", "match_round"):
        np.testing.assert_array_equal(np.signbit(computed[name][zeros]), np.signbit(arguments()[zeros]))
