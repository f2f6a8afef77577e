"""The host's operators, assembled from the tables of the families."""

from __future__ import annotations

from match_core.host.operator import Operator
from match_core.host.tables.bounded import BOUNDED
from match_core.host.tables.convolution import CONVOLUTION
from match_core.host.tables.dense import DENSE
from match_core.host.tables.elementwise import ELEMENTWISE
from match_core.host.tables.image import IMAGE
from match_core.host.tables.integer_normalisation import INTEGER_NORMALISATION
from match_core.host.tables.movement import MOVEMENT
from match_core.host.tables.normalisation import NORMALISATION
from match_core.host.tables.pooling import POOLING
from match_core.host.tables.recurrent import RECURRENT
from match_core.host.tables.reduction import REDUCTION
from match_core.host.tables.signal import SIGNAL
from match_core.host.tables.trees import TREES

OPERATORS: tuple[Operator, ...] = (
    *ELEMENTWISE,
    *CONVOLUTION,
    *RECURRENT,
    *DENSE,
    *INTEGER_NORMALISATION,
    *NORMALISATION,
    *POOLING,
    *REDUCTION,
    *MOVEMENT,
    *BOUNDED,
    *SIGNAL,
    *TREES,
    *IMAGE,
)

OPERATOR_TABLE = {operator.name: operator for operator in OPERATORS}
