"""The package meets the contract (docs/conformance-levels.md)."""

from __future__ import annotations

from match_cortexm.conformance import CAPABILITIES
from match_kit.testing import ConformanceSuite


class TestConformance(ConformanceSuite):
    """One test for each case and target."""

    capabilities = CAPABILITIES
