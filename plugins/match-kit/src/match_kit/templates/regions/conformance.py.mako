"""Capabilities for the conformance tests."""

from match_kit.testing import Capabilities, samples

from ${module}.hardware import FEATURES_MAX, VALUES

CAPABILITIES = Capabilities(
    package="${distribution}",
    peak_macs_per_cycle={"${name}_engine": VALUES["macs_per_cycle"]},
    models=(
        samples.dense("two_layers", (96, 40, 10)),
        samples.dense("many_features", (FEATURES_MAX + 8, 3)),
    ),
)
