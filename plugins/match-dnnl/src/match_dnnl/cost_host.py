"""The host beside oneDNN in the same unit: nanoseconds."""

from match_core.host.cost import HostCostModel

from match_dnnl.figures import VALUES


def HostCost() -> HostCostModel:
    return HostCostModel(cycle_scale=VALUES["host_cycle_ns"])
