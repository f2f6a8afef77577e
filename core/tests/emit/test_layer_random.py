"""Emitted layers of legal schedules by chance, executed: all features with each other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.tests.emit import layer_program as lp
from core.tests.emit.hand_schedules import random_case
from core.tests.emit.workloads import MAKERS


@pytest.mark.parametrize("kind", sorted(MAKERS))
def test_any_legal_schedule_computes_the_layer(kind: str, tmp_path: Path) -> None:
    random = np.random.default_rng(sorted(MAKERS).index(kind))
    found = [random_case(random, MAKERS[kind](random)) for _ in range(40)]
    cases = [case for case in found if case is not None]
    assert len(cases) >= 30
    placements = [placement for case in cases for placement in case.schedule.placements]
    assert sum(placement.buffers == 2 and placement.memory == "near" for placement in placements) >= 15
    lp.check(tmp_path, cases)
