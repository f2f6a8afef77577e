"""Look-ups in a table of 256 bytes: 16 with one gathering load of Helium, or 8 in a turn of a loop."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.reader import shape_of
from match_core.ir.topology import is_constant
from match_host.graph import dtype_of, elements, values_of
from match_host.kernels.code import Uses, inline_code
from match_host.kernels.overlap import element_by_element
from match_host.kernels.work import Work

from match_cortexm.headers import BYTES, SHARED, header
from match_cortexm.kernels.counted import Counted

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

    from match_cortexm.cores import Core

LOOKUP = "match.arith::LutI8"
#: Turns of a loop up to which compilers unroll it.
UNROLLED = 16
#: Bytes that a load reaches from an address: with instructions of 32 bits, and on M0+.
_REACH, _SHORT_REACH = 4096, 32


def lookup_refusal(node: gs.Node) -> str | None:
    """Why the kernel does not take the node."""
    kinds = {dtype_of(tensor).name for tensor in (node.inputs[0], node.inputs[1], node.outputs[0])}
    if kinds != {"int8"} or not is_constant(node.inputs[1]) or values_of(node.inputs[1]).size != 256:
        return f"the types are {sorted(kinds)}, or the table is not one of 256 bytes"
    return None


def build_lookup(nodes: tuple[gs.Node, ...], function: str, core: Core) -> Counted:
    """The kernel of one LutI8."""
    (node,) = nodes
    refusal = lookup_refusal(node)
    if refusal is not None:
        raise ValueError(f"{function}: {refusal}")
    count, block = elements(shape_of(node.outputs[0])), 16 if core.helium else 8
    # The table starts with the result of -128; the vector's indices are the bytes as unsigned numbers.
    table = np.roll(values_of(node.inputs[1]).reshape(-1), 128).astype(np.int8)
    part = count % block > 0
    end = count if core.helium else count - count % block
    lines = [
        f"for (int32_t i = 0; i < {end}; i += {block}) {{",
        f"    match_cortexm_look_16(&out0[i], &in0[i], in1, {f'{count} - i' if part else block});",
        "}",
    ]
    lines = lines if core.helium else [f"match_cortexm_look(out0, in0, in1, {end // block});"]
    lines = [*(lines if end else ()), *(f"out0[{i}] = in1[(uint8_t)in0[{i}]];" for i in range(end, count))]
    body = "\n".join(f"    {line}" for line in lines)
    uses = Uses()
    for name in (SHARED, BYTES):
        uses.headers[name] = header(name)
    code = inline_code(function, f"{node.op}: {count} bytes", node.inputs[:2], node.outputs[:1], body, uses, {1: table})
    code = replace(code, overlaps=element_by_element(node.inputs[:1], node.outputs[0]))
    blocks, form = -(-count // block), "lookup"
    far = sum(place >= (_REACH if core.dsp or core.accumulates else _SHORT_REACH) for place in range(end, count))
    counts: tuple[tuple[str, int], ...] = (("blocks", end // block), ("rest", count - end), ("far", far))
    if core.helium:
        form = f"lookup_mve{'_part' if part else ''}{'_few' if blocks <= UNROLLED else ''}"
        counts = (("vectors", blocks),)
    return Counted(tuple(node.inputs[:2]), code, Work(), form, counts)
