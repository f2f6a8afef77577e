"""match: compile neural networks to C for chips that mix unlike processors.

A target package needs this import only: the hook marker, the contract version and the types that hooks answer with.
Everything here is light; onnx, onnx-graphsurgeon and the solvers are imported by the stages that use them.
"""

from match_core.cost import Cost, CostModel, EnergyModel, Overlap, TransferCycles, TransferShape
from match_core.emit.api import (
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
from match_core.errors import MatchError
from match_core.forms import Form
from match_core.hardware import (
    Constant,
    Hardware,
    Link,
    Memory,
    MemoryPart,
    RequantSpec,
    Signalling,
    Soc,
    Unit,
)
from match_core.ir.model import Model
from match_core.patterns.language import Any, Const, Constraint, Match, Maybe, OneOf, Op, Pattern, Structure
from match_core.patterns.rules import NodeRule
from match_core.plugin.markers import CONTRACT_VERSION, hookimpl, hookspec
from match_core.regions.claims import OperatorClaim, RegionClaims, RegionLimits
from match_core.regions.macs import node_macs
from match_core.regions.pattern import region_pattern
from match_core.regions.region import Region
from match_core.schedule.loops import LoopSchedule, Placement, ScheduleRequest, TileLoop
from match_core.schedule.workload import Axis, Dim, Operand, Workload
from match_core.transforms.base import Pass, PassContext, Phase

__version__ = "0.1.0"

__all__ = [
    "CONTRACT_VERSION",
    "Any",
    "Axis",
    "BuildFiles",
    "BuildImage",
    "BuildRequest",
    "Const",
    "Constant",
    "Constraint",
    "Cost",
    "CostModel",
    "Dim",
    "EnergyModel",
    "Form",
    "Hardware",
    "Kernel",
    "KernelInterface",
    "Link",
    "LoopSchedule",
    "Match",
    "MatchError",
    "Maybe",
    "Memory",
    "MemoryApi",
    "MemoryPart",
    "Model",
    "NodeRule",
    "OneOf",
    "Op",
    "Operand",
    "OperatorClaim",
    "Overlap",
    "Pass",
    "PassContext",
    "Pattern",
    "Phase",
    "Placement",
    "PlatformApi",
    "QueueApi",
    "Region",
    "RegionClaims",
    "RegionCode",
    "RegionKernel",
    "RegionLimits",
    "RegionRequest",
    "RequantSpec",
    "RuntimeFile",
    "ScheduleRequest",
    "Signalling",
    "Soc",
    "StoreApi",
    "Structure",
    "SwapApi",
    "TileLoop",
    "TransferCycles",
    "TransferShape",
    "TwinApi",
    "Unit",
    "UnitApi",
    "Workload",
    "__version__",
    "hookimpl",
    "hookspec",
    "node_macs",
    "region_pattern",
]
