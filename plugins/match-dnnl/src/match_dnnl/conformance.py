"""Capabilities for the conformance tests (docs/conformance-levels.md)."""

from match_kit.testing import Capabilities

from match_dnnl.sample_models import SAMPLES

CAPABILITIES = Capabilities(package="match-dnnl", models=SAMPLES, modes=("eager", "lazy"))
