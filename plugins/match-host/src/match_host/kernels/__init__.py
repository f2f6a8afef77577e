"""C kernels of the host, generated per node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_core.contract.unit_api import InlineKernel

    from match_host.machine import Machine


def host_kernels(machine: Machine | None = None) -> Mapping[str, InlineKernel]:
    """The kernel of every host pattern that has code, by pattern name, written for a machine; None: the default one."""
    from match_host.conversion import CONVERT
    from match_host.fusion import FUSIONS
    from match_host.kernels.built import inline_kernel, on_machine
    from match_host.kernels.movement.convert import build_convert
    from match_host.machine import GENERIC
    from match_host.operators import OPERATORS
    from match_host.patterns import REGIONS

    builders = {operator.pattern: operator.build for operator in OPERATORS}
    builders |= {fusion.name: fusion.build for fusion in FUSIONS}
    builders |= {name: build for name, _, _, build in REGIONS}
    builders[CONVERT] = build_convert
    return {name: inline_kernel(on_machine(build, machine or GENERIC)) for name, build in builders.items()}
