"""The package meets the contract: docs/conformance-levels.md of match."""

from match_kit.testing import ConformanceSuite
from match_moss.conformance import CAPABILITIES


class TestConformance(ConformanceSuite):
    """One test for each case and target."""

    capabilities = CAPABILITIES
