"""The layers of the MATCH paper's micro-benchmarks: their models, sizes and published cycles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from match_gap9 import constants, formulas
from match_gap9.ne16 import formulas as ne16_formulas

from tests.end_to_end.models import QdqBuilder

SIZES = (2, 8, 16, 32, 64, 128)
CHANNELS = (1, 16, 64)
KINDS = ("standard", "depthwise")
#: What QdqBuilder calls its first convolution.
LAYER_NAME = "conv0"


@dataclass(frozen=True, slots=True)
class Layer:
    """A 3x3 convolution with padding 1 and stride 1 of size x size x channels; depthwise or not."""

    kind: str
    channels: int
    size: int

    @property
    def macs(self) -> int:
        """Multiply-accumulates, those with padding included."""
        return 9 * self.size**2 * self.channels * (1 if self.kind == "depthwise" else self.channels)

    def save(self, folder: Path, zero_point: int = -128) -> Path:
        """Its model; ``zero_point`` is that of its input."""
        seed = self.size * 1000 + self.channels
        builder = QdqBuilder(
            seed=seed, channels=self.channels, height=self.size, width=self.size, zero_point=zero_point
        )
        builder.conv(self.channels, 3, group=self.channels if self.kind == "depthwise" else 1)
        return builder.save(folder / f"{self.kind}_{self.channels}_{self.size}.onnx")

    def published_cycles(self, units: str) -> int:
        """The published formula of the kernel for the whole layer in one tile, without transfers (GAP9 sheet 3.2 and
        3.3, from match/target/examples/gap9 and plinio/cost/ne16_latency.py)."""
        timing = constants.values("as-published")
        size, channels = self.size, self.channels
        if units == "NE16" and self.kind == "depthwise":
            cycles = ne16_formulas.ne16_job(timing, "depthwise3x3", out_y=size, out_x=size, k_out=channels)
        elif units == "NE16":
            cycles = ne16_formulas.ne16_job(timing, "conv3x3", out_y=size, out_x=size, k_out=channels, k_in=channels)
        elif self.kind == "depthwise":
            cycles = formulas.depthwise(
                timing, in_y=size, out_y=size, out_x=size, channels=channels, kernel_y=3, kernel_x=3
            )
        else:
            cycles = formulas.conv(
                timing, out_y=size, out_x=size, k_out=channels, c_in=channels, kernel_y=3, kernel_x=3
            )
        return int(cycles)


def layers(sizes: Sequence[int] = SIZES, channels: Sequence[int] = CHANNELS) -> list[Layer]:
    """The grid. With one channel the two kinds are the same layer."""
    kinds = [(kind, count) for kind in KINDS for count in channels if count > 1 or kind == "standard"]
    return [Layer(kind, count, size) for kind, count in kinds for size in sizes]
