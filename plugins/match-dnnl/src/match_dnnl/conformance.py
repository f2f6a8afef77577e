"""What the conformance cases run on (docs/conformance-levels.md)."""

from match_core.testing import Capabilities

from match_dnnl.sample_models import SAMPLES

CAPABILITIES = Capabilities(package="match-dnnl", models=SAMPLES, modes=("eager", "lazy"))
