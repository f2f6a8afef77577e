"""The package meets the contract (docs/conformance-levels.md), with the stand-in for the library."""

from __future__ import annotations

import pytest
from match_cmsisnn.conformance import CAPABILITIES
from match_kit.testing import ConformanceSuite


@pytest.fixture(autouse=True)
def library(stand_in) -> None:
    """Programs are built with the stand-in."""


class TestConformance(ConformanceSuite):
    """One test for each case and target."""

    capabilities = CAPABILITIES
