"""Layers whose modelled cycles rest on estimates: their marks, and the footnotes with what is an estimate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def estimate_of(layer: Mapping[str, Any]) -> str:
    """What of a layer's modelled cycles is an estimate; empty if nothing is, or an older report does not say."""
    return str(layer["schedule"]["cost"].get("estimate", ""))


def footnotes(texts: Iterable[str]) -> dict[str, str]:
    """The mark of each text, in the order of the first appearances; none for the empty one."""
    return {text: f"[{number}]" for number, text in enumerate(dict.fromkeys(filter(None, texts)), start=1)}


def footnote_lines(marks: Mapping[str, str]) -> list[str]:
    """A line for each mark."""
    return [f"{mark} estimate: {text}" for text, mark in marks.items()]
