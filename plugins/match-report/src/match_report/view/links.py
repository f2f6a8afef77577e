"""Finds the links that a layer's copies use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def copies_over(report: Mapping[str, Any], link: Mapping[str, Any], layer: Mapping[str, Any]) -> bool:
    """Whether the layer's copies use the link: operands come from the home memory, streamed constants from the store,
    through the home memory if they have a buffer there, else directly."""
    if not layer["schedule"]["cost"]["transfer_cycles"]:
        return False
    home, streamed = report["target"]["home"], set(layer["schedule"]["streamed"])
    there = {placement["operand"] for placement in layer["placements"] if placement["memory"] == link["near"]}
    at_home = {placement["operand"] for placement in layer["placements"] if placement["memory"] == home}
    if link["far"] == home:
        return bool(there - (streamed - at_home))
    if link["near"] == home:
        return bool(there & streamed)
    return bool(there & (streamed - at_home))


def used_links(report: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Links that layers' copies use, in the target's order."""
    layers = [layer for layer in report["layers"] if not layer["view"]]
    return [link for link in report["links"] if any(copies_over(report, link, layer) for layer in layers)]
