"""Titles of tasks: the source nodes that compute, not those that only convert or move values."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from match_core.ir.titles import task_title

OPERATORS = {"a": "DequantizeLinear", "conv": "Conv", "relu": "Relu", "q": "QuantizeLinear", "turn": "Transpose"}


def assignment(*origins: str) -> tuple[Any, Any]:
    """A model that knows where its only node came from, and an assignment of that node."""
    node = SimpleNamespace(op="Transpose", inputs=[SimpleNamespace(name="x")])
    model = SimpleNamespace(origin=lambda nodes: tuple(origins))
    return model, SimpleNamespace(candidate=SimpleNamespace(match=SimpleNamespace(nodes=(node,))))


def test_conversions_and_moves_are_left_out_where_others_are_left() -> None:
    model, task = assignment("a", "conv", "relu", "turn", "q")
    assert task_title(model, OPERATORS, task) == "conv, relu"
    model, task = assignment("a", "q")
    assert task_title(model, OPERATORS, task) == "a, q"


def test_many_names_are_counted() -> None:
    model, task = assignment(*(f"n{i}" for i in range(9)))
    assert task_title(model, {}, task) == "n0, n1, n2, n3 and 5 more"


def test_an_inserted_task_says_what_it_does() -> None:
    model, task = assignment()
    assert task_title(model, {}, task) == "Transpose of x (inserted)"
