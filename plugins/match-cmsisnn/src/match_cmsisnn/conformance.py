"""Capabilities for the conformance tests (docs/conformance-levels.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_kit.testing import Capabilities, SampleModel, samples

if TYPE_CHECKING:
    import onnx


def _averages() -> onnx.ModelProto:
    """Averages of 324 values, too many for the kernels of match-cortexm."""
    return samples.Network((1, 3, 36, 36)).conv(32).pool("AveragePool", 18).flat().dense(10).model("averages")


#: SMLAD starts two products per instruction, VMLADAV 16.
CAPABILITIES = Capabilities(
    package="match-cmsisnn",
    # cmsis_nn_dsp: match-cortexm's kernels take fewer instructions for all layers of the sample networks.
    units=("cmsis_nn_mve",),
    peak_macs_per_cycle={"cmsis_nn_dsp": 2, "cmsis_nn_mve": 16},
    models=(samples.image("image", channels=16), SampleModel("averages", _averages)),
)
