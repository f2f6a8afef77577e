"""Which unit of which target can run the operators of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from match_core.contract.errors import MatchError, PluginError
from match_core.contract.observe import NullObserver
from match_core.pipeline import CompileRequest, prepare

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from match_core.pipeline import Prepared
    from match_core.plugin.facade import Plugins


@dataclass(frozen=True, slots=True)
class Coverage:
    """The unit can run ``taken`` of the ``nodes`` nodes of an operator that remain after the target's passes."""

    operator: str
    target: str
    unit: str
    taken: int
    nodes: int


@dataclass(frozen=True, slots=True)
class OperatorMatrix:
    """``counts``: how often each operator occurs in the model, in order of first occurrence; ``columns``: (target,
    unit); ``cells``: coverage by operator and column; ``failed``: targets for which the model could not be prepared."""

    counts: tuple[tuple[str, int], ...]
    columns: tuple[tuple[str, str], ...]
    cells: tuple[Coverage, ...]
    failed: tuple[tuple[str, MatchError], ...]

    def cell(self, operator: str, column: tuple[str, str]) -> Coverage | None:
        """None if no node of the operator remains for the target, because its passes fold or replace it."""
        for cell in self.cells:
            if cell.operator == operator and (cell.target, cell.unit) == column:
                return cell
        return None

    def best(self, hosts: Iterable[tuple[str, str]]) -> tuple[str, int, int] | None:
        """The target whose units other than the host can run most nodes (a node counts once), how many,
        and of how many that remain; the first of equals. ``hosts``: targets and their host units. None if no such unit
        can run a node."""
        found = []
        for target, host in hosts:
            own = [cell for cell in self.cells if cell.target == target and cell.unit != host]
            nodes = {cell.operator: cell.nodes for cell in own}
            taken = (max(cell.taken for cell in own if cell.operator == operator) for operator in nodes)
            found.append((target, sum(taken), sum(nodes.values())))
        most = max(found, key=lambda entry: entry[1], default=("", 0, 0))
        return most if most[1] else None


def operator_matrix(model: Path, plugins: Plugins, dims: tuple[tuple[str, int], ...] = ()) -> OperatorMatrix:
    """Match the model, with ``dims`` for its dynamic sizes, with every installed target. An error of loading, which
    affects all targets, is raised."""
    counts: dict[str, int] = {}
    columns: list[tuple[str, str]] = []
    cells: list[Coverage] = []
    failed: list[tuple[str, MatchError]] = []
    for soc in sorted(plugins.hardware().socs, key=lambda soc: soc.name):
        try:
            prepared = prepare(CompileRequest(model=model, target=soc.name, dims=dims), plugins, NullObserver())
        except PluginError as error:
            failed.append((soc.name, error))
            continue
        for node in () if counts else prepared.source.graph.nodes:
            counts[str(node.op)] = counts.get(str(node.op), 0) + 1
        columns += [(soc.name, unit.name) for unit in prepared.units]
        cells += _cells(prepared)
    return OperatorMatrix(tuple(counts.items()), tuple(columns), tuple(cells), tuple(failed))


def _cells(prepared: Prepared) -> Iterator[Coverage]:
    model = prepared.model
    operators = {name: str(node.op) for node in prepared.source.graph.nodes for name in prepared.source.origin([node])}
    left = [name for name in model.origin(model.graph.nodes) if name in operators]
    for unit in prepared.units:
        legal = (candidate for candidate in prepared.candidates.legal if candidate.unit == unit.name)
        taken = {name for candidate in legal for name in model.origin(candidate.match.nodes)}
        for operator in dict.fromkeys(operators[name] for name in left):
            own = [name for name in left if operators[name] == operator]
            yield Coverage(operator, prepared.soc.name, unit.name, sum(name in taken for name in own), len(own))
