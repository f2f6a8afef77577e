/* carfield_cost_int8.c - cycles of the 8-bit kernels, as int8/formulas.py computes them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "carfield_twin.h"
#include "match_carfield_charge_int8.h"
#include "match_carfield_timing.h"

#include <stddef.h>

#define WORD_VALUES 4u
#define BLOCK_CHANNELS 4u
#define BLOCK_PIXELS 2u

static uint64_t up(uint64_t size, uint64_t divisor)
{
    return (size + divisor - 1u) / divisor;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return (a < b) ? a : b;
}

/* Of `groups` groups of `size` items each, how many a core's `items` contiguous ones lie in, at most. */
static uint64_t touched(uint64_t groups, uint64_t size, uint64_t items)
{
    if (items % size == 0u) {
        return least(items / size, groups);
    }
    return least((size % items == 0u) ? 1u : (items - 2u) / size + 2u, groups);
}

/* Blocks of two pixels (one, if there is one) by four channels, dealt out to the cores. */
static uint64_t blocks(uint64_t pixels, uint64_t channels, uint64_t taps, int direct)
{
    const uint64_t side = (pixels > 1u) ? BLOCK_PIXELS : 1u;
    const uint64_t quads = up(channels, BLOCK_CHANNELS), groups = up(pixels, side), words = up(taps, WORD_VALUES);
    const uint64_t items = up(groups * quads, MATCH_CARFIELD_PULP_CORES);
    const uint64_t word =
        (side == 1u) ? MATCH_CARFIELD_INT8_SINGLE_WORD_CYCLES : MATCH_CARFIELD_INT8_BLOCK_WORD_CYCLES;
    const uint64_t block = MATCH_CARFIELD_INT8_BLOCK_CYCLES + MATCH_CARFIELD_INT8_LOOP_CYCLES + words * word +
                           side * BLOCK_CHANNELS * MATCH_CARFIELD_INT8_REQUANT_CYCLES;
    const uint64_t gather = direct ? 0u : taps * MATCH_CARFIELD_INT8_GATHER_BYTE_CYCLES;
    const uint64_t pixel = MATCH_CARFIELD_INT8_PIXEL_CYCLES + gather;
    return items * block + touched(groups, quads, items) * side * pixel;
}

/* Outputs one by one, dealt out to the cores. */
static uint64_t windows(uint64_t outputs, uint64_t taps, uint64_t requant)
{
    const uint64_t each = MATCH_CARFIELD_INT8_OUTPUT_CYCLES + taps * MATCH_CARFIELD_INT8_TAP_CYCLES + requant;
    return up(outputs, MATCH_CARFIELD_PULP_CORES) * each;
}

static void spend(const char *name, uint64_t cycles)
{
    const uint64_t plain = MATCH_CARFIELD_INT8_CALL_CYCLES + cycles;
    carfield_kernel(CARFIELD_PULP, name, up(plain * MATCH_CARFIELD_PULP_SCALE_PERCENT, 100u));
}

void match_carfield_twin_pulp_int8_conv2d(const match_int8_conv2d_t *tile)
{
    const uint64_t pixels = (uint64_t)tile->oy * tile->ox, taps = (uint64_t)tile->fy * tile->fx * tile->c;
    spend("int8_conv2d", blocks(pixels, tile->k, taps, tile->scratch == NULL));
}

void match_carfield_twin_pulp_int8_linear(const match_int8_linear_t *tile)
{
    spend("int8_linear", blocks(tile->n, tile->k, tile->c, tile->scratch == NULL));
}

void match_carfield_twin_pulp_int8_depthwise2d(const match_int8_depthwise2d_t *tile)
{
    const uint64_t outputs = (uint64_t)tile->oy * tile->ox * tile->k, taps = (uint64_t)tile->fy * tile->fx;
    spend("int8_depthwise2d", windows(outputs, taps, MATCH_CARFIELD_INT8_REQUANT_CYCLES));
}

void match_carfield_twin_pulp_int8_pool2d(const match_int8_pool2d_t *tile)
{
    const uint64_t outputs = (uint64_t)tile->oy * tile->ox * tile->c, taps = (uint64_t)tile->fy * tile->fx;
    spend("int8_pool2d", windows(outputs, taps, 0u));
}

void match_carfield_twin_pulp_int8_add(const match_int8_add_t *tile)
{
    const uint64_t share = up((uint64_t)tile->y * tile->x * tile->c, MATCH_CARFIELD_PULP_CORES);
    spend("int8_add", share * MATCH_CARFIELD_INT8_ADD_ELEMENT_CYCLES);
}

void match_carfield_twin_pulp_int8_transpose(const match_int8_transpose_t *tile)
{
    const uint64_t share = up(tile->c, MATCH_CARFIELD_PULP_CORES) * tile->r;
    spend("int8_transpose", share * MATCH_CARFIELD_INT8_TRANSPOSE_ELEMENT_CYCLES);
}
