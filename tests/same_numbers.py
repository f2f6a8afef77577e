"""Every test draws the same random numbers, whichever tests ran before it in its process (xdist deals them out in an
order that changes from run to run)."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest


class SameNumbers:
    """Sets the generators that modules hold back to their state after all modules were imported."""

    def __init__(self) -> None:
        self._generators: list[tuple[np.random.Generator, Any]] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        modules = [module for name, module in sys.modules.items() if name.startswith("tests")]
        modules += [item.module for item in session.items if isinstance(item, pytest.Function)]
        found = {id(value): value for module in modules for value in vars(module).values() if _is_generator(value)}
        self._generators = [(generator, generator.bit_generator.state) for generator in found.values()]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        for generator, state in self._generators:
            generator.bit_generator.state = state


def _is_generator(value: object) -> bool:
    return isinstance(value, np.random.Generator)
