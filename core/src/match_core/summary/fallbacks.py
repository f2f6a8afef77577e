"""Fallbacks: what runs on the host of a chip with other units, grouped by cause, the most expensive first."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, replace
from shlex import quote
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.candidate import DISABLED
from match_core.contract.fallback import Fallback
from match_core.contract.macs import node_macs
from match_core.contract.mapping import held_bytes
from match_core.ir.titles import SILENT, source_operators

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core.contract.candidate import Refusal
    from match_core.contract.compilation import Planned

_CONVERSIONS = frozenset(("DequantizeLinear", "QuantizeLinear"))
_DATA_SIZED = frozenset(("Compress", "NonMaxSuppression", "NonZero", "Unique"))
#: A cause states this many different values.
_VALUES_MAX = 3


def fallbacks(planned: Planned) -> tuple[Fallback, ...]:
    """One for each cause. Where another unit could run a node too, but the host is cheaper, there is none."""
    found: dict[tuple[str, ...], list[Fallback]] = {}
    why, total = _Why(planned), planned.program.predicted_cycles or 1
    for task in planned.program.tasks if why.units else ():
        chosen, nodes = task.assignment.candidate, task.assignment.candidate.match.nodes
        host = chosen.unit == planned.soc.host and not chosen.pattern.view
        reason = why.of(nodes) if host and why.named(nodes) else None  # the mapper's conversions come from no node
        if reason is not None:
            cycles = task.assignment.schedule.cost.total_cycles
            one = replace(reason, nodes=why.named(nodes), cycles=cycles, share=cycles / total)
            found.setdefault((one.cause, one.rule, one.unit), []).append(one)
    sizes = "".join(f" --dim {quote(f'{name}={size}')}" for name, size in planned.source.dims)
    merged = (_merged(same, sizes) for same in found.values())
    return tuple(sorted(merged, key=lambda fallback: -fallback.cycles))


def fallbacks_json(planned: Planned) -> dict[str, object]:
    """The fallbacks as every verb and the report state them; ``all_on_host``: there are fallbacks, other units are
    enabled, but the host computes all multiply-accumulates, or all nodes if there are none."""
    rows = []
    for row in map(asdict, fallbacks(planned)):
        names = row.pop("nodes")
        rows.append({**row, "onnx_names": list(names), "help": list(row["help"])})
    steps = [a.candidate for a in planned.mapping.assignments if not a.candidate.pattern.view]
    working = [candidate for candidate in steps if candidate.workload.macs] or steps
    alone = len(planned.units) > 1 and all(candidate.unit == planned.soc.host for candidate in working)
    return {"fallbacks": rows, "all_on_host": alone and bool(rows)}


def _merged(same: list[Fallback], sizes: str) -> Fallback:
    """``sizes``: options that complete each command."""
    same.sort(key=lambda fallback: -fallback.cycles)
    values = list(dict.fromkeys(fallback.value for fallback in same))
    more = (f"{len(values) - _VALUES_MAX} more",) if len(values) > _VALUES_MAX else ()
    return replace(
        same[0],
        value="; ".join((*values[:_VALUES_MAX], *more)),
        help=tuple(f"{line}{sizes}" if line.startswith("match ") else line for line in same[0].help),
        nodes=tuple(dict.fromkeys(name for fallback in same for name in fallback.nodes)),
        cycles=sum(fallback.cycles for fallback in same),
        share=sum(fallback.share for fallback in same),
    )


class _Why:
    """Finds why nodes run on the host."""

    def __init__(self, planned: Planned) -> None:
        host = planned.soc.host
        self.model, self.target, self.sources = planned.model, planned.soc.name, source_operators(planned.source)
        self.units = {unit: operators for unit, operators in planned.operators.items() if unit != host}
        others = [offered.candidate for offered in planned.offered if offered.candidate.unit != host]
        self.elsewhere = {name for candidate in others for name in candidate.node_names}
        held = held_bytes(planned.mapping.assignments)
        self.free = {name: size - held.get(name, 0) for name, size in planned.soc.held_bytes.items()}
        self.others = others
        taken = {name for state in self.model.states for name in (state.input, state.output)}
        taken |= self.model.quantised_ends.keys()
        graph = planned.source.graph
        near = [end.outputs[0] for end in graph.inputs if len(end.outputs) == 1 and end.name not in taken]
        near += [end.inputs[0] for end in graph.outputs if end.inputs and end.name not in taken]
        #: Conversions of inputs and outputs, which --quantized-io removes.
        self.ends = {node.name for node in near if node.op in _CONVERSIONS}
        #: Types of products that other units sum, such as float16.
        sums = (node for candidate in others for node in candidate.match.nodes if node_macs(node))
        self.types = {str(np.dtype(node.outputs[0].dtype)) for node in sums}
        self.refused: dict[str, list[Refusal]] = {}
        for refusal in (refusal for refusal in planned.refused if refusal.unit != host):
            for name in refusal.nodes:
                self.refused.setdefault(name, []).append(refusal)

    def of(self, nodes: tuple[gs.Node, ...]) -> Fallback | None:
        """None if another unit could run the main node of a step."""
        node = max(reversed(nodes), key=node_macs)
        if node.name in self.elsewhere:
            return self._full(node)
        around: tuple[gs.Node, ...] = ()
        if {self.sources.get(name) for name in self.model.origin(nodes)} <= _CONVERSIONS:
            around = (*(maker for tensor in nodes[0].inputs for maker in tensor.inputs), *nodes[-1].outputs[0].outputs)
        tensors = [*node.inputs[:1], *(part.outputs[0] for part in nodes)]
        floats = {str(np.dtype(tensor.dtype)) for tensor in tensors if not tensor.is_empty()} - self.types
        left = self._left((*nodes, *around)) if "float" in "".join(floats) else None
        if left is None and self.ends.intersection(self.model.origin(nodes)):
            rule, value = "inputs and outputs of the network are 8-bit integers", "these are floats"
            return Fallback("float", rule, value, "", ("add --quantized-io",))
        return left or self._rule(node) or self._structure(node)

    def named(self, nodes: Iterable[gs.Node]) -> tuple[str, ...]:
        """The source nodes, without those that only convert or move values if there are others."""
        names = self.model.origin(nodes)
        return tuple(name for name in names if self.sources.get(name) not in SILENT) or names

    def _full(self, node: gs.Node) -> Fallback | None:
        """None if a candidate with the node holds nothing, or what it holds would fit: then the host was cheaper."""
        around = [candidate for candidate in self.others if node.name in candidate.node_names]
        least = min(around, key=lambda candidate: len(candidate.node_names))
        for name, size in least.workload.holds:
            if size > self.free.get(name, 0):
                value = f"it is {size} bytes, and others leave {self.free.get(name, 0)}"
                return Fallback("memory", f"what {least.unit} would hold for it fits {name}", value, least.unit)
        return None

    def _left(self, nodes: tuple[gs.Node, ...]) -> Fallback | None:
        names = set(self.model.origin(nodes))
        for left in (left for left in self.model.left if names & set(left.nodes)):
            if unit := self._with(left.forms, "Integer|Pool|match.arith"):
                return Fallback("float", left.rule, left.value, unit, left.help)
        return None

    def _with(self, forms: tuple[str, ...], kind: str = "") -> str:
        """A unit whose patterns have one of these operators, of the kind of this expression; empty if none has."""
        for unit, operators in self.units.items():
            if any(name.rpartition(":")[2].startswith(forms) and re.search(kind, name) for name in operators):
                return unit
        return ""

    def _rule(self, node: gs.Node) -> Fallback | None:
        """The place of a pattern with the fewest broken rules."""
        places: dict[tuple[str, str, tuple[str, ...]], list[Refusal]] = {}
        for refusal in self.refused.get(node.name, ()):
            places.setdefault((refusal.unit, refusal.pattern, refusal.nodes), []).append(refusal)
        if not places:
            return None
        broken = min(places.values(), key=lambda rules: (rules[0].rule != DISABLED, len(rules)))
        first, name = broken[0], self.named([node])[0]
        if first.rule == DISABLED:
            option = f"--without-unit {first.unit}"
            help_ = f"omit {option}" if option in first.value else f"add --only-unit {first.unit}"
            return Fallback("disabled", first.rule, first.value, first.unit, (help_,))
        command = f"match explain {quote(self.model.source)} {quote(name)} -t {self.target}"
        both = zip(*((b.rule, b.value) for b in broken), strict=True)
        rules, values = ("; ".join(dict.fromkeys(texts)) for texts in both)
        return Fallback("rule", rules, values, first.unit, (command,))

    def _structure(self, node: gs.Node) -> Fallback:
        operator, units = self._operator(node), " and ".join(self.units)
        if node.op in _DATA_SIZED:
            return Fallback("data size", "sizes of results are fixed", f"data give that of {operator}")
        if unit := self._with((node.op.removesuffix("U8").removesuffix("I8").removesuffix("I16"),)):
            own, makers = self.model.origin([node]), (maker for tensor in node.inputs for maker in tensor.inputs)
            made = self._all(maker for maker in makers if self.model.origin([maker]) != own)
            shape = "x".join(map(str, node.outputs[0].shape))
            value = f"this one ({shape}) reads {made} and is read by {self._all(node.outputs[0].outputs)}"
            return Fallback("rule", f"{operator} in one of its patterns", value, unit)
        command = f"match operators {quote(self.model.source)}"
        return Fallback("no pattern", f"a unit has a pattern with {operator}", f"{units} have none", "", (command,))

    def _operator(self, node: gs.Node) -> str:
        """The operator of the source, and the node's if it is another one that does a part of it."""
        known = next((self.sources[name] for name in self.named([node]) if name in self.sources), node.op)
        if known in SILENT and node.op not in SILENT and not node.domain:
            return str(node.op)
        return known if node.domain or node.op.startswith((known, "MatMul")) else f"{node.op} of {known}"

    def _all(self, nodes: Iterable[gs.Node]) -> str:
        return " and ".join(dict.fromkeys(map(self._operator, nodes))) or "the network's ends"
