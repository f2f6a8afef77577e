"""The conformance suite for target packages (docs/conformance-levels.md).

A package states its capabilities once, in a module that its hook module names::

    match_conformance = "match_mychip.conformance"     # in the module with the hooks

and runs the cases with ``match test-target``, or with pytest from its own tests::

    class TestConformance(ConformanceSuite):
        capabilities = CAPABILITIES
"""

from match_kit.testing import samples
from match_kit.testing.capabilities import Capabilities, SampleModel
from match_kit.testing.findings import Finding
from match_kit.testing.levels import LEVELS, all_cases
from match_kit.testing.suite import ConformanceSuite

__all__ = ["LEVELS", "Capabilities", "ConformanceSuite", "Finding", "SampleModel", "all_cases", "samples"]
