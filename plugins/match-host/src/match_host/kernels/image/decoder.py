"""ImageDecoder: the pixels of an image file of the size that the model states."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.ir.reader import shape_of

from match_host.graph import elements, text
from match_host.headers.image import image_headers, image_work
from match_host.kernels.built import Built
from match_host.kernels.code import Code, Uses
from match_host.kernels.single import single
from match_host.kernels.work import Work

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: Order of colours -> channels of the result.
CHANNELS = {"RGB": 3, "BGR": 3, "Grayscale": 1}
#: Integer operations for a pixel and a byte of the file: an estimate, files differ.
_PER_PIXEL, _PER_BYTE = 60, 40


def build_image_decoder(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """uint8 [bytes] to uint8 [height, width, channels]. A file of another size, or a damaged one, becomes zeros: the
    standard's empty matrix is no tensor of a static size. Greys are weighted as in ITU-R BT.601."""
    (node,), code, uses = nodes, Code(), Uses()
    for header in image_headers():
        uses.headers[header.name] = header
    (size,), (height, width, channels) = shape_of(node.inputs[0]), shape_of(node.outputs[0])
    pixels, order = height * width, text(node, "pixel_format", "RGB")
    colours = 0 if channels == 3 else -(-3 * pixels // 8) * 8
    code.line("uint8_t *const work = scratch;")
    rgb = "work" if colours else "out0"
    code.line(f"const match_image_t image = {{in0, {size}u, {height}u, {width}u, {rgb}, work + {colours}}};")
    code.line("match_image_decode(&image);")
    if order != "RGB":
        with code.block(f"for (int32_t i = 0; i < {pixels}; i++)"):
            if order == "BGR":
                code.line("const uint8_t red = out0[3 * i];")
                code.line("out0[3 * i] = out0[3 * i + 2];")
                code.line("out0[3 * i + 2] = red;")
            else:
                weighted = "19595u * work[3 * i] + 38470u * work[3 * i + 1] + 7471u * work[3 * i + 2]"
                code.line(f"out0[i] = (uint8_t)(({weighted} + 32768u) >> 16);")
    work = Work(memory=2, integer=_PER_PIXEL, steps=1).times(pixels) + Work(integer=_PER_BYTE).times(size)
    assert elements((height, width, channels)) == pixels * CHANNELS[order]
    return single(node, function, code.text, uses, work, scratch_bytes=colours + image_work(height, width))
