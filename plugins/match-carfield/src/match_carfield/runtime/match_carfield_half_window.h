/* match_carfield_half_window.h - windows over an image, blocks of pixels, shares of cores.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_CARFIELD_HALF_WINDOW_H
#define MATCH_CARFIELD_HALF_WINDOW_H

#include <stdint.h>

/* Pixels of an output row that a core computes at once: they share the loads of weights. */
#define MATCH_CARFIELD_PIXELS 4u

/* Windows of `fy` by `fx` taps over an image of `input_y` by `input_x` pixels. */
typedef struct {
    uint32_t oy, ox, fy, fx, input_y, input_x;
    int32_t pad_y, pad_x, stride_y, stride_x, dilation_y, dilation_x;
} match_carfield_windows_t;

/* Rows that stand for pixels: windows of one tap each. */
static inline match_carfield_windows_t match_carfield_rows(uint32_t rows)
{
    const match_carfield_windows_t windows = {
        .oy = 1u, .ox = rows, .fy = 1u, .fx = 1u, .input_y = 1u, .input_x = rows,
        .stride_y = 1, .stride_x = 1, .dilation_y = 1, .dilation_x = 1,
    };
    return windows;
}

#define MATCH_CARFIELD_WINDOWS(t, step_y, step_x)                                                                      \
    {                                                                                                                  \
        .oy = (t)->oy, .ox = (t)->ox, .fy = (t)->fy, .fx = (t)->fx, .input_y = (t)->input_y, .input_x = (t)->input_x,  \
        .pad_y = (int32_t)(t)->input_y_pad_before, .pad_x = (int32_t)(t)->input_x_pad_before,                          \
        .stride_y = (t)->stride_y, .stride_x = (t)->stride_x, .dilation_y = (step_y), .dilation_x = (step_x),          \
    }

/* Windows of one tap that meet every pixel: rows may follow each other without a break. */
static inline int match_carfield_is_dense(const match_carfield_windows_t *w)
{
    return w->fy == 1u && w->fx == 1u && w->stride_y == 1 && w->stride_x == 1 && w->pad_y == 0 && w->pad_x == 0 &&
           w->input_y == w->oy && w->input_x == w->ox;
}

typedef struct {
    uint32_t start, stop;
} match_carfield_share_t;

/* A core's part of n items, in equal chunks. */
static inline match_carfield_share_t match_carfield_share(uint32_t n, uint32_t core, uint32_t cores)
{
    const uint32_t chunk = (n + cores - 1u) / cores, start = chunk * core;
    match_carfield_share_t share;
    share.start = (start < n) ? start : n;
    share.stop = (n - share.start < chunk) ? n : share.start + chunk;
    return share;
}

/* Where a core is: `width` blocks of pixels in a row, `parts` of channels for each, parts innermost. */
typedef struct {
    uint32_t oy, block, part;
} match_carfield_spot_t;

static inline match_carfield_spot_t match_carfield_spot(uint32_t item, uint32_t width, uint32_t parts)
{
    const uint32_t pixels = item / parts;
    const match_carfield_spot_t spot = {.oy = pixels / width, .block = pixels % width, .part = item % parts};
    return spot;
}

static inline void match_carfield_next(match_carfield_spot_t *spot, uint32_t width, uint32_t parts)
{
    if (++spot->part == parts) {
        spot->part = 0u;
        if (++spot->block == width) {
            spot->block = 0u;
            spot->oy++;
        }
    }
}

#endif
