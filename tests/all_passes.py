"""The passes of a target: those of the core and of match-quant, and those of its own package."""

from __future__ import annotations

from collections.abc import Sequence

from match_core import own_plugin
from match_core.contract.hardware import Soc, Unit
from match_core.contract.passes import Pass
from match_core.passes.order import order_passes
from match_core.plugin.facade import Plugins
from match_quant import plugin as quant_plugin


def core_passes(soc: Soc, units: Sequence[Unit] = ()) -> tuple[Pass, ...]:
    """Without those of the target's own package, in running order."""
    return order_passes([*own_plugin.match_transforms(soc), *quant_plugin.match_transforms(soc)])


def target_passes(plugins: Plugins, target: str) -> tuple[Pass, ...]:
    """The passes that the target's package adds, in running order."""
    soc = plugins.soc(target)
    shared = {item.name for item in core_passes(soc)}
    return tuple(item for item in order_passes(plugins.transforms(soc)) if item.name not in shared)
