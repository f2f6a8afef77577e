/* match_carfield_half_taps.h - blocks of up to four pixels of a row by a vector of channels.
 *
 * Sums run in the order fy, fx, c. Where a tap lies inside of the image for all pixels of a block they share its
 * weights, else each pixel goes on alone: what a tap outside would add is left out, not added as zero.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_CARFIELD_HALF_TAPS_H
#define MATCH_CARFIELD_HALF_TAPS_H

#include <stddef.h>

#include "match_carfield_half_vector.h"
#include "match_carfield_half_window.h"

/* What a tap does with a pixel. */
typedef enum {
    TAP_MIXES,   /* all input channels times a matrix */
    TAP_WEIGHS,  /* each channel times its weight */
    TAP_ADDS,    /* each channel */
    TAP_COMPARES /* each channel, the largest stays */
} tap_t;

/* What all blocks share; steps are in elements. `mul` NULL: the result is multiplied by `scale` alone. */
typedef struct {
    match_carfield_windows_t windows;
    const element_t *input, *weight, *mul, *add;
    element_t *output;
    uint32_t k, c;
    uint32_t input_pixel, output_pixel; /* from one pixel to the next */
    uint32_t weight_row, tap_weights;   /* from one c to the next, from one tap to the next */
    uint32_t scale_bits;
    int relu;
} layer_t;

/* One pixel at a tap that keeps channels apart. */
MATCH_CARFIELD_INLINE void tap_of_channels(tap_t tap, vec_t *acc, const element_t *x, const vec_t *weights, uint32_t n)
{
    vec_t value;
    vec_load(&value, x, n);
    if (tap == TAP_WEIGHS) {
        vec_mac(acc, &value, weights, n);
    } else if (tap == TAP_ADDS) {
        vec_add(acc, &value, n);
    } else {
        vec_max(acc, &value, n);
    }
}

/* One c of four pixels. */
MATCH_CARFIELD_INLINE void step_of_four(vec_t *a0, vec_t *a1, vec_t *a2, vec_t *a3, const element_t *x0,
                                        const element_t *x1, const element_t *x2, const element_t *x3,
                                        const vec_t *weights, uint32_t n)
{
    vec_mac_scalar(a0, scalar_load(x0), weights, n);
    vec_mac_scalar(a1, scalar_load(x1), weights, n);
    vec_mac_scalar(a2, scalar_load(x2), weights, n);
    vec_mac_scalar(a3, scalar_load(x3), weights, n);
}

/* Four pixels at one tap. */
MATCH_CARFIELD_INLINE void tap_of_four(tap_t tap, vec_t *a0, vec_t *a1, vec_t *a2, vec_t *a3, const element_t *x,
                                       uint32_t step, const element_t *w, const layer_t *l, uint32_t n)
{
    const element_t *x0 = x, *x1 = x0 + step, *x2 = x1 + step, *x3 = x2 + step;
    vec_t weights;
    if (tap == TAP_MIXES) {
        uint32_t c = l->c; /* at least one */
#if MATCH_CARFIELD_LANES != MATCH_CARFIELD_LANES_MIN
        /* Long vectors take long to load: the next one is on its way while this one is multiplied. */
        vec_t next;
        for (; c > 1u; c -= 2u) {
            vec_load(&weights, w, n);
            vec_load(&next, w + l->weight_row, n);
            step_of_four(a0, a1, a2, a3, x0, x1, x2, x3, &weights, n);
            step_of_four(a0, a1, a2, a3, x0 + 1, x1 + 1, x2 + 1, x3 + 1, &next, n);
            x0 += 2;
            x1 += 2;
            x2 += 2;
            x3 += 2;
            w += 2u * l->weight_row;
        }
        if (c == 0u) {
            return;
        }
#endif
        do {
            vec_load(&weights, w, n);
            step_of_four(a0, a1, a2, a3, x0++, x1++, x2++, x3++, &weights, n);
            w += l->weight_row;
        } while (--c > 0u);
        return;
    }
    if (tap == TAP_WEIGHS) {
        vec_load(&weights, w, n);
    }
    tap_of_channels(tap, a0, x0, &weights, n);
    tap_of_channels(tap, a1, x1, &weights, n);
    tap_of_channels(tap, a2, x2, &weights, n);
    tap_of_channels(tap, a3, x3, &weights, n);
}

/* One pixel at one tap. */
MATCH_CARFIELD_INLINE void tap_of_one(tap_t tap, vec_t *acc, const element_t *x, const element_t *w, const layer_t *l,
                                      uint32_t n)
{
    vec_t weights;
    if (tap == TAP_MIXES) {
        uint32_t c = l->c; /* at least one */
        do {
            vec_load(&weights, w, n);
            vec_mac_scalar(acc, scalar_load(x++), &weights, n);
            w += l->weight_row;
        } while (--c > 0u);
        return;
    }
    if (tap == TAP_WEIGHS) {
        vec_load(&weights, w, n);
    }
    tap_of_channels(tap, acc, x, &weights, n);
}

/* The sum becomes the output of one pixel. */
MATCH_CARFIELD_INLINE void finish(const layer_t *l, vec_t *acc, element_t *output, uint32_t k, uint32_t n)
{
    if (l->mul != NULL) {
        vec_t factor, addend;
        vec_load(&factor, l->mul + k, n);
        vec_load(&addend, l->add + k, n);
        vec_change(acc, &factor, &addend, n);
    } else {
        vec_scale(acc, scalar_of_bits(l->scale_bits), n);
    }
    if (l->relu) {
        vec_relu(acc, n);
    }
    vec_store(output, acc, n);
}

MATCH_CARFIELD_INLINE int inside(int32_t index, uint32_t size)
{
    return (uint32_t)index < size;
}

/* Channels k to k + n - 1 of the pixels from (oy, ox) on. */
MATCH_CARFIELD_INLINE void block(tap_t tap, const layer_t *l, uint32_t oy, uint32_t ox, uint32_t k, uint32_t n)
{
    const match_carfield_windows_t *const w = &l->windows;
    const uint32_t left = w->ox - ox, pixels = (left < MATCH_CARFIELD_PIXELS) ? left : MATCH_CARFIELD_PIXELS;
    const uint32_t channel = (tap == TAP_MIXES) ? 0u : k;
    const uint32_t step = (uint32_t)w->stride_x * l->input_pixel;
    const int32_t last = (int32_t)(MATCH_CARFIELD_PIXELS - 1u) * w->stride_x;
    const scalar_t start = scalar_of_bits((tap == TAP_COMPARES) ? MATCH_HALF_NAN : 0u); /* NaN: any number is larger */
    vec_t a0, a1, a2, a3;
    vec_fill(&a0, start, n);
    vec_fill(&a1, start, n);
    vec_fill(&a2, start, n);
    vec_fill(&a3, start, n);
    const element_t *weight = l->weight + k;
    /* Most blocks are whole, and all their taps lie inside of the image. */
    const int32_t first = (int32_t)ox * w->stride_x - w->pad_x, reach = (int32_t)(w->fx - 1u) * w->dilation_x;
    const int is_inner =
        pixels == MATCH_CARFIELD_PIXELS && first >= 0 && inside(first + reach + last, w->input_x);
    const uint32_t next_tap = (uint32_t)w->dilation_x * l->input_pixel;
    int32_t y = (int32_t)oy * w->stride_y - w->pad_y;
    for (uint32_t fy = 0u; fy < w->fy; fy++, y += w->dilation_y) {
        if (!inside(y, w->input_y)) {
            weight += w->fx * l->tap_weights;
            continue;
        }
        const element_t *const row = l->input + (uint32_t)y * w->input_x * l->input_pixel + channel;
        if (is_inner) {
            const element_t *input = row + (uint32_t)first * l->input_pixel;
            uint32_t fx = w->fx; /* at least one */
            do {
                tap_of_four(tap, &a0, &a1, &a2, &a3, input, step, weight, l, n);
                input += next_tap;
                weight += l->tap_weights;
            } while (--fx > 0u);
            continue;
        }
        const uint32_t size = l->input_pixel;
        const int32_t s = w->stride_x;
        int32_t x = first;
        for (uint32_t fx = 0u; fx < w->fx; fx++, x += w->dilation_x, weight += l->tap_weights) {
            if (pixels == MATCH_CARFIELD_PIXELS && x >= 0 && inside(x + last, w->input_x)) {
                tap_of_four(tap, &a0, &a1, &a2, &a3, row + (uint32_t)x * size, step, weight, l, n);
                continue;
            }
            if (inside(x, w->input_x)) {
                tap_of_one(tap, &a0, row + (uint32_t)x * size, weight, l, n);
            }
            if (pixels > 1u && inside(x + s, w->input_x)) {
                tap_of_one(tap, &a1, row + (uint32_t)(x + s) * size, weight, l, n);
            }
            if (pixels > 2u && inside(x + 2 * s, w->input_x)) {
                tap_of_one(tap, &a2, row + (uint32_t)(x + 2 * s) * size, weight, l, n);
            }
            if (pixels > 3u && inside(x + 3 * s, w->input_x)) {
                tap_of_one(tap, &a3, row + (uint32_t)(x + 3 * s) * size, weight, l, n);
            }
        }
    }
    element_t *output = l->output + (oy * w->ox + ox) * l->output_pixel + k;
    finish(l, &a0, output, k, n);
    if (pixels > 1u) {
        output += l->output_pixel;
        finish(l, &a1, output, k, n);
    }
    if (pixels > 2u) {
        output += l->output_pixel;
        finish(l, &a2, output, k, n);
    }
    if (pixels > 3u) {
        output += l->output_pixel;
        finish(l, &a3, output, k, n);
    }
}

/* Vectors that the channels of a block are cut into; with few blocks of pixels more than the lanes ask for. */
static inline uint32_t parts_of(uint32_t channels, uint32_t blocks, uint32_t cores)
{
    const uint32_t least = (channels + MATCH_CARFIELD_LANES - 1u) / MATCH_CARFIELD_LANES;
    const uint32_t most = (channels + MATCH_CARFIELD_LANES_MIN - 1u) / MATCH_CARFIELD_LANES_MIN;
    const uint32_t wanted = (blocks < cores) ? cores : 1u;
    return (least >= wanted) ? least : ((wanted < most) ? wanted : most);
}

/* Channels of a part: whole words of 64 bits, so that the next part begins at one. */
static inline uint32_t whole_words(uint32_t channels, uint32_t parts)
{
    return ((channels + parts - 1u) / parts + 3u) & ~3u;
}

/* A core's part of a layer. */
MATCH_CARFIELD_INLINE void layer_share(tap_t tap, const layer_t *given, uint32_t core, uint32_t cores)
{
    layer_t l = *given;
    if (match_carfield_is_dense(&l.windows)) {
        l.windows = match_carfield_rows(l.windows.oy * l.windows.ox);
    }
    const uint32_t width = (l.windows.ox + MATCH_CARFIELD_PIXELS - 1u) / MATCH_CARFIELD_PIXELS;
    const uint32_t blocks = l.windows.oy * width, parts = parts_of(l.k, blocks, cores);
    const uint32_t chunk = (MATCH_CARFIELD_LANES == MATCH_CARFIELD_LANES_MIN) ? MATCH_CARFIELD_LANES
                                                                              : whole_words(l.k, parts);
    const match_carfield_share_t share = match_carfield_share(blocks * parts, core, cores);
    match_carfield_spot_t spot = match_carfield_spot(share.start, width, parts);
    for (uint32_t item = share.start; item < share.stop; item++, match_carfield_next(&spot, width, parts)) {
        const uint32_t k = spot.part * chunk, ox = spot.block * MATCH_CARFIELD_PIXELS;
        if (k >= l.k) {
            continue;
        }
        const uint32_t left = l.k - k, n = (left < chunk) ? left : chunk;
#if MATCH_CARFIELD_LANES == MATCH_CARFIELD_LANES_MIN
        if (n == MATCH_CARFIELD_LANES) {
            block(tap, &l, spot.oy, ox, k, MATCH_CARFIELD_LANES);
            continue;
        }
#endif
        block(tap, &l, spot.oy, ox, k, n);
    }
}

#endif
