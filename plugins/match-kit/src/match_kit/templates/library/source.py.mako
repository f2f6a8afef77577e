"""A region as C that calls the library, one call for each node. Inner results are in the scratch memory."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from match_core import RegionCode, RegionRequest

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def compile_region(request: RegionRequest) -> RegionCode:
    """The functions are NAME_load, NAME_run and NAME_unload; tensors are numbered as in the region's table."""
    region, name = request.region, request.name
    places = {tensor.name: f"in[{n}]" for n, tensor in enumerate(region.inputs)}
    places |= {tensor.name: f"region->constants[{n}].data" for n, tensor in enumerate(region.constants)}
    places |= {tensor.name: f"out[{n}]" for n, tensor in enumerate(region.outputs)}
    floats, calls = 0, []
    for node in region.nodes:
        made = node.outputs[0]
        if made.name not in places:
            places[made.name] = f"(float *)scratch + {floats}"
            floats += prod(made.shape)
        calls.append(_call(node, [places[tensor.name] for tensor in (*node.inputs, made)]))
    body = "\n".join(f"    {call}" for call in calls)
    text = _TEXT.replace("NAME", name).replace("BODY", body)
    names = (f"{name}_{part}" for part in ("load", "run", "unload"))
    constants = tuple(tensor.values for tensor in region.constants)
    return RegionCode("c", text.encode(), *names, constants=constants, scratch_bytes=4 * floats)


def _call(node: gs.Node, places: list[str]) -> str:
    arguments = ", ".join(places)
    if node.op == "Gemm":
        rows, inputs = (int(size) for size in node.inputs[0].shape)
        return f"${name}_gemm({arguments}, {rows}u, {int(node.outputs[0].shape[1])}u, {inputs}u);"
    return f"${name}_{node.op.lower()}({arguments}, {prod(node.outputs[0].shape)}u);"


_TEXT = """#include "${name}.h"

int NAME_load(const match_region_t *region, void **handle)
{
    *handle = (void *)(uintptr_t)region;
    return 0;
}

int NAME_run(void *handle, const void *const *in, void *const *out, void *scratch)
{
    const match_region_t *const region = handle;
BODY
    (void)region;
    (void)in;
    (void)scratch;
    return 0;
}

void NAME_unload(void *handle)
{
    (void)handle;
}
"""
