"""Capabilities for the conformance tests (docs/conformance-levels.md)."""

from match_kit.testing import Capabilities, samples

from match_cortexm.cores import CORES

#: SMLAD starts two products per instruction, VMLADAV 16.
CAPABILITIES = Capabilities(
    package="match-cortexm",
    peak_macs_per_cycle={core.name: 16 if core.helium else 2 if core.dsp else 1 for core in CORES},
    models=(samples.image("image", channels=16),),
)
