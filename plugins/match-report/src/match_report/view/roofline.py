"""Figures of layers: rate, utilisation of the unit, and the limiting resource (Williams et al., "Roofline", CACM
2009)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from match_report.view.estimates import estimate_of
from match_report.view.links import used_links
from match_report.view.timeline import computed

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Row:
    """A layer that runs code. ``twin_cycles``: None if the twin was not run; ``error``: modelled / twin - 1;
    ``rate`` in MAC per cycle, of twin cycles if there are any; ``intensity`` in MAC per byte, every operand counted
    once; ``utilisation``: rate / the unit's roof; ``roof_share``: rate / the lower of the unit's roof and the link's
    (``limit`` names it). None if there are no MACs. ``estimate``: what of the modelled cycles is an estimate."""

    index: int
    title: str
    unit: str
    pattern: str
    macs: int
    size_bytes: int
    tiles: int
    predicted_cycles: int
    twin_cycles: int | None
    error: float | None
    rate: float | None
    intensity: float | None
    utilisation: float | None
    limit: str | None
    roof_share: float | None
    estimate: str


def unit_roofs(report: Mapping[str, Any]) -> dict[str, float]:
    """The best modelled MAC per cycle of a kernel of this program, by unit, without units that compute no MACs."""
    roofs: dict[str, float] = {}
    for layer in computed(report):
        if layer["macs"]:
            rate = layer["macs"] / max(1, layer["schedule"]["cost"]["compute_cycles"])
            roofs[layer["unit"]] = max(roofs.get(layer["unit"], 0.0), rate)
    return roofs


def link_roofs(report: Mapping[str, Any]) -> dict[str, float]:
    """Bytes per cycle of the links that layers use for copies; links of equal speed share an entry."""
    names: dict[float, list[str]] = {}
    for link in used_links(report):
        names.setdefault(link["bytes_per_cycle"], []).append(link["name"])
    return {", ".join(links): rate for rate, links in names.items()}


def layer_rows(report: Mapping[str, Any]) -> tuple[Row, ...]:
    """One row per layer that runs code, in the program's order."""
    measured = report["measured"]
    twin = {layer["index"]: layer["cycles"] for layer in measured["layers"]} if measured else {}
    roofs = unit_roofs(report)
    near = {link["near"]: link for link in report["links"] if link["far"] == report["target"]["home"]}
    memory = {unit["name"]: unit["memory"] for unit in report["units"]}
    return tuple(
        _row(layer, twin.get(layer["index"]), roofs, near.get(memory[layer["unit"]])) for layer in computed(report)
    )


def _row(
    layer: Mapping[str, Any], twin_cycles: int | None, roofs: Mapping[str, float], link: Mapping[str, Any] | None
) -> Row:
    predicted, macs = layer["predicted_cycles"], layer["macs"]
    size = layer["input_bytes"] + layer["constant_bytes"] + layer["output_bytes"]
    rate = macs / max(1, predicted if twin_cycles is None else twin_cycles) if macs else None
    intensity = macs / size if macs and size else None
    roof, limit = roofs.get(layer["unit"]), layer["unit"]
    utilisation = rate / roof if rate and roof else None
    if roof and intensity and link is not None and link["bytes_per_cycle"] * intensity < roof:
        roof, limit = link["bytes_per_cycle"] * intensity, link["name"]
    return Row(
        index=layer["index"],
        title=layer["title"],
        unit=layer["unit"],
        pattern=layer["pattern"],
        macs=macs,
        size_bytes=size,
        tiles=layer["schedule"]["steps"],
        predicted_cycles=predicted,
        twin_cycles=twin_cycles,
        error=predicted / twin_cycles - 1 if twin_cycles else None,
        rate=rate,
        intensity=intensity,
        utilisation=utilisation,
        limit=limit if rate else None,
        roof_share=rate / roof if rate and roof else None,
        estimate=estimate_of(layer),
    )
