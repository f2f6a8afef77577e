"""Code of fern_c: a C file for each region, in plain loops. Tensors inside the region lie in scratch."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from match_core import RegionCode, RegionRequest

from match_fern.cost import region_cycles

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

_EACH = {"Add": "{0} + {1}", "Sub": "{0} - {1}", "Mul": "{0} * {1}", "Sigmoid": "1.0f / (1.0f + expf(-{0}))"}
_FILE = """/* A region for fern_c. */
#include <math.h>
#include "fern.h"

int {name}_load(const match_region_t *region, void **handle);
int {name}_run(void *handle, const void *const *in, void *const *out, void *scratch);
void {name}_unload(void *handle);

int {name}_load(const match_region_t *region, void **handle)
{{
    *handle = (void *)(uintptr_t)region;
    return 0;
}}

int {name}_run(void *handle, const void *const *in, void *const *out, void *scratch)
{{
    const match_region_t *const region = handle;
{body}
    (void)region;
    (void)scratch;
    fern_wait(FERN_C, {cycles}u);
    return 0;
}}

void {name}_unload(void *handle)
{{
    (void)handle;
}}
"""


def compile_source(request: RegionRequest) -> RegionCode:
    """The file; its symbols begin with the name that the program gives."""
    region = request.region
    places = {tensor.name: f"out[{n}]" for n, tensor in enumerate(region.outputs)}
    lines, scratch = [], 0
    for node in region.nodes:
        made = node.outputs[0]
        if made.name not in places:
            places[made.name], scratch = f"(float *)scratch + {scratch}", scratch + _elements(made)
    variables = {name: f"t{n}" for n, name in enumerate(places)}
    lines += [f"float *const {variables[name]} = {place};" for name, place in places.items()]
    for kind, tensors in (("in[{}]", region.inputs), ("region->constants[{}].data", region.constants)):
        for n, tensor in enumerate(tensors):
            variables[tensor.name] = f"t{len(variables)}"
            lines.append(f"const float *const {variables[tensor.name]} = {kind.format(n)};")
    for node in region.nodes:
        lines += _dense(node, variables) if node.op == "Gemm" else _each(node, variables)
    body = "\n".join(f"    {line}" for line in lines)
    text = _FILE.format(name=request.name, body=body, cycles=region_cycles("fern_c", region))
    load, run, unload = (f"{request.name}_{role}" for role in ("load", "run", "unload"))
    constants = tuple(tensor.values for tensor in region.constants)
    return RegionCode("c", text.encode(), load, run, unload, constants, scratch * 4)


def _elements(tensor: gs.Tensor) -> int:
    return prod(int(size) for size in tensor.shape)


def _each(node: gs.Node, variables: dict[str, str]) -> list[str]:
    count, result = _elements(node.outputs[0]), variables[node.outputs[0].name]
    operands = [f"{variables[t.name]}[{'i' if _elements(t) == count else '0'}]" for t in node.inputs]
    value = _EACH[node.op].format(*operands)
    return [f"for (uint32_t i = 0u; i < {count}u; i++) {{", f"    {result}[i] = {value};", "}"]


def _dense(node: gs.Node, variables: dict[str, str]) -> list[str]:
    (rows, columns), features = node.outputs[0].shape, node.inputs[0].shape[1]
    result, x, w = (variables[tensor.name] for tensor in (node.outputs[0], *node.inputs[:2]))
    bias = node.inputs[2] if len(node.inputs) > 2 else None
    step = 0 if bias is None or _elements(bias) == 1 else 1
    first = "0.0f" if bias is None else f"{variables[bias.name]}[k * {step}u]"
    return [
        f"for (uint32_t n = 0u; n < {rows}u; n++) {{",
        f"    for (uint32_t k = 0u; k < {columns}u; k++) {{",
        f"        float sum = {first};",
        f"        for (uint32_t c = 0u; c < {features}u; c++) {{",
        f"            sum += {x}[n * {features}u + c] * {w}[c * {columns}u + k];",
        "        }",
        f"        {result}[n * {columns}u + k] = sum;",
        "    }",
        "}",
    ]
