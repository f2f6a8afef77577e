"""The largest value of each window, in NHWC, of bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.model import qualified_op
from match_core.ir.reader import shape_of
from match_host.graph import dtype_of, integers
from match_host.kernels.window import windows

from match_cortexm.headers import BYTES
from match_cortexm.kernels.taps import Form, Image, build_taps, refusal_of

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

    from match_cortexm.kernels.counted import Counted

MAX_POOL = "match.nhwc::MaxPool"
#: Channels of a word and of a vector.
WORD, VECTOR = 4, 16
_LOWEST = {"int8": "(int32_t)0x80808080u", "uint8": "0"}


def pool_of(node: gs.Node) -> Image | str:
    """The image and its windows, or why the kernels do not take the node."""
    shape, dtype = shape_of(node.inputs[0]), dtype_of(node.inputs[0]).name
    if qualified_op(node) != MAX_POOL or len(shape) != 4 or shape[0] != 1 or dtype not in _LOWEST:
        return f"{dtype}, shape {shape}"
    if len(node.outputs) > 1 and not node.outputs[1].is_empty():
        return "the places of the maxima are a result"
    if shape[3] % WORD:
        return f"{shape[3]} channels"
    y, x = windows(node, shape[1:3], shape_of(node.outputs[0])[1:3], integers(node, "kernel_shape", (1, 1)))
    image = Image(node.inputs[0], shape[3], y, x, -128 if dtype == "int8" else 0)
    return refusal_of(image) or image


def _form(image: Image, helium: bool) -> Form:
    name = dtype_of(image.source).name
    if helium and name == "int8":
        left = str(VECTOR) if image.channels % VECTOR == 0 else f"{image.channels} - c"
        return Form(
            name="max_mve" if left == str(VECTOR) else "max_mve_part",
            headers=(BYTES,),
            start="match_cortexm_i8x16 s = match_cortexm_lowest();",
            step=lambda address: f"s = match_cortexm_max_16(s, {address}, {left});",
            finish=(f"match_cortexm_store_16(to, s, {left});",),
            block=VECTOR,
        )
    return Form(
        name="max_dsp",
        headers=(BYTES,),
        start=f"int32_t s = {_LOWEST[name]};",
        step=lambda address: (
            f"s = match_cortexm_max_{'s' if name == 'int8' else 'u'}8(s, match_cortexm_word({address}));"
        ),
        finish=("memcpy(to, &s, sizeof s);",),
        block=WORD,
    )


def build_pool(nodes: tuple[gs.Node, ...], function: str, helium: bool = False) -> Counted:
    """The kernel of one MaxPool."""
    (node,) = nodes
    image = pool_of(node)
    if isinstance(image, str):
        raise ValueError(f"{function}: {image}")
    comment = f"MaxPool: {image.channels} channels, kernel {image.y.kernel}x{image.x.kernel}"
    return build_taps(image, _form(image, helium), function, comment, node.outputs[0])
