"""The kernels that move bytes by pattern, with the files that only their programs need."""

from __future__ import annotations

from collections.abc import Mapping

from match_core import Kernel, KernelInterface
from match_core.patterns.packing import nothing

from match_gap9.elements.kernels import files
from match_gap9.moves.patterns import CONCATS, INTERFACES, MOVE, PAD, REPEAT

_FILES = files("match_gap9_moves", *INTERFACES)


def _kernel(interface: KernelInterface) -> Kernel:
    launch = f"match_gap9_{interface.kind}"
    return Kernel(interface, launch=launch, wait="match_gap9_team_wait", pack=nothing, files=_FILES)


MOVE_KERNELS: Mapping[str, Kernel] = {
    interface.kind: _kernel(interface) for interface in (MOVE, PAD, REPEAT, *CONCATS.values())
}
