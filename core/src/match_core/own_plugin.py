"""The core's own answers to hooks, registered like those of every package: its clean-up passes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.plugin.markers import hookimpl

if TYPE_CHECKING:
    from match_core.contract.hardware import Soc
    from match_core.contract.passes import Pass

match_contract = 1


@hookimpl
def match_transforms(soc: Soc) -> tuple[Pass, ...]:
    """Passes that clean graphs up."""
    from match_core.passes.standard import PASSES

    return PASSES
