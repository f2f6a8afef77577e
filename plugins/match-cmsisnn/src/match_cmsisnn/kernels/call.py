"""The C of a call: structures of sizes and numbers as the library declares them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from match_host.kernels.built import Built
from match_host.kernels.code import Uses, inline_code
from match_host.kernels.work import Work

from match_cmsisnn.library import HEADER, library_files

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import onnx_graphsurgeon as gs
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Counted(Built):
    """A kernel; ``counts`` are (name, number) of a call, under the names of the figures; ``macs`` as in a workload."""

    counts: tuple[tuple[str, int], ...]
    macs: int = 0


def dims(name: str, n: int, h: int, w: int, c: int) -> str:
    """A C line with the sizes of a tensor."""
    return f"    const cmsis_nn_dims {name} = {{{n}, {h}, {w}, {c}}};"


def tile(width: int, height: int) -> str:
    """The C text of two sizes."""
    return f"{{{width}, {height}}}"


def context(scratch_bytes: int, needed: str) -> tuple[str, ...]:
    """C lines with the library's working memory. ``needed``: the call that says how much it takes, empty if it says
    nothing."""
    if not scratch_bytes:
        return ("    const cmsis_nn_context context = {0};",)
    lines = (f"    const cmsis_nn_context context = {{scratch, {scratch_bytes}}};",)
    if not needed:
        return lines
    check = f"    if ({needed} > {scratch_bytes}) {{"
    return (*lines, check, "        return; /* another version of the library: the output stays as it is */", "    }")


def call(
    function: str,
    comment: str,
    inputs: Sequence[gs.Tensor],
    outputs: Sequence[gs.Tensor],
    lines: Sequence[str],
    group: str,
    helium: bool,
    counts: Mapping[str, int],
    constants: Mapping[int, NDArray[np.generic]] | None = None,
    scratch_bytes: int = 0,
    macs: int = 0,
) -> Counted:
    """The kernel with these lines, and the files of the library that it needs; ``counts`` without the form."""
    uses = Uses()
    uses.include(HEADER)
    for file in library_files(group, helium):
        uses.headers[file.name] = file
    code = inline_code(function, comment, inputs, outputs, "\n".join(lines), uses, constants, scratch_bytes)
    form = f"{group}_{'mve' if helium else 'dsp'}"
    named = tuple((f"{form}_{name}", number) for name, number in {"calls": 1, **counts}.items() if number)
    return Counted(tuple(inputs), code, Work(), named, macs)
