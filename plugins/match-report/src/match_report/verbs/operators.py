"""``match operators``: which operators of a model the units of all installed targets can run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from match_core.cli.headline import command_line, show_next
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
            best = matrix.best((soc.name, soc.host) for soc in plugins.hardware().socs)
        sizes = (word for text in dim or () for word in ("--dim", text))
        document = {
            **_document(matrix),
            "headline": _headline(model.stem, matrix, best),
            "next": None if best is None else command_line("check", model, "-t", best[0], *sizes),
        }
        terminal.document(document)
        terminal.paragraph(document["headline"], style="bold")
        for target in dict.fromkeys(target for target, _ in matrix.columns):
            terminal.table(_table(matrix, target))
        for target, error in matrix.failed:
            terminal.warning(f"target {target} cannot be used: {error.where}: {error.why} [{error.code}]")
        show_next(terminal, document["next"])
    return 0


def _headline(name: str, matrix: OperatorMatrix, best: tuple[str, int, int] | None) -> str:
    nodes = sum(count for _, count in matrix.counts)
    told = f"{name}: {nodes:,} nodes, {len(matrix.counts)} operators"
    if best is None:
        return told
    target, taken, left = best
    return f"{told}; most on units other than the host: {taken:,} of {left:,} on {target}"


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
