"""Capabilities for the conformance tests."""

from match_kit.testing import Capabilities, samples

from match_sprout.hardware import FEATURES_MAX, VALUES

CAPABILITIES = Capabilities(
    package="match-sprout",
    peak_macs_per_cycle={"sprout_array": VALUES["side"] ** 2},
    models=(
        samples.dense("two_layers", (96, 40, 10)),
        samples.dense("many_features", (FEATURES_MAX + 8, 3)),
    ),
)
