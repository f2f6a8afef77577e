"""Cases that CI runs, among others that only ``make test-slow`` runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def in_ci(cases: Iterable[Any], chosen: Callable[[Any], bool]) -> list[Any]:
    """The cases of ``parametrize``, of which those that are not chosen are slow."""
    return [case if chosen(case) else _slow(case) for case in cases]


def _slow(case: Any) -> Any:
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow)
