"""Capabilities for the conformance tests (docs/conformance-levels.md)."""

from match_kit.testing import Capabilities, samples

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
