/* match_snitch_rows_pool.c - maximum pooling. SPDX-License-Identifier: Apache-2.0 */
#include "match_snitch_rows.h"
#include "match_snitch_rows_cycles.h"
#include "match_snitch_rows_kernels.h"

/* Rows or columns of a window that lie on the input: taps [first, stop). */
typedef struct {
    int32_t start;
    uint32_t first, stop;
} window_t;

static window_t window(uint32_t output, int32_t stride, uint32_t taps, uint32_t pad_before, uint32_t size)
{
    window_t w;
    w.start = (int32_t)output * stride - (int32_t)pad_before;
    w.first = (w.start < 0) ? (uint32_t)-w.start : 0u;
    const int32_t room = (int32_t)size - w.start;
    w.stop = (room < (int32_t)taps) ? (uint32_t)room : taps;
    return w;
}

static void maxpool_core(void *tile)
{
    const match_snitch_maxpool_t *const t = tile;
    const match_snitch_part_t part = match_snitch_part(t->oy * t->ox, 1u);
    const uint32_t channels = t->c, flip = (uint32_t)t->flip;
    match_ita_charge(match_snitch_maxpool_cycles(t));
    for (uint32_t output = part.start; output < part.stop; output++) {
        const window_t y = window(output / t->ox, t->stride_y, t->fy, t->input_y_pad_before, t->input_y);
        const window_t x = window(output % t->ox, t->stride_x, t->fx, t->input_x_pad_before, t->input_x);
        uint8_t *const result = (uint8_t *)t->output + output * channels;
        for (uint32_t c = 0u; c < channels; c++) {
            uint32_t largest = 0u;
            for (uint32_t fy = y.first; fy < y.stop; fy++) {
                const uint32_t row = (uint32_t)(y.start + (int32_t)fy) * t->input_x;
                const uint8_t *pixel =
                    (const uint8_t *)t->input + (row + (uint32_t)(x.start + (int32_t)x.first)) * channels + c;
                for (uint32_t fx = x.first; fx < x.stop; fx++) {
                    const uint32_t value = *pixel ^ flip;
                    largest = (value > largest) ? value : largest;
                    pixel += channels;
                }
            }
            result[c] = (uint8_t)(largest ^ flip);
        }
    }
}

void match_snitch_maxpool(const match_snitch_maxpool_t *tile)
{
    match_ita_team_launch(maxpool_core, tile);
}
