"""Which ternary layers gain on the analog array, by modelled cycles."""

from __future__ import annotations

from collections.abc import Sequence

from match_core.ir.editor import Editor

from match_diana.passes.analog_layers import Layer


def choose(editor: Editor, legal: Sequence[Layer]) -> tuple[Layer, ...]:
    """The layers that become analog."""
    return tuple(legal)
