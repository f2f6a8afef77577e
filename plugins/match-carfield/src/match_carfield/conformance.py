"""Capabilities for the conformance tests (docs/conformance-levels.md)."""

from match_kit.testing import Capabilities, samples

CAPABILITIES = Capabilities(
    package="match-carfield",
    slow_below={
        "pulp": 4,
        "spatz": 4,
    },  # counted kernels: what is left of a vector or of a block of outputs goes singly
    models=(
        samples.half_image("half", channels=32, size=16),
        samples.image("image"),
    ),
)
