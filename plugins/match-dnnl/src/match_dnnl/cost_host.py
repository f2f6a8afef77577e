"""The host beside oneDNN in the same unit: nanoseconds of one thread."""

from match_core.host.cost import HostCostModel

from match_dnnl.figures import VALUES


def host_cost() -> HostCostModel:
    """The core's counts of operations, whose cycles of a small in-order core are scaled to this kind of machine."""
    return HostCostModel(cycle_scale=VALUES["host_cycle_ns"])
