"""``match operators``: which operators of a model the units of all installed targets can run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from match_core.cli.parameters import DimOption, JsonOption, ModelArgument
from match_core.cli.session import plugin_session
from match_core.cli.terminal import Table, Terminal

if TYPE_CHECKING:
    from match_report.advice.operator_matrix import OperatorMatrix


def operators_command(model: ModelArgument, dim: DimOption = None, json: JsonOption = False) -> int:
    """Show, for every installed target, how many nodes of each operator of a model a unit can run.

    Example: match operators model.onnx
    """
    with Terminal(as_json=json) as terminal:
        with plugin_session(terminal) as plugins:
            from match_core.load.dims import dim_sizes

            from match_report.advice.operator_matrix import operator_matrix

            matrix = operator_matrix(model, plugins, dim_sizes(dim or ()))
        terminal.document(_document(matrix))
        for target in dict.fromkeys(target for target, _ in matrix.columns):
            terminal.table(_table(matrix, target))
        for target, error in matrix.failed:
            terminal.warning(f"target {target} cannot be used: {error.where}: {error.why} [{error.code}]")
    return 0


def _document(matrix: OperatorMatrix) -> dict[str, Any]:
    return {
        "schema": "match.operators",
        "ok": True,
        "operators": [{"operator": operator, "nodes": count} for operator, count in matrix.counts],
        "units": [{"target": target, "unit": unit} for target, unit in matrix.columns],
        "cells": [
            {"operator": c.operator, "target": c.target, "unit": c.unit, "taken": c.taken, "nodes": c.nodes}
            for c in matrix.cells
        ],
        "failed": [{"target": target, "error": error.as_json()} for target, error in matrix.failed],
    }


def _table(matrix: OperatorMatrix, target: str) -> Table:
    columns = [column for column in matrix.columns if column[0] == target]
    rows = []
    for operator, count in matrix.counts:
        cells = [matrix.cell(operator, column) for column in columns]
        texts = ["folded" if cell is None else f"{cell.taken}/{cell.nodes}" if cell.taken else "-" for cell in cells]
        rows.append((operator, f"{count}", *texts))
    units = tuple(unit for _, unit in columns)
    return Table(
        f"{target}: nodes that a unit can run", ("operator", "nodes", *units), rows, frozenset(("nodes", *units))
    )
