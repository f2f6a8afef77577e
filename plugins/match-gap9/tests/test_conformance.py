"""The package meets the contract (docs/conformance-levels.md)."""

from __future__ import annotations

from match_core.testing import ConformanceSuite
from match_gap9.conformance import CAPABILITIES


class TestConformance(ConformanceSuite):
    """One test for each case and target."""

    capabilities = CAPABILITIES
