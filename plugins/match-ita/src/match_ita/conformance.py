"""Capabilities for the conformance tests (docs/conformance-levels.md)."""

from match_kit.testing import Capabilities, samples

CAPABILITIES = Capabilities(
    package="match-ita",
    peak_macs_per_cycle={"ita": 16 * 64},  # N dot products of M elements, see hardware.py
    models=(
        samples.dense("dense", (64, 64), rows=64, zero=0),
        samples.image("image"),
    ),
)
