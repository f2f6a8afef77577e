"""match: compile neural networks to C for heterogeneous chips.

A target package needs this import only: the hook marker, the contract version and the types that hooks return. Each
name is imported on first use, so that the command line starts without them. All of them are light; onnx,
onnx-graphsurgeon and the solvers are imported by the stages that use them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from match_core.version import __version__

if TYPE_CHECKING:
    from match_core.contract.claims import AtomClaim, OperatorClaim, RegionClaims, RegionLimits
    from match_core.contract.cost import Cost, CostModel, EnergyModel, Overlap, TransferCycles, TransferShape
    from match_core.contract.errors import MatchError
    from match_core.contract.forms import Form
    from match_core.contract.hardware import (
        Constant,
        Hardware,
        Link,
        Memory,
        MemoryPart,
        RequantSpec,
        Signalling,
        Soc,
        Uncertainty,
        Unit,
    )
    from match_core.contract.loops import LoopSchedule, Placement, ScheduleRequest, TileLoop
    from match_core.contract.macs import node_macs
    from match_core.contract.model import Model
    from match_core.contract.node_rule import NodeRule
    from match_core.contract.passes import Pass, PassContext, Phase
    from match_core.contract.pattern import Pattern
    from match_core.contract.region import Region
    from match_core.contract.structure import Any, Const, Constraint, Match, Maybe, OneOf, Op, Structure
    from match_core.contract.unit_api import (
        BuildFiles,
        BuildImage,
        BuildRequest,
        Kernel,
        KernelInterface,
        MemoryApi,
        PlatformApi,
        QueueApi,
        RegionCode,
        RegionKernel,
        RegionRequest,
        RuntimeFile,
        StoreApi,
        SwapApi,
        TwinApi,
        UnitApi,
    )
    from match_core.contract.workload import Axis, Dim, Operand, Workload
    from match_core.plugin.markers import CONTRACT_VERSION, hookimpl, hookspec

__all__ = [
    "CONTRACT_VERSION", "Any", "AtomClaim", "Axis", "BuildFiles", "BuildImage", "BuildRequest", "Const", "Constant",
    "Constraint", "Cost", "CostModel", "Dim", "EnergyModel", "Form", "Hardware", "Kernel", "KernelInterface", "Link",
    "LoopSchedule", "Match", "MatchError", "Maybe", "Memory", "MemoryApi", "MemoryPart", "Model", "NodeRule", "OneOf",
    "Op", "Operand", "OperatorClaim", "Overlap", "Pass", "PassContext", "Pattern", "Phase", "Placement", "PlatformApi",
    "QueueApi", "Region", "RegionClaims", "RegionCode", "RegionKernel", "RegionLimits", "RegionRequest", "RequantSpec",
    "RuntimeFile", "ScheduleRequest", "Signalling", "Soc", "StoreApi", "Structure", "SwapApi", "TileLoop",
    "TransferCycles", "TransferShape", "TwinApi", "Uncertainty", "Unit", "UnitApi", "Workload", "__version__",
    "hookimpl", "hookspec", "node_macs",
]  # fmt: skip

#: Module below match_core -> its names that are exported here.
_HOMES = {
    "contract.claims": "AtomClaim OperatorClaim RegionClaims RegionLimits",
    "contract.cost": "Cost CostModel EnergyModel Overlap TransferCycles TransferShape",
    "contract.errors": "MatchError",
    "contract.forms": "Form",
    "contract.hardware": "Constant Hardware Link Memory MemoryPart RequantSpec Signalling Soc Uncertainty Unit",
    "contract.loops": "LoopSchedule Placement ScheduleRequest TileLoop",
    "contract.macs": "node_macs",
    "contract.model": "Model",
    "contract.node_rule": "NodeRule",
    "contract.passes": "Pass PassContext Phase",
    "contract.pattern": "Pattern",
    "contract.region": "Region",
    "contract.structure": "Any Const Constraint Match Maybe OneOf Op Structure",
    "contract.unit_api": "BuildFiles BuildImage BuildRequest Kernel KernelInterface MemoryApi PlatformApi QueueApi "
    "RegionCode RegionKernel RegionRequest RuntimeFile StoreApi SwapApi TwinApi UnitApi",
    "contract.workload": "Axis Dim Operand Workload",
    "plugin.markers": "CONTRACT_VERSION hookimpl hookspec",
}


#: Entry points of this group are functions that packages offer here.
_FUNCTIONS = "match.functions"


def __getattr__(name: str) -> object:
    value: object = None
    for home, names in _HOMES.items():
        if name in names.split():
            value = getattr(import_module(f"{__name__}.{home}"), name)
    if value is None and not name.startswith("_"):
        from importlib.metadata import entry_points

        for point in entry_points(group=_FUNCTIONS, name=name):
            value = point.load()
    if value is not None:
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
