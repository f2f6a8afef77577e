"""Capabilities for the conformance tests (docs/conformance-levels.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_kit.testing import Capabilities, SampleModel, samples

if TYPE_CHECKING:
    import onnx


def _averages() -> onnx.ModelProto:
    """Averages of 25 values, for which the library needs fewer instructions than the host."""
    return samples.Network((1, 3, 20, 20)).conv(32).pool("AveragePool", 5).flat().dense(10).model("averages")


#: SMLAD starts two products per instruction, VMLADAV 16.
CAPABILITIES = Capabilities(
    package="match-cmsisnn",
    peak_macs_per_cycle={"cmsis_nn_dsp": 2, "cmsis_nn_mve": 16},
    models=(samples.image("image", channels=16), SampleModel("averages", _averages)),
)
