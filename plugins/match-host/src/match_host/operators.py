"""The host's operators, from the tables of all families."""

from __future__ import annotations

from match_host.operator import Operator
from match_host.tables.bounded import BOUNDED
from match_host.tables.convolution import CONVOLUTION
from match_host.tables.dense import DENSE
from match_host.tables.elementwise import ELEMENTWISE
from match_host.tables.image import IMAGE
from match_host.tables.integer_normalisation import INTEGER_NORMALISATION
from match_host.tables.movement import MOVEMENT
from match_host.tables.normalisation import NORMALISATION
from match_host.tables.pooling import POOLING
from match_host.tables.recurrent import RECURRENT
from match_host.tables.reduction import REDUCTION
from match_host.tables.signal import SIGNAL
from match_host.tables.trees import TREES

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
