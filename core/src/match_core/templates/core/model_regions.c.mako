<%
    cast = ("(match_address_t)(uintptr_t)", "(void *)(uintptr_t)") if queues else ("", "")
%>\
/* SPDX-License-Identifier: Apache-2.0 */
/* ${name}: regions, parts of the network that a unit takes as a whole: their code, ${code_bytes} bytes, the tensors at their
 * borders, and the functions that load them. */
#include <stddef.h>
#include <stdint.h>
#include "match_region.h"
#include "${name}_tasks.h"

% for code in codes:
${code.comment}
${code.definition}
% endfor
% for region in regions:
${region.heading}
% if region.dims:
static const uint32_t ${region.name}_dims[] = {
% for line in region.dims:
    ${line}
% endfor
};
% endif
% if region.tensors:
static const match_region_tensor_t ${region.name}_tensors[] = {
% for row in region.tensors:
${row}
% endfor
};
% endif
static const match_region_t ${region.name}_region = {
    .name = "${region.name}",
% if region.code:
    .code = ${region.code},
    .code_bytes = ${region.code_bytes}u,
% endif
    .inputs_count = ${region.inputs}u,
    .outputs_count = ${region.outputs}u,
    .constants_count = ${region.constants}u,
% if region.inputs:
    .inputs = ${region.name}_tensors,
% endif
% if region.outputs:
    .outputs = ${region.name}_tensors + ${region.inputs},
% endif
% if region.constants:
    .constants = ${region.name}_tensors + ${region.inputs + region.outputs},
% endif
};

% endfor
static const struct {
    const match_region_t *region;
    int (*load)(const match_region_t *region, void **handle);
    void (*unload)(void *handle);
} regions[] = {
% for region in regions:
    {&${region.name}_region, ${region.load}, ${region.unload}},
% endfor
};

/* Unloads the first count regions in reverse order. */
static void unload(${name}_state_t *state, uint32_t count)
{
    for (uint32_t n = count; n > 0u; n--) {
        regions[n - 1u].unload(${cast[1]}state->region_handle[n - 1u]);
    }
}

int ${name}_load_regions(${name}_state_t *state)
{
    for (uint32_t n = 0u; n < ${len(regions)}u; n++) {
        void *handle = NULL;
        if (regions[n].load(regions[n].region, &handle) != 0) {
            unload(state, n);
            return 1;
        }
        state->region_handle[n] = ${cast[0]}handle;
    }
    return 0;
}

void ${name}_unload_regions(${name}_state_t *state)
{
    unload(state, ${len(regions)}u);
}
