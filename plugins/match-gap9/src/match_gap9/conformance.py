"""Capabilities for the conformance tests (docs/conformance-levels.md)."""

from match_kit.testing import Capabilities, samples

CAPABILITIES = Capabilities(
    package="match-gap9",
    # Cluster: 8 cores, dot products of four bytes. NE16: 9x9x16 multipliers of one weight bit, 2 bits at least.
    peak_macs_per_cycle={"cluster": 8 * 4, "ne16": 9 * 9 * 16 / 2},
    models=(
        samples.image("image", channels=16, precision="fast"),
        samples.dense("dense", (64, 16)),
    ),
)
