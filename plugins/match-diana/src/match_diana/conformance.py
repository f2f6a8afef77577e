"""What the conformance cases run on (docs/conformance-levels.md)."""

from match_core.testing import Capabilities, samples

CAPABILITIES = Capabilities(
    package="match-diana",
    peak_macs_per_cycle={
        "digital": 16 * 16,
        "analog": 1152 * 512,
    },  # sizes of the arrays, see hardware.py; every cell at once
    models=(
        samples.image("image", channels=16),
        samples.ternary("ternary", layers=6),
    ),
)
