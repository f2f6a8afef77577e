"""No test is answered by a program that another one, or an earlier run, has compiled."""

from __future__ import annotations

import os
from uuid import uuid4

import pytest

#: Variables with the prefix of match belong to the key of a kept program.
VARIABLE = "MATCH_TEST"


class OwnPrograms:
    """Gives each test a variable of its own."""

    def __init__(self) -> None:
        self._run = uuid4().hex

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        os.environ[VARIABLE] = f"{self._run} {item.nodeid}"
