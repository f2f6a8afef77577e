"""The packages that every target builds on, without any chip: what tests load that bring a target of their own."""

from __future__ import annotations

from match_core.plugin.discovery import ALLOW_VARIABLE, Found
from match_core.plugin.facade import Plugins

BASE = (
    "match-core",
    "match-host",
    "match-quant",
    "match-report",
    "match-verify",
    "match-schedule",
    "match-map",
    "match-concurrent",
    "match-beyond",
)


def allowing(*distributions: str) -> dict[str, str]:
    """The environment that allows these packages and the base."""
    return {ALLOW_VARIABLE: ",".join((*BASE, *distributions))}


def base_plugins(*found: Found) -> Plugins:
    """The base, and plugins that are not installed."""
    return Plugins.load(found, environment=allowing(*(plugin.distribution for plugin in found)))
