/* match_gap9_wide_depthwise.c - depthwise convolution on the cores, 64-bit requantisation.
 *
 * 3x3 kernels go along rows (match_gap9_wide_depthwise_rows.c), others pixel after pixel, channels innermost.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_gap9_api.h"
#include "match_gap9_wide.h"
#include "match_gap9_wide_core.h"
#include "match_gap9_wide_window.h"

#define SIDE 3u /* of the kernels that go along rows */

/* One channel's sum over a window inside of the input. `offset`: of the channel's value at the first pixel. */
static inline int32_t depthwise_sum(const match_depthwise2d_t *t, uint32_t offset, const int8_t *weight)
{
    const uint8_t *const input = t->input;
    int32_t sum = 0;
    for (uint32_t ky = 0u; ky < t->fy; ky++) {
        uint32_t place = offset;
        for (uint32_t kx = 0u; kx < t->fx; kx++, place += t->k) {
            sum += (int32_t)input[place] * *weight++;
        }
        offset += t->input_x * t->k;
    }
    return sum;
}

/* The same where part of the window is padding. `offset`: at the first pixel inside. */
static int32_t depthwise_border(const match_depthwise2d_t *t, const match_gap9_window_t *rows,
                                const match_gap9_window_t *columns, uint32_t offset, const int8_t *weight)
{
    const uint8_t *const input = t->input;
    int32_t sum = 0, outside = 0; /* outside: of weights that meet padding */
    for (uint32_t ky = 0u; ky < t->fy; ky++) {
        const int inside = (ky >= rows->start) && (ky < rows->stop);
        uint32_t place = offset;
        for (uint32_t kx = 0u; kx < t->fx; kx++, weight++) {
            if (inside && (kx >= columns->start) && (kx < columns->stop)) {
                sum += (int32_t)input[place] * *weight;
                place += t->k;
            } else {
                outside += *weight;
            }
        }
        offset += inside ? t->input_x * t->k : 0u;
    }
    return sum + outside * t->pad_value;
}

static void depthwise_pixels(const match_depthwise2d_t *t)
{
    const int8_t *const weight = t->weight;
    const int32_t *const multiplier = t->multiplier;
    const int64_t *const addend = t->addend;
    uint8_t *const output = t->output;
    const uint32_t shift = (uint32_t)t->shift, taps = t->fy * t->fx;
    const match_gap9_share_t share = match_gap9_wide_share(t->oy * t->ox * t->k);
    MATCH_GAP9_COUNT(WIDE_TAP, (share.stop - share.start) * taps);
    MATCH_GAP9_COUNT(WIDE_LOW, (shift >= 32u) ? 0u : share.stop - share.start);
    for (uint32_t i = share.start; i < share.stop;) {
        const uint32_t pixel = i / t->k, rest = (pixel + 1u) * t->k;
        const uint32_t stop = (rest < share.stop) ? rest : share.stop;
        const match_gap9_window_t y =
            match_gap9_window(pixel / t->ox, (uint32_t)t->stride_y, t->input_y_pad_before, t->fy, t->input_y);
        const match_gap9_window_t x =
            match_gap9_window(pixel % t->ox, (uint32_t)t->stride_x, t->input_x_pad_before, t->fx, t->input_x);
        const uint32_t first = (y.first * t->input_x + x.first) * t->k;
        const int whole = (y.stop - y.start == t->fy) && (x.stop - x.start == t->fx);
        for (uint32_t k = i - pixel * t->k; i < stop; i++, k++) {
            const int8_t *const row = weight + k * taps;
            const int32_t sum = whole ? depthwise_sum(t, first + k, row) : depthwise_border(t, &y, &x, first + k, row);
            output[i] = match_gap9_wide_requant(sum, multiplier[k], addend[k], shift);
        }
    }
}

static void depthwise_core(void *argument)
{
    const match_depthwise2d_t *const t = argument;
    MATCH_GAP9_COUNT(WIDE_DEPTHWISE_CALL, 1u);
    if ((t->fy == SIDE) && (t->fx == SIDE)) {
        match_gap9_wide_depthwise_rows(t);
    } else {
        depthwise_pixels(t);
    }
    pi_cl_team_barrier(0);
}

void match_gap9_wide_depthwise(const match_depthwise2d_t *tile)
{
    match_gap9_team_launch(depthwise_core, tile);
}
