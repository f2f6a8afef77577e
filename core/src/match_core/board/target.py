"""From the user's target (a name, or a board file) to a Soc."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from match_core.board.compose import compose
from match_core.board.document import is_board_file, read_board

if TYPE_CHECKING:
    from match_core.board.document import BoardDocument
    from match_core.contract.board import Board
    from match_core.contract.hardware import Soc
    from match_core.plugin.facade import Plugins


def target_soc(plugins: Plugins, name: str | None) -> Soc:
    """The target of that name, or of a board file; None: the only one installed.

    Errors: UsageError MATCH-U022 to U024 if there is no such target, MATCH-U060 to U064 if a board cannot be composed,
    PluginError if a broken plugin is the reason.
    """
    if name is not None and is_board_file(name):
        return add_board(plugins, read_board(Path(name))).soc
    return plugins.soc(name)


def add_board(plugins: Plugins, document: BoardDocument) -> Board:
    """Compose the board that a file describes, and add it to ``plugins`` by its name. Errors: as ``target_soc``."""
    board = compose(document, plugins.targets)
    plugins.add_board(board)
    return board
