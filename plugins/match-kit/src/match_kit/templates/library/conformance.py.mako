"""Capabilities for the conformance tests."""

from match_kit.testing import Capabilities, samples

from ${module}.hardware import VALUES

CAPABILITIES = Capabilities(
    package="${distribution}",
    peak_macs_per_cycle={"${name}_library": VALUES["macs_per_cycle"]},
    models=(samples.float_dense("two_layers", (96, 40, 10)), samples.dense("integers", (96, 10), runs=False)),
    modes=("eager", "lazy"),
)
