"""The kernel libraries that programs call: their sources, and the files that a program requires.

They are not shipped: build files take their directories. File names are those of the commits stated here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_CALL = re.compile(r"\b(pulp_nn_\w+)\(")
_MATMUL_USERS = ("pulp_nn_conv_", "pulp_nn_pointwise_")


@dataclass(frozen=True, slots=True)
class Library:
    """A library with its directory in the make or CMake variable ``variable``. ``sources`` and ``includes`` are paths
    in it; ``repository`` and ``commit``: the version of the list of files."""

    name: str
    variable: str
    repository: str
    commit: str
    includes: tuple[str, ...]
    sources: tuple[str, ...]

    @property
    def probe(self) -> str:
        """A file that is there if the directory is right."""
        return self.sources[0]


def needed_libraries(sources: Mapping[str, str]) -> tuple[Library, ...]:
    """The libraries that C files (name to text) call, each with exactly the files that the calls need."""
    calling = (text for text in sources.values() if "pulp_nn_" in text or "ne16_nnx_" in text)  # not those of weights
    code = [_COMMENT.sub(" ", text) for text in calling]
    called = {name for text in code for name in _CALL.findall(text)}
    libraries = (_pulp_nn(called),) if called else ()
    return (*libraries, _pulp_nnx()) if any("ne16_nnx_" in text for text in code) else libraries


def _pulp_nn(called: Iterable[str]) -> Library:
    """One function per file, named alike; convolutions call the matrix product, all call the utilities."""
    names = {*called, "pulp_nn_utils"}
    if any(name.startswith(_MATMUL_USERS) for name in names):
        names.add("pulp_nn_matmul")
    return Library(
        name="PULP-NN",
        variable="PULP_NN_DIR",
        repository="https://github.com/pulp-platform/pulp-nn",
        commit="288d06b",
        includes=("32bit/include",),
        sources=tuple(f"32bit/src/{name}.c" for name in sorted(names)),
    )


def _pulp_nnx() -> Library:
    return Library(
        name="pulp-nnx",
        variable="PULP_NNX_DIR",
        repository="https://github.com/pulp-platform/pulp-nnx",
        commit="c4f6ba3",
        includes=("inc", "ne16/bsp", "ne16/hal", "util"),
        sources=(
            "ne16/bsp/ne16_pulp_bsp.c",
            "ne16/hal/ne16.c",
            "ne16/hal/ne16_task.c",
            "src/pulp_nnx_ne16.c",
            "util/hwpe.c",
            "util/pulp_nnx_util.c",
        ),
    )
