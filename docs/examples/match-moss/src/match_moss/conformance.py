"""Capabilities for the conformance tests."""

from match_kit.testing import Capabilities, samples

from match_moss.hardware import VALUES

CAPABILITIES = Capabilities(
    package="match-moss",
    peak_macs_per_cycle={"moss_conv": VALUES["processors"] * 9 // VALUES["clock_ratio"]},
    models=(samples.image("image", channels=16), samples.dense("more_biases_than_room", (64, 300, 300, 10))),
)
