"""Geometry of convolutions and poolings, with defaults and auto_pad resolved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from match_core.ir.reader import attribute_ints, attribute_text, shape_of

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


@dataclass(frozen=True, slots=True)
class ConvGeometry:
    """``pads``: all begins, then all ends, in elements."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[int, ...]
    group: int = 1

    def plane(self) -> ConvGeometry:
        """The geometry with two spatial axes: a single axis becomes the second one, and the first has one element."""
        if len(self.kernel) != 1:
            return self
        begin, end = self.pads
        return ConvGeometry((1, *self.kernel), (1, *self.strides), (1, *self.dilations), (0, begin, 0, end), self.group)

    def attributes(self, pads: tuple[int, ...] | None = None) -> dict[str, object]:
        """All attributes of ConvInteger; ``pads`` replaces the padding."""
        return {
            "kernel_shape": list(self.kernel),
            "strides": list(self.strides),
            "dilations": list(self.dilations),
            "pads": list(self.pads if pads is None else pads),
            "group": self.group,
        }


def channels_last(node: gs.Node) -> bool:
    """Whether the node is one of the core's operators on NHWC."""
    return str(node.domain) == "match.nhwc"


def conv_geometry(node: gs.Node) -> ConvGeometry:
    """The geometry of a Conv, ConvInteger or pooling node with static shapes, of NCHW or NHWC."""
    attrs = node.attrs
    sizes = shape_of(node.inputs[0])[1:-1] if channels_last(node) else shape_of(node.inputs[0])[2:]
    spatial = len(sizes)
    if str(node.op).startswith("Global"):
        kernel = sizes
    else:
        kernel = tuple(int(size) for size in attrs.get("kernel_shape") or shape_of(node.inputs[1])[2:])
    strides = tuple(int(size) for size in attrs.get("strides") or [1] * spatial)
    dilations = tuple(int(size) for size in attrs.get("dilations") or [1] * spatial)
    auto = attrs.get("auto_pad", "NOTSET")
    if auto in ("NOTSET", ""):
        pads = tuple(int(size) for size in attrs.get("pads") or [0] * (2 * spatial))
    elif auto == "VALID":
        pads = (0,) * (2 * spatial)
    else:
        pads = _same_pads(sizes, kernel, strides, dilations, upper=auto == "SAME_UPPER")
    return ConvGeometry(kernel, strides, dilations, pads, int(attrs.get("group", 1)))


def _same_pads(
    size: tuple[int, ...], kernel: tuple[int, ...], strides: tuple[int, ...], dilations: tuple[int, ...], upper: bool
) -> tuple[int, ...]:
    begins, ends = [], []
    for n, k, s, d in zip(size, kernel, strides, dilations, strict=True):
        total = max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0)
        small, large = total // 2, total - total // 2
        begins.append(small if upper else large)
        ends.append(large if upper else small)
    return (*begins, *ends)


def transposed_pads(node: gs.Node) -> tuple[int, ...]:
    """Padding of a ConvTranspose at the start of every spatial axis; derived if only the result has a size."""
    sizes, outs = shape_of(node.inputs[0])[2:], shape_of(node.outputs[0])[2:]
    one, auto = [1] * len(sizes), attribute_text(node, "auto_pad", "NOTSET")
    if auto == "NOTSET" and not node.attrs.get("output_shape"):
        return tuple(attribute_ints(node, "pads", [0] * len(sizes))[: len(sizes)])
    lists = (attribute_ints(node, "strides", one), attribute_ints(node, "dilations", one))
    extra, kernel = attribute_ints(node, "output_padding", [0] * len(sizes)), shape_of(node.inputs[1])[2:]
    reach = [s * (n - 1) + e + (k - 1) * d + 1 for s, d, n, e, k in zip(*lists, sizes, extra, kernel, strict=True)]
    totals = [0 if auto == "VALID" else max(0, full - out) for full, out in zip(reach, outs, strict=True)]
    return tuple(total // 2 if auto == "SAME_UPPER" else total - total // 2 for total in totals)
