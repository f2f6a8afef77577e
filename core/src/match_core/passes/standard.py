"""The clean-up passes that the core registers."""

from match_core.contract.passes import Pass
from match_core.passes.clean_up import CLEAN_UP
from match_core.passes.constant_nodes import CONSTANT_NODES
from match_core.passes.explicit_geometry import EXPLICIT_GEOMETRY
from match_core.passes.fold_batch_norm import FOLD_BATCH_NORM
from match_core.passes.fold_constants import FOLD_CONSTANTS
from match_core.passes.fold_padding import FOLD_PADDING
from match_core.passes.nhwc_layout import NHWC_LAYOUT
from match_core.passes.normalise_gemm import NORMALISE_GEMM
from match_core.passes.remove_dead_nodes import REMOVE_DEAD_NODES
from match_core.passes.remove_identities import REMOVE_IDENTITIES

PASSES: tuple[Pass, ...] = (
    REMOVE_DEAD_NODES,
    CONSTANT_NODES,
    FOLD_CONSTANTS,
    REMOVE_IDENTITIES,
    EXPLICIT_GEOMETRY,
    FOLD_BATCH_NORM,
    FOLD_PADDING,
    NORMALISE_GEMM,
    NHWC_LAYOUT,
    CLEAN_UP,
)
