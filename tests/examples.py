"""How many examples property tests run: fewer in CI than in ``make test-slow``, which runs all of them."""

from __future__ import annotations

import os

#: ``full``: property tests run all of their examples, and count as slow.
VARIABLE = "MATCH_TEST_EXAMPLES"
#: CI runs a third of the examples, but no fewer than these.
FEWEST = 25


def all_examples() -> bool:
    return os.environ.get(VARIABLE) == "full"


def examples(number: int, fewest: int = FEWEST) -> int:
    """``max_examples`` of a property test that has ``number`` examples; ``fewest``: of examples that take half a second
    and more."""
    return number if all_examples() else min(number, max(fewest, -(-number // 3)))
