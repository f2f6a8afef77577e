"""The package meets the contract (docs/conformance-levels.md)."""

from __future__ import annotations

import pytest
from dnnl_networks import need_library
from match_dnnl.conformance import CAPABILITIES
from match_kit.testing import ConformanceSuite


@pytest.fixture(autouse=True)
def library() -> None:
    """Programs are linked with oneDNN."""
    need_library()


class TestConformance(ConformanceSuite):
    """One test for each case and target."""

    capabilities = CAPABILITIES
