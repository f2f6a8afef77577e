"""The hooks of match-cortexm; each imports its modules when it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core import hookimpl

if TYPE_CHECKING:
    from match_core import CostModel, Hardware, Pattern, Soc, Unit, UnitApi

match_contract = 1


@hookimpl
def match_hardware() -> Hardware:
    """The cores and their boards."""
    from match_cortexm.hardware import HARDWARE

    return HARDWARE


@hookimpl
def match_patterns(soc: Soc, unit: Unit) -> tuple[Pattern, ...]:
    """The core's own patterns, then those of the host for scalar machines. UsageError MATCH-U064 if the Soc states a
    machine that does not exist."""
    from match_cortexm.cores import CORE_NAMED

    core = CORE_NAMED.get(unit.name)
    if core is None:
        return ()
    from match_host.machine import machine_of
    from match_host.patterns import host_patterns

    from match_cortexm.kernels.floats import machine_for
    from match_cortexm.patterns import kernels_of
    from match_cortexm.rivals import Rivals, rivalled
    from match_cortexm.zeros import Zeros, told

    machine_of(soc)
    own, host = tuple(kernel.pattern for kernel in kernels_of(core)), host_patterns(machine_for(core))
    rivals, zeros = Rivals(own), Zeros()
    host = tuple(rivalled(pattern, rivals) for pattern in host)
    host = host if core.fpu else tuple(told(pattern, zeros) for pattern in host)
    return (*own, *host)


@hookimpl
def match_cost(soc: Soc, unit: Unit, pattern: Pattern) -> CostModel | None:
    """Instructions of the core's kernels and of the host's."""
    from match_cortexm.cores import CORE_NAMED

    if unit.name not in CORE_NAMED:
        return None
    from match_cortexm.cost import cost_on

    return cost_on(unit.name)


@hookimpl
def match_emit_api(soc: Soc, unit: Unit) -> UnitApi | None:
    """Kernels that work in place; no launches or copies."""
    from match_cortexm.cores import CORE_NAMED

    core = CORE_NAMED.get(unit.name)
    if core is None:
        return None
    from match_core.contract.unit_api import PlatformApi, UnitApi
    from match_host.kernels import host_kernels

    from match_cortexm.kernels.floats import helium_floats, machine_for
    from match_cortexm.patterns import inline_kernels

    host = host_kernels(machine_for(core))
    if core.helium:
        host = {name: helium_floats(kernel) for name, kernel in host.items()}
    kernels = {**host, **inline_kernels(core)}
    return UnitApi(platform=PlatformApi(), memory=None, kernels=kernels)
