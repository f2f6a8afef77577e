"""The clean-up passes that the core registers."""

from match_core.contract.passes import Pass
from match_core.passes.clean_up import CLEAN_UP
from match_core.passes.constant_nodes import CONSTANT_NODES
from match_core.passes.fold_constants import FOLD_CONSTANTS
from match_core.passes.remove_dead_nodes import REMOVE_DEAD_NODES
from match_core.passes.remove_identities import REMOVE_IDENTITIES

PASSES: tuple[Pass, ...] = (
    REMOVE_DEAD_NODES,
    CONSTANT_NODES,
    FOLD_CONSTANTS,
    REMOVE_IDENTITIES,
    CLEAN_UP,
)
