"""Results of explain: of a whole network, and of one node."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from match_python.headline import Headline, headline_of
from match_python.tables import Tabular

if TYPE_CHECKING:
    from pathlib import Path

    from match_report.advice import costliest
    from match_report.advice.costliest import CostlyLayer
    from match_report.advice.explain import Considered, Explanation, Margin, Tiling
    from match_report.advice.flip import Flip
    from match_report.advice.nearest import Obstacle
    from match_report.advice.recommendation import Recommendation


@dataclass(frozen=True)
class NetworkExplanation(Tabular):
    """What costs most and what would help. ``layers``: the five costliest, each with what limits it and the change
    that saves most of its cycles; ``recommendations`` for the whole network, by what they save."""

    headline: Headline
    layers: tuple[CostlyLayer, ...]
    recommendations: tuple[Recommendation, ...]

    def summary(self) -> str:
        """The share of the costliest layers, and the best recommendation."""
        share = sum(layer.share for layer in self.layers)
        text = (
            f"{self.headline.model} on {self.headline.target}: {len(self.layers)} layers take {share:.0%} of "
            f"{self.headline.cycles:,} modelled cycles"
        )
        if not self.recommendations:
            return f"{text}; nothing that was tried makes it faster"
        best = self.recommendations[0]
        saved = "" if best.saves_percent is None else f" saves {best.saves_percent:.1f}%"
        return f"{text}; {best.change}{saved}"

    def rows(self) -> list[dict[str, object]]:
        """The costliest layers."""
        return [
            {
                "layer": layer.title,
                "unit": layer.unit,
                "predicted cycles": layer.cycles,
                "share": layer.share,
                "limited by": layer.limit,
                "what would help": None if layer.help is None else layer.help.change,
                "saves cycles": layer.saves_cycles,
            }
            for layer in self.layers
        ]


@dataclass(frozen=True)
class NodeExplanation(Tabular):
    """Why a unit runs a node. ``unit``: the one that runs it, None if it is computed at compile time; ``considered``:
    the legal ways to run it, with cycles; ``refused``: the rules that other units' patterns refuse it by; ``margin``:
    modelled cycles of the network without this unit for the node; ``tilings``: costs of other tile sizes; ``flip``: the
    smallest change of the layer that moves it to another unit."""

    headline: Headline
    node: str
    operator: str
    target: str
    unit: str | None
    considered: tuple[Considered, ...]
    refused: tuple[Obstacle, ...]
    without_pattern: tuple[str, ...]
    margin: Margin | None
    tilings: tuple[Tiling, ...]
    flip: Flip | None

    def summary(self) -> str:
        """The unit, and what another would cost."""
        if self.unit is None:
            return f"{self.node} ({self.operator}) is computed at compile time"
        if self.margin is None:
            return f"{self.node} ({self.operator}) runs on {self.unit}: no other unit of {self.target} can run it"
        more = self.margin.cycles_without - self.margin.cycles
        return (
            f"{self.node} ({self.operator}) runs on {self.unit}: on {self.margin.unit} the network takes {more:,} "
            "more cycles"
        )

    def rows(self) -> list[dict[str, object]]:
        """The alternatives, and the rules of those that refuse the node."""
        legal: list[dict[str, object]] = [
            {
                "unit": entry.unit,
                "pattern": entry.pattern,
                "predicted cycles": entry.schedule.cost.total_cycles,
                "chosen": entry.chosen,
                "refused because": None,
            }
            for entry in self.considered
        ]
        return legal + [
            {
                "unit": place.unit,
                "pattern": place.pattern,
                "predicted cycles": None,
                "chosen": False,
                "refused because": "; ".join(f"{rule}: {value}" for rule, value in place.rules),
            }
            for place in self.refused
        ]


def network_explanation(found: costliest.NetworkExplanation, named: str | None, folder: Path) -> NetworkExplanation:
    """The typed result. Commands name a model in memory without its temporary ``folder``."""

    def shown(advice: Recommendation) -> Recommendation:
        return replace(advice, command=advice.command.replace(f"{folder}/", ""))

    return NetworkExplanation(
        headline=headline_of(found.report, named),
        layers=tuple(replace(layer, help=layer.help and shown(layer.help)) for layer in found.layers),
        recommendations=tuple(map(shown, found.recommendations)),
    )


def node_explanation(found: Explanation, named: str | None) -> NodeExplanation:
    """The typed result."""
    return NodeExplanation(
        headline=headline_of(found.report, named),
        node=found.node,
        operator=found.operator,
        target=found.target,
        unit=next((entry.unit for entry in found.considered if entry.chosen), None),
        considered=found.considered,
        refused=found.refused,
        without_pattern=found.without_pattern,
        margin=found.margin,
        tilings=found.tilings,
        flip=None if found.flips is None else found.flips.flip,
    )
