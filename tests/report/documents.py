"""Reports written by hand: a small program with everything in it, a large one, and one whose names are markup."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from match_report.read import SCHEMA_FILE

Document = dict[str, Any]
MARKUP = "</script><script>document.injected = 1</script><img src=x onerror='document.injected = 1'>"


def schema() -> Document:
    """The published schema of a report."""
    found: Document = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    return found


def small_report() -> Document:
    """Five layers on three units: two share a convolution side by side, one is a view, one streams its weights from the
    store; 1,000 modelled cycles, 1,100 on the twin."""
    layers = [
        _layer(0, "quantise", "host", 0, 200, buffers_in=["input_0"], buffers_out=["image"], queue="host"),
        _layer(
            1,
            "conv",
            "array",
            200,
            600,
            macs=64_000,
            share={"dim": "K", "first": 0, "size": 12},
            buffers_in=["image"],
            buffers_out=["features"],
            placements=[_placement("input", "l1", 0, 512), _placement("output", "l1", 1024, 256, 2)],
            scratch={"memory": "l1", "offset_bytes": 1536, "size_bytes": 128},
            transfer=100,
        ),
        _layer(
            2,
            "conv",
            "core",
            200,
            500,
            macs=16_000,
            share={"dim": "K", "first": 12, "size": 4},
            buffers_in=["image"],
            buffers_out=["features"],
        ),
        _layer(3, "flatten", "host", 600, 600, view=True, buffers_in=["features"], buffers_out=["features"]),
        _layer(
            4,
            "dense",
            "array",
            600,
            1000,
            macs=2_000,
            buffers_in=["features"],
            buffers_out=["output_0"],
            placements=[
                _placement("weight", "l2", 4096, 1024),
                _placement("weight", "l1", 0, 1024),
                _placement("input", "l1", 1024, 64),
            ],
            streamed=["weight"],
            transfer=300,
        ),
    ]
    return {
        "schema": "match.report",
        "schema_version": 1,
        "name": "small",
        "source": {"file": "small.onnx", "sha256": "0" * 64},
        "target": {
            "name": "chip",
            "description": "a chip",
            "host": "host",
            "home": "l2",
            "store": "l3",
            "preset": None,
            "clock_hz": {"value": 100_000_000, "estimate": True},
            "notes": ["made up"],
        },
        "options": {
            "memory": {},
            "objective": "latency",
            "only_units": [],
            "precision": "exact",
            "preset": None,
            "quantized_io": False,
            "without_passes": [],
            "without_units": [],
        },
        "notes": [],
        "fallbacks": [],
        "all_on_host": False,
        "predicted_cycles": 1000,
        "sequential_cycles": 1300,
        "declined_cycles": None,
        "uncertainty": 0.0,
        "bounds": {"work": 800, "path": 900},
        "energy": {"pj": None, "unpublished": ["array"]},
        "units": [_unit("host", True), _unit("core"), _unit("array", memory="l1")],
        "links": [_link("dma", "l1", "l2", 8), _link("flash", "l2", "l3", 1)],
        "memories": [
            _memory("l1", 1, 4096, arena=1664),
            _memory("l2", 2, 65536, arena=6144, constants=8192, caller=2048),
            _memory("l3", 3, 1 << 20, constants=4096),
        ],
        "queues": [
            {"name": "host", "kind": "host", "tasks": 2, "cycles": 200},
            {"name": "array", "kind": "unit", "tasks": 2, "cycles": 800},
            {"name": "core", "kind": "unit", "tasks": 1, "cycles": 300},
            {"name": "flash", "kind": "link", "tasks": 1, "cycles": 150},
        ],
        "layers": layers,
        "swaps": [_swap(0, "image", "image_stored", 512, 250, 400)],
        "buffers": [
            _buffer("input_0", "input", None, 3072, 0, 0, 0, 200),
            _buffer("image", "activation", 0, 2048, 0, 2, 0, 600),
            _buffer("features", "activation", 2048, 2048, 1, 4, 200, 1000),
            _buffer("staging", "scratch", 4096, 1024, 4, 4, 600, 1000),
            _buffer("image_stored", "activation", 0, 512, 1, 4, 250, 1000, memory="l3"),
            _buffer("output_0", "output", None, 10, 4, 4, 600, 1000),
        ],
        "network": _network(),
        "refusals": [
            {
                "unit": "array",
                "pattern": "conv",
                "onnx_names": ["dense"],
                "rule": "the kernel is 3 x 3",
                "value": "1 x 1",
            },
            {"unit": "core", "pattern": "pool", "onnx_names": ["conv"], "rule": "it is a pooling", "value": "Conv"},
        ],
        "regions": [
            {"unit": "array", "found": 2, "chosen": 1, "nodes": 2, "nodes_total": 5, "macs": 1500, "macs_total": 2000}
        ],
        "measured": {
            "cycles": 1100,
            "units": {"array": 850, "core": 300, "host": 200},
            "clocks": {"array": 600, "core": 300, "dma": 350, "host": 210},
            "layers": [
                {"index": index, "cycles": cycles} for index, cycles in ((0, 210), (1, 400), (2, 300), (4, 480))
            ],
            "events": [
                _event(0, "host", "task", 0, 0, 210),
                _event(0, "host", "wait for array", None, 210, 1090),
                _event(0, "host", "boot", None, 1090, 1100),
                _event(1, "core", "kernel", 2, 210, 510, "core"),
                _event(2, "array", "wait for dma", 1, 210, 260, "array"),
                _event(2, "array", "kernel", 1, 260, 610, "array"),
                _event(2, "array", "kernel", 4, 840, 1090, "array"),
                _event(3, "dma", "copy", 1, 210, 260, "array"),
                _event(3, "dma", "copy", 4, 610, 840, "array"),
            ],
        },
    }


def large_report(events: int = 30_000, nodes: int = 2_000) -> Document:
    """The small one with as many events of the twin and nodes of the network as asked for."""
    report = small_report()
    report["measured"]["events"] = [
        _event(
            n % 4, ("host", "core", "array", "dma")[n % 4], "kernel", (0, 2, 1, 4)[n % 4], n // 4 * 10, n // 4 * 10 + 7
        )
        for n in range(events)
    ]
    report["measured"]["cycles"] = events // 4 * 10
    chain = [{"name": f"node {n}", "operator": "Relu", "layers": [n % 3]} for n in range(nodes)]
    edges = [_edge(n, n + 1) for n in range(nodes - 1)]
    edges += [_edge(n, n + 8) for n in range(0, nodes - 8, 8)]
    report["network"]["nodes"], report["network"]["edges"] = chain, edges
    report["network"]["inputs"][0]["to"], report["network"]["outputs"][0]["from"] = [0], nodes - 1
    return report


def deep_report(count: int = 200) -> Document:
    """A chain of so many convolutions on three units, with names, alternatives, refusals and events as real programs
    have them."""
    report, step = small_report(), 1000
    names = [[f"block{n // 4}/conv{n}/{part}" for part in ("weight_dq", "Conv", "Relu", "out_q")] for n in range(count)]
    layers, refusals, events = [], [], []
    for n, nodes in enumerate(names):
        unit, start = ("array", "core", "host")[n % 3], n * step
        others = [{**_alternative(nodes[1], "host", 1000 + 7 * n + k, k == 0), "onnx_names": nodes} for k in range(6)]
        layers.append(
            _layer(n, nodes[1], unit, start, start + step, macs=64_000 + n, onnx_names=nodes, alternatives=others)
        )
        for k in range(14):
            value = f"the divisor is {2**k}, channels are {n}"
            refusals.append(
                {"unit": "array", "pattern": f"conv{k}", "onnx_names": nodes, "rule": f"rule {k}", "value": value}
            )
        events += [_event(k % 4, "array", "kernel", n, start + 50 * k, start + 50 * k + 40, "array") for k in range(20)]
    chain = [
        {"name": name, "operator": name.rpartition("/")[2], "layers": [n]}
        for n, nodes in enumerate(names)
        for name in nodes
    ]
    report.update(layers=layers, refusals=refusals, predicted_cycles=count * step, swaps=[], buffers=[])
    report["network"].update(nodes=chain, edges=[_edge(n, n + 1) for n in range(len(chain) - 1)])
    report["network"]["inputs"][0]["to"], report["network"]["outputs"][0]["from"] = [0], len(chain) - 1
    twin = [{"index": n, "cycles": step - 10} for n in range(count)]
    report["measured"].update(cycles=count * step, layers=twin, events=events)
    return report


def renamed(report: Mapping[str, Any], name: Callable[[str], str]) -> Document:
    """Everything that comes from a model file with another name."""
    places = {"title", "onnx_names", "tensors", "file", "tensor", "name", "operators", "operator", "value", "kind"}

    def walk(value: Any, key: str, inside: str) -> Any:
        if isinstance(value, dict):
            return {inner: walk(item, inner, key) for inner, item in value.items()}
        if isinstance(value, list):
            return [walk(item, key, inside) for item in value]
        free = key in places and inside not in ("units", "links", "memories", "queues", "target", "buffers", "events")
        return name(value) if isinstance(value, str) and (free or key == "tensors") else value

    document: Document = walk(report, "", "")
    return document


def _layer(index: int, title: str, unit: str, start: int, end: int, **more: Any) -> Document:
    cycles, transfer = end - start, more.pop("transfer", 0)
    streamed = more.pop("streamed", [])
    return {
        "index": index,
        "title": title,
        "onnx_names": [title],
        "operators": [title.capitalize()],
        "unit": unit,
        "pattern": f"{unit}_{title}",
        "view": False,
        "queue": unit,
        "needs": {},
        "share": None,
        "macs": 0,
        "dims": {"K": 16},
        "input_bytes": 1024,
        "constant_bytes": 512,
        "output_bytes": 464,
        "start_cycles": start,
        "end_cycles": end,
        "predicted_cycles": cycles,
        "schedule": {
            "steps": 2,
            "tile": {"K": 8},
            "loops": [{"dim": "K", "size": 16, "tile": 8}],
            "double_buffered": [],
            "streamed": streamed,
            "working_bytes": {},
            "cost": {
                "compute_cycles": cycles - transfer,
                "transfer_cycles": transfer,
                "launch_cycles": 0,
                "sync_cycles": 0,
                "overlapped_cycles": 0,
                "energy_pj": None,
                "model": "made up 1",
                "bound": "fitted",
            },
        },
        "placements": [],
        "scratch": None,
        "alternatives": [
            _alternative(title, unit, cycles, True),
            _alternative(title, "host", 10 * cycles + 10, False),
        ],
        **more,
    }


def _alternative(title: str, unit: str, cycles: int, chosen: bool) -> Document:
    names = {"unit": unit, "pattern": f"{unit}_{title}", "onnx_names": [title]}
    return {**names, "predicted_cycles": cycles, "steps": 2, "chosen": chosen}


def _placement(operand: str, memory: str, offset: int, size: int, buffers: int = 1) -> Document:
    return {"operand": operand, "memory": memory, "offset_bytes": offset, "size_bytes": size, "buffers": buffers}


def _unit(name: str, host: bool = False, memory: str | None = None) -> Document:
    return {"name": name, "description": f"the {name}", "host": host, "memory": memory, "layout": None}


def _link(name: str, near: str, far: str, rate: int) -> Document:
    return {"name": name, "near": near, "far": far, "bytes_per_cycle": rate, "blocking": False}


def _memory(name: str, level: int, available: int, arena: int = 0, constants: int = 0, caller: int = 0) -> Document:
    used = {"arena_bytes": arena, "constant_bytes": constants, "caller_bytes": caller}
    return {"name": name, "level": level, "available_bytes": available, "used_bytes": sum(used.values()), **used}


def _swap(index: int, source: str, target: str, size: int, start: int, end: int) -> Document:
    ends = {"source": source, "target": target, "start_cycles": start, "end_cycles": end}
    return {"index": index, "size_bytes": size, **ends}


def _buffer(
    name: str, kind: str, offset: int | None, size: int, first: int, last: int, start: int, end: int, memory: str = "l2"
) -> Document:
    return {
        "name": name,
        "tensors": [] if kind == "scratch" else [f"{name}_tensor"],
        "kind": kind,
        "memory": memory,
        "offset_bytes": offset,
        "size_bytes": size,
        "first_layer": first,
        "last_layer": last,
        "start_cycles": start,
        "end_cycles": end,
    }


def _event(
    clock: int, name: str, kind: str, layer: int | None, start: int, end: int, context: str = "host"
) -> Document:
    times = {"start_cycles": start, "end_cycles": end}
    return {"clock": clock, "name": name, "kind": kind, "layer": layer, "context": context, **times}


def _network() -> Document:
    operators = {
        "quantise": ("QuantizeLinear", [0]),
        "weight": ("DequantizeLinear", []),
        "dequantise": ("DequantizeLinear", []),
        "conv": ("Conv", [1, 2]),
        "flatten": ("Flatten", [3]),
        "dense": ("Gemm", [4]),
    }
    nodes = [{"name": name, "operator": kind, "layers": layers} for name, (kind, layers) in operators.items()]
    tensor = {"dtype": "float32", "shape": ["1", "3", "32", "32"]}
    return {
        "nodes": nodes,
        "edges": [_edge(0, 2), _edge(2, 3), _edge(1, 3), _edge(3, 4), _edge(4, 5)],
        "inputs": [{"tensor": "image", **tensor, "to": [0]}],
        "outputs": [{"tensor": "scores", **tensor, "from": 5}],
    }


def _edge(start: int, end: int) -> Document:
    return {"from": start, "to": end, "tensor": f"t{start}", "dtype": "int8", "shape": ["1", "8"]}


def write_page(report: Mapping[str, Any], path: Path) -> Path:
    """The page of a report as a file."""
    from match_report.page import html_page

    path.write_text(html_page(report), encoding="utf-8")
    return path


def write_programs(folder: Path) -> tuple[Path, Path]:
    """Two program directories: in the first one, the host runs the layer ``dense``, slower, and the store is unused."""
    before, after = small_report(), small_report()
    for report in (before, after):
        report["measured"] = None
    dense = before["layers"][4]
    dense.update(unit="host", end_cycles=1600, predicted_cycles=1000)
    before.update(predicted_cycles=1600, options={**before["options"], "without_units": ["array"]})
    before["memories"][2].update(used_bytes=0, constant_bytes=0)
    for name, report in (("before", before), ("after", after)):
        (folder / name).mkdir()
        (folder / name / "report.json").write_text(json.dumps(report), encoding="utf-8")
        (folder / name / "small.c").write_text(f"int x;\n/* {name} */\n", encoding="utf-8")
    return folder / "before", folder / "after"
