/* SPDX-License-Identifier: Apache-2.0 */
/* both: regions, parts of the network that a unit takes as a whole: their code, 228 bytes, the tensors at their
 * borders, and the functions that load them. */
#include <stddef.h>
#include <stdint.h>
#include "match_region.h"
#include "both_tasks.h"

/* JSON code of Add_0, Neg_6, Mul_1, Relu_2: 130 bytes */
BOTH_RAM_CONST_SECTION static _Alignas(16) const uint8_t both_engine_00_code[130] = {
    91, 49, 44, 32, 48, 44, 32, 48, 44, 32, 50, 52, 44, 32, 49, 44,
    32, 48, 44, 32, 50, 52, 44, 32, 50, 44, 32, 48, 44, 32, 50, 52,
    44, 32, 53, 44, 32, 48, 44, 32, 48, 44, 32, 50, 52, 44, 32, 48,
    44, 32, 48, 44, 32, 48, 44, 32, 50, 44, 32, 49, 44, 32, 50, 52,
    44, 32, 51, 44, 32, 50, 44, 32, 48, 44, 32, 50, 52, 44, 32, 48,
    44, 32, 49, 44, 32, 50, 52, 44, 32, 51, 44, 32, 48, 44, 32, 50,
    52, 44, 32, 52, 44, 32, 51, 44, 32, 48, 44, 32, 50, 52, 44, 32,
    48, 44, 32, 48, 44, 32, 48, 44, 32, 50, 44, 32, 50, 44, 32, 50,
    52, 93,
};

/* JSON code of Sub_4, Mul_5, Add_7: 98 bytes */
BOTH_RAM_CONST_SECTION static _Alignas(16) const uint8_t both_engine_02_code[98] = {
    91, 50, 44, 32, 48, 44, 32, 48, 44, 32, 50, 52, 44, 32, 49, 44,
    32, 48, 44, 32, 49, 44, 32, 51, 44, 32, 48, 44, 32, 50, 52, 44,
    32, 51, 44, 32, 51, 44, 32, 48, 44, 32, 50, 52, 44, 32, 48, 44,
    32, 49, 44, 32, 50, 52, 44, 32, 50, 44, 32, 48, 44, 32, 50, 52,
    44, 32, 49, 44, 32, 48, 44, 32, 50, 44, 32, 50, 52, 44, 32, 50,
    44, 32, 48, 44, 32, 50, 52, 44, 32, 50, 44, 32, 49, 44, 32, 50,
    52, 93,
};

/* Add_0, Neg_6, Mul_1, Relu_2 on engine
 * 4 nodes; JSON code; 1 constant, 96 bytes */
static const uint32_t both_engine_00_dims[] = {
    4u, 6u, 4u, 6u, 4u, 6u, 4u, 6u, 4u, 6u, 4u, 6u
};
static const match_region_tensor_t both_engine_00_tensors[] = {
    {1u, 2u, both_engine_00_dims + 0, NULL}, /* input 0: 4x6 */
    {1u, 2u, both_engine_00_dims + 2, NULL}, /* input 1: 4x6 */
    {1u, 2u, both_engine_00_dims + 4, NULL}, /* output 0: 4x6 */
    {1u, 2u, both_engine_00_dims + 6, NULL}, /* output 1: 4x6 */
    {1u, 2u, both_engine_00_dims + 8, NULL}, /* output 2: 4x6 */
    {1u, 2u, both_engine_00_dims + 10, both_00_0}, /* constant 0: 4x6 */
};
static const match_region_t both_engine_00_region = {
    .name = "both_engine_00",
    .code = both_engine_00_code,
    .code_bytes = 130u,
    .inputs_count = 2u,
    .outputs_count = 3u,
    .constants_count = 1u,
    .inputs = both_engine_00_tensors,
    .outputs = both_engine_00_tensors + 2,
    .constants = both_engine_00_tensors + 5,
};

/* Sub_4, Mul_5, Add_7 on engine
 * 3 nodes; JSON code; 1 constant, 4 bytes */
static const uint32_t both_engine_02_dims[] = {
    4u, 6u, 4u, 6u, 4u, 6u, 4u, 6u, 4u, 6u, 1u
};
static const match_region_tensor_t both_engine_02_tensors[] = {
    {1u, 2u, both_engine_02_dims + 0, NULL}, /* input 0: 4x6 */
    {1u, 2u, both_engine_02_dims + 2, NULL}, /* input 1: 4x6 */
    {1u, 2u, both_engine_02_dims + 4, NULL}, /* input 2: 4x6 */
    {1u, 2u, both_engine_02_dims + 6, NULL}, /* output 0: 4x6 */
    {1u, 2u, both_engine_02_dims + 8, NULL}, /* output 1: 4x6 */
    {1u, 1u, both_engine_02_dims + 10, both_02_0}, /* constant 0: 1 */
};
static const match_region_t both_engine_02_region = {
    .name = "both_engine_02",
    .code = both_engine_02_code,
    .code_bytes = 98u,
    .inputs_count = 3u,
    .outputs_count = 2u,
    .constants_count = 1u,
    .inputs = both_engine_02_tensors,
    .outputs = both_engine_02_tensors + 3,
    .constants = both_engine_02_tensors + 5,
};

static const struct {
    const match_region_t *region;
    int (*load)(const match_region_t *region, void **handle);
    void (*unload)(void *handle);
} regions[] = {
    {&both_engine_00_region, engine_load_json, engine_unload},
    {&both_engine_02_region, engine_load_json, engine_unload},
};

/* Unloads the first count regions in reverse order. */
static void unload(both_state_t *state, uint32_t count)
{
    for (uint32_t n = count; n > 0u; n--) {
        regions[n - 1u].unload((void *)(uintptr_t)state->region_handle[n - 1u]);
    }
}

int both_load_regions(both_state_t *state)
{
    for (uint32_t n = 0u; n < 2u; n++) {
        void *handle = NULL;
        if (regions[n].load(regions[n].region, &handle) != 0) {
            unload(state, n);
            return 1;
        }
        state->region_handle[n] = (match_address_t)(uintptr_t)handle;
    }
    return 0;
}

void both_unload_regions(both_state_t *state)
{
    unload(state, 2u);
}
