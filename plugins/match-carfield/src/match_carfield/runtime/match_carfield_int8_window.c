/* match_carfield_int8_window.c - what works channel by channel: depthwise convolution and pooling. Outputs, channels
 * innermost, are dealt out in equal contiguous parts. SPDX-License-Identifier: Apache-2.0 */
#include "match_carfield_int8.h"
#include "match_carfield_int8_core.h"

static void depthwise2d_core(void *tile)
{
    const match_int8_depthwise2d_t *const t = tile;
    const uint8_t *const input = t->input;
    const int8_t *const weight = t->weight;
    const int32_t *const multiplier = t->multiplier;
    const int64_t *const addend = t->addend;
    uint8_t *const output = t->output;
    const uint32_t taps = t->fy * t->fx;
    const match_carfield_part_t part = match_carfield_part(t->oy * t->ox * t->k);
    for (uint32_t item = part.start; item < part.stop; item++) {
        const uint32_t pixel = item / t->k, k = item - pixel * t->k;
        const uint32_t oy = pixel / t->ox, ox = pixel - oy * t->ox;
        const int8_t *w = weight + k * taps;
        int32_t sum = 0;
        for (uint32_t fy = 0u; fy < t->fy; fy++) {
            const int32_t y = match_carfield_under(oy, t->stride_y, fy, t->dilation_y, t->input_y_pad_before, t->input_y);
            for (uint32_t fx = 0u; fx < t->fx; fx++) {
                const int32_t x =
                    match_carfield_under(ox, t->stride_x, fx, t->dilation_x, t->input_x_pad_before, t->input_x);
                const int32_t value = ((y < 0) || (x < 0))
                                          ? t->pad_value
                                          : input[((uint32_t)y * t->input_x + (uint32_t)x) * t->k + k];
                sum += value * *w++;
            }
        }
        output[item] = match_carfield_requant(sum, multiplier[k], addend[k], (uint32_t)t->shift, t->low, t->high);
    }
}

/* sum / 2**shift, rounded to nearest, ties to even. */
static uint32_t nearest_even(uint32_t sum, uint32_t shift)
{
    const uint32_t whole = sum >> shift, rest = sum - (whole << shift), half = (1u << shift) >> 1u;
    return whole + (((rest > half) || ((rest == half) && (shift > 0u) && ((whole & 1u) != 0u))) ? 1u : 0u);
}

static void pool2d_core(void *tile)
{
    const match_int8_pool2d_t *const t = tile;
    const uint8_t *const input = t->input;
    uint8_t *const output = t->output;
    const match_carfield_part_t part = match_carfield_part(t->oy * t->ox * t->c);
    for (uint32_t item = part.start; item < part.stop; item++) {
        const uint32_t pixel = item / t->c, c = item - pixel * t->c;
        const uint32_t oy = pixel / t->ox, ox = pixel - oy * t->ox;
        uint32_t largest = 0u, sum = 0u;
        for (uint32_t fy = 0u; fy < t->fy; fy++) {
            const int32_t y = match_carfield_under(oy, t->stride_y, fy, 1, t->input_y_pad_before, t->input_y);
            for (uint32_t fx = 0u; (fx < t->fx) && (y >= 0); fx++) {
                const int32_t x = match_carfield_under(ox, t->stride_x, fx, 1, t->input_x_pad_before, t->input_x);
                if (x >= 0) {
                    const uint32_t value = input[((uint32_t)y * t->input_x + (uint32_t)x) * t->c + c];
                    sum += value;
                    largest = (value > largest) ? value : largest;
                }
            }
        }
        output[item] = (uint8_t)((t->average != 0) ? nearest_even(sum, (uint32_t)t->shift) : largest);
    }
}

void match_carfield_pulp_int8_depthwise2d(const match_int8_depthwise2d_t *tile)
{
    MATCH_CARFIELD_CHARGE(pulp_int8_depthwise2d, tile);
    match_carfield_pulp_team(depthwise2d_core, tile);
}

void match_carfield_pulp_int8_pool2d(const match_int8_pool2d_t *tile)
{
    MATCH_CARFIELD_CHARGE(pulp_int8_pool2d, tile);
    match_carfield_pulp_team(pool2d_core, tile);
}
