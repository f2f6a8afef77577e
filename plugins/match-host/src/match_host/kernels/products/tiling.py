"""Size and form of the tiles of a product: the scheduling engine's answer for a machine whose registers hold the sums
and whose cache holds the tiles' operands."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from match_core.contract.hardware import Link, Memory, Soc, Unit
from match_core.contract.loops import LoopSchedule, ScheduleRequest
from match_core.contract.workload import Axis, Dim, Operand, Workload
from match_schedule.engine import schedule

from match_host.kernels.products.blocked import Tile
from match_host.kernels.products.tile_cost import TileCost
from match_host.machine import SCALAR_BYTES, Machine

#: Contiguous bytes from which adding along them is faster than adding across outputs.
DOT_RUN = 16
RAM_BYTES = 1 << 31


@dataclass(frozen=True, slots=True)
class Product:
    """A product to divide into tiles, of ``floating``-point numbers or integers. ``line`` contiguous positions;
    ``depth`` products per sum; ``value_bytes`` that each position reads, ``weight_bytes`` of an output;
    ``checked_taps`` with address lookups at the ends of a line; ``run``: contiguous bytes along which integers may be
    added in any order, 0 for other sums."""

    line: int
    outputs: int
    depth: int
    value_bytes: int
    weight_bytes: int
    sum_bytes: int
    floating: bool
    checked_taps: int = 0
    run: int = 0


def adds_along(product: Product, machine: Machine) -> bool:
    """Whether sums are dot products of neighbouring bytes."""
    return machine.vectors and product.run >= DOT_RUN


@lru_cache(maxsize=4096)
def tile_for(product: Product, machine: Machine) -> Tile:
    """The tile with the least modelled cycles."""
    dot = adds_along(product, machine)
    found = schedule(_request(product, machine, dot, machine.l2_bytes))
    if not isinstance(found, LoopSchedule):  # the tile's operands exceed the cache
        found = schedule(_request(product, machine, dot, RAM_BYTES))
    if not isinstance(found, LoopSchedule):
        raise ValueError(f"{machine.name}: the sums of no tile of {product} fit the registers")
    sizes = dict(found.tile)
    rows = machine.vectors and not dot and 2 * sizes["K"] >= machine.lanes(product.sum_bytes)
    # Weights that fit the first cache stay there; else a block of them does, during the loop over all positions.
    outside = product.outputs * product.weight_bytes > machine.l1_bytes
    return Tile(sizes["P"], sizes["K"], rows, outside)


def _request(product: Product, machine: Machine, dot: bool, cache_bytes: int) -> ScheduleRequest:
    """The request: sums lie in registers; values and weights are loaded into the cache when their loops advance."""
    memories = (
        Memory("registers", 0, machine.sum_bytes, 1),
        Memory("cache", 1, cache_bytes, 1),
        Memory("ram", 2, RAM_BYTES, 1),
    )
    rate = machine.ram_bytes_per_cycle
    links = tuple(Link(f"to {near}", near, "ram", rate, blocking=True) for near in ("registers", "cache"))
    soc = Soc(machine.name, machine.description, "core", ("core",), memories, links, home="ram")
    unit = Unit("core", machine.description, "registers", private=(("values", "cache"), ("weights", "cache")))
    workload = _workload(product, machine, dot)
    return ScheduleRequest(soc, unit, "host_tile", workload, TileCost(machine), machine.sum_bytes)


def _workload(product: Product, machine: Machine, dot: bool) -> Workload:
    """One line of positions by all outputs. Sums of a dot product are vectors until the end, others are numbers."""
    lanes = machine.lanes(product.sum_bytes)
    sum_bytes = (machine.vector_bytes if dot else product.sum_bytes) if machine.vectors else SCALAR_BYTES
    position, output = Axis("p", product.line, (("P", 1),)), Axis("k", product.outputs, (("K", 1),))
    wide = machine.vectors and not dot and product.outputs >= lanes
    # Writers fill up the last vector of a tile that has all outputs.
    step = min(lanes, product.outputs) if machine.writer else lanes if wide else 1
    return Workload(
        kind="host_tile",
        dims=(Dim("P", product.line), Dim("K", product.outputs, granularity=step)),
        operands=(
            Operand("values", "input", (position, Axis("c", product.value_bytes))),
            Operand("weights", "constant", (output, Axis("c", product.weight_bytes))),
            Operand("sums", "output", (position, output), 8 * sum_bytes),
        ),
        macs=product.line * product.outputs * product.depth,
        geometry=(
            ("depth", product.depth),
            ("dot", int(dot)),
            ("floating", int(product.floating)),
            ("line", product.line),
            ("sum_bytes", product.sum_bytes),
            ("taps", product.checked_taps),
            ("weights", product.weight_bytes),
        ),
    )
