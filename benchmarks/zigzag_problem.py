"""A request in ZigZag's words: layer, memories, array and spatial mapping.

The hierarchy is the request's: the home memory, the unit's memory, the array. Reductions are unrolled in space,
because kernels finish their sums and neither side may cut them; the other dimensions have the lanes of the unit's
spatial unrolling. So one cycle of ZigZag's array is all that the lanes do of a sum, and the link's width is given in
that unit of time, as the kernel's cost model sees it for the whole layer. Requantisation parameters that do not
travel with the weights are no operands of ZigZag: the memory that they and the kernel's scratch take is kept from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, lcm, prod
from typing import Any

import numpy as np
from match_core.contract.loops import ScheduleRequest
from match_core.contract.workload import Operand, Workload

#: ZigZag's default: most loops whose orders are tried; more prime factors are joined.
LPF_LIMIT = 6
_WIDE = 1 << 30  # bits per cycle of what is not a bottleneck
_ALL = ["D1", "D2", "D3", "D4"]
_CONV = "O[b][k][oy][ox]+=W[k][c][fy][fx]*I[b][c][iy][ix]"
_DEPTHWISE = "O[b][k][oy][ox]+=W[k][fy][fx]*I[b][k][iy][ix]"
_LINEAR = "O[n][k]+=W[k][c]*I[n][c]"
#: Kind of workload -> (equation, dimensions that are summed over).
_KINDS = {
    "conv2d": (_CONV, ("C", "FY", "FX")),
    "depthwise2d": (_DEPTHWISE, ("FY", "FX")),
    "linear": (_LINEAR, ("C",)),
}


def operands_of(workload: Workload) -> dict[str, str]:
    """ZigZag's operands and ours: the weights are the largest constant, with the requantisation parameters if these
    travel with them."""
    weights = max((o for o in workload.operands if o.role == "constant"), key=_bytes)
    return {"I": "input", "W": weights.name, "O": "output"}


def has_problem(request: ScheduleRequest) -> bool:
    """Whether ZigZag has a form for the layer: an input, weights and sums."""
    return request.workload.kind in _KINDS


def problem_of(request: ScheduleRequest, double_buffered: bool, memory_bytes: int) -> dict[str, Any]:
    """The problem with ``memory_bytes`` for input, weights and output."""
    workload = request.workload
    _, sums = _KINDS[workload.kind]
    sizes = {dim.name: dim.size for dim in workload.dims}
    lanes = lanes_of(workload)
    in_space = {**lanes, **{name: sizes[name] for name in sums}}
    turns = prod(ceil(size / in_space.get(name, 1)) for name, size in sizes.items())
    whole = {name: np.array([size], dtype=np.int64) for name, size in sizes.items()}
    cycles = max(1.0, float(request.cost_model.kernel_cycles(workload, whole)[0]) / turns)
    link = request.soc.link_between(request.unit.memory or "", request.soc.home)
    width = 64.0 if link is None else 8 * link.bytes_per_cycle
    spatial = {
        "D1": [f"{name}, {count}" for name, count in lanes.items() if count > 1 and name == "K"],
        "D2": [f"{name}, {count}" for name, count in lanes.items() if count > 1 and name != "K"],
        "D3": [f"{name}, {sizes[name]}" for name in sums[:1] if sizes[name] > 1],
        "D4": [f"{name}, {sizes[name]}" for name in sums[1:] if sizes[name] > 1],
    }
    array = [max(1, prod(int(entry.split(", ")[1]) for entry in spatial[name])) for name in _ALL]
    return {
        "layer": _layer(workload, sizes),
        "accelerator": _accelerator(8 * memory_bytes, max(8, round(width * cycles)), array, double_buffered),
        "mapping": [
            {
                "name": "default",
                "spatial_mapping": {name: entries for name, entries in spatial.items() if entries},
                "memory_operand_links": {"O": "O", "W": "I2", "I": "I1"},
            }
        ],
        "lpf_limit": LPF_LIMIT,
    }


def lanes_of(workload: Workload) -> dict[str, int]:
    """Lanes of the dimensions that may be cut, multiples of the kernel's granularity."""
    unroll = dict(workload.unroll)
    summed = _KINDS[workload.kind][1]
    lanes = {}
    for dim in workload.dims:
        if dim.name not in summed:
            count = lcm(unroll.get(dim.name, 1), dim.granularity)
            lanes[dim.name] = dim.size if not dim.tileable else min(count, dim.size)
    return lanes


def _layer(workload: Workload, sizes: Mapping[str, int]) -> dict[str, Any]:
    equation, sums = _KINDS[workload.kind]
    names = list(sizes) if workload.kind == "linear" else ["B", *sizes]
    layer: dict[str, Any] = {
        "id": 0,
        "name": "layer",
        "operator_type": "Gemm" if workload.kind == "linear" else "Conv",
        "equation": equation,
        "dimension_relations": [],
        "loop_dims": names,
        "loop_sizes": [sizes.get(name, 1) for name in names],
        "operand_precision": {name: _bits(workload, name, sums) for name in "IWO"},
        "operand_source": {"I": 0, "W": 0},
    }
    layer["operand_precision"]["O_final"] = layer["operand_precision"]["O"]
    if workload.kind != "linear":
        axes = {axis.name.upper(): axis for axis in workload.operand("input").axes}
        for name in ("Y", "X"):
            out, tap = (next(c for d, c in axes[name].terms if d == f"{side}{name}") for side in "OF")
            layer["dimension_relations"].append(f"i{name.lower()}={out}*o{name.lower()}+{tap}*f{name.lower()}")
        layer["pr_loop_dims"] = ["IX", "IY"]
        layer["pr_loop_sizes"] = [axes[name].size for name in "XY"]
        layer["padding"] = [_padding(workload, axes[name].offset, name) for name in "XY"]
    return layer


def _padding(workload: Workload, before: int, name: str) -> list[int]:
    axis = next(axis for axis in workload.operand("input").axes if axis.name.upper() == name)
    window = sum(step * (workload.dim(dim).size - 1) for dim, step in axis.terms) + 1
    return [before, max(0, window - before - axis.size)]


def _bits(workload: Workload, name: str, sums: tuple[str, ...]) -> int:
    """Bits per element; of weights those of the packed form, spread over the elements."""
    operand = workload.operand(operands_of(workload)[name])
    if name != "W":
        return operand.element_bits
    elements = workload.dim("K").size * prod(workload.dim(dim).size for dim in sums)
    return ceil(8 * _bytes(operand) / elements)


def _bytes(operand: Operand) -> int:
    stored = prod(-(-axis.size // axis.round_up) * axis.round_up for axis in operand.axes)
    return -(-stored * operand.element_bits // 8)


def kept_bytes(request: ScheduleRequest) -> int:
    """Bytes of the unit's memory that ZigZag does not get: operands that it does not know, scratch of the smallest
    tile, and alignment."""
    workload = request.workload
    alignment = request.soc.memory(request.unit.memory or "").alignment_bytes
    others = sum(_bytes(o) for o in workload.operands if o.name not in operands_of(workload).values())
    lanes = lanes_of(workload)
    smallest = {dim.name: lanes.get(dim.name, dim.size) for dim in workload.dims}
    scratch = sum(c * prod(smallest[name] for name in names) for names, c in workload.scratch)
    return others + scratch + alignment * (len(workload.operands) + 1)


def _accelerator(l1_bits: int, link_bits: int, array: list[int], double_buffered: bool) -> dict[str, Any]:
    near = [
        _port("rw_port_1", "read_write", _WIDE, "I1, tl"),
        _port("rw_port_2", "read_write", _WIDE, "I2, tl"),
        _port("rw_port_3", "read_write", _WIDE, "O, tl", "O, fl"),
        _port("w_port_4", "write", link_bits, "I1, fh", "I2, fh", "O, fh"),
        _port("r_port_5", "read", link_bits, "O, th"),
    ]
    far = [
        _port("r_port_1", "read", link_bits, "I1, tl", "I2, tl", "O, tl"),
        _port("w_port_2", "write", link_bits, "O, fl", "O, fh", "I1, fh", "I2, fh"),
        _port("r_port_3", "read", link_bits, "O, th"),
    ]
    return {
        "name": "unit",
        "memories": {
            "near": _memory(l1_bits, near, double_buffered),
            "home": _memory(1 << 40, far, False),
        },
        "operational_array": {
            "input_precision": [8, 8],
            "unit_energy": 1.0,
            "unit_area": 1.0,
            "dimensions": _ALL,
            "sizes": array,
        },
    }


def _port(name: str, kind: str, bits: int, *allocation: str) -> dict[str, Any]:
    """One port; opposite directions of the link are apart, copies of one direction share its width."""
    width = {"bandwidth_min": 8, "bandwidth_max": bits}
    return {"name": name, "type": kind, **width, "allocation": list(allocation)}


def _memory(bits: int, ports: list[dict[str, Any]], double_buffered: bool) -> dict[str, Any]:
    """Energies are equal: only latency is looked at."""
    return {
        "size": bits,
        "r_cost": 1.0,
        "w_cost": 1.0,
        "area": 0.0,
        "latency": 1,
        "operands": ["I1", "I2", "O"],
        "ports": ports,
        "served_dimensions": _ALL,
        "force_double_buffering": double_buffered,
    }
