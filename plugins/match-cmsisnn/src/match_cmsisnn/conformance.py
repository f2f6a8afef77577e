"""Capabilities for the conformance tests (docs/conformance-levels.md)."""

from match_kit.testing import Capabilities, samples

#: SMLAD starts two products per instruction, VMLADAV 16.
CAPABILITIES = Capabilities(
    package="match-cmsisnn",
    peak_macs_per_cycle={"cmsis_nn_dsp": 2, "cmsis_nn_mve": 16},
    models=(samples.image("image", channels=16),),
)
