/* match_gap9_wide.c - convolution and dense layers on the cores, 64-bit requantisation.
 *
 * The work is cut into blocks of 2 pixels by 4 channels, whose 8 sums share their loads as in PULP-NN's inner loop
 * (Garofalo et al. 2020): 6 loads for 8 sums of 4 products. Where few pixels would leave cores idle, a block has one
 * pixel. Every block takes as long as any other: beyond the last pixel or channel it computes the last one again.
 * Blocks, channels innermost, are dealt out in equal contiguous parts; no core waits for another.
 *
 * Build with MATCH_GAP9_XPULP defined for cores with XpulpV2, by a compiler that has its builtins.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_gap9_wide.h"

#include <string.h>

#include "match_gap9_api.h"
#include "match_gap9_wide_core.h"
#include "match_gap9_wide_window.h"

#define BLOCK_PIXELS 2u
#define BLOCK_CHANNELS 4u
#define WORD_BYTES 4u
#define SHORT_BYTES 24u /* from here on the library's copy is faster than a loop over bytes */

typedef uint32_t word_t __attribute__((may_alias));

static uint32_t words_of(uint32_t bytes)
{
    return (bytes + WORD_BYTES - 1u) / WORD_BYTES;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return (a < b) ? a : b;
}

/* sum + products of 4 values. Both operands begin at multiples of 4. */
static inline int32_t dot(const uint8_t *x, const int8_t *weight, int32_t sum)
{
#ifdef MATCH_GAP9_XPULP
    return match_gap9_wide_dot(*(const word_t *)(const void *)x, *(const word_t *)(const void *)weight, sum);
#else
    return sum + x[0] * weight[0] + x[1] * weight[1] + x[2] * weight[2] + x[3] * weight[3];
#endif
}

/* ---- inputs -------------------------------------------------------------------------------------------------- */

/* A pixel of the output. */
typedef struct {
    uint32_t y, x;
} spot_t;

static void go_on(spot_t *spot, uint32_t row)
{
    spot->x++;
    if (spot->x == row) {
        spot->x = 0u;
        spot->y++;
    }
}

/* Rows of windows are short: a call for each would cost more than copying them here. Both begin at a pixel, so that
 * pixels of whole words can be copied as words. */
static inline void copy(uint8_t *to, const uint8_t *from, uint32_t bytes, int whole_words)
{
    if (whole_words) {
        for (uint32_t i = 0u; i < bytes; i += WORD_BYTES) {
            *(word_t *)(void *)(to + i) = *(const word_t *)(const void *)(from + i);
        }
    } else if (bytes < SHORT_BYTES) {
        for (uint32_t i = 0u; i < bytes; i++) {
            to[i] = from[i];
        }
    } else {
        memcpy(to, from, bytes);
    }
}

/* Copies the window of a pixel, part of it padding, to `column`. */
static void gather_border(const match_conv2d_t *t, spot_t spot, uint8_t *column)
{
    const uint8_t *const input = t->input;
    const match_gap9_window_t y =
        match_gap9_window(spot.y, (uint32_t)t->stride_y, t->input_y_pad_before, t->fy, t->input_y);
    const match_gap9_window_t x =
        match_gap9_window(spot.x, (uint32_t)t->stride_x, t->input_x_pad_before, t->fx, t->input_x);
    const uint32_t row_bytes = t->fx * t->c, before = x.start * t->c, inside = (x.stop - x.start) * t->c;
    const uint32_t words = words_of(t->fy * row_bytes), padding = (uint8_t)t->pad_value * 0x01010101u;
    for (uint32_t i = 0u; i < words; i++) {
        ((word_t *)(void *)column)[i] = padding;
    }
    for (uint32_t ky = y.start; ky < y.stop; ky++) {
        const uint8_t *const from = input + ((y.first + ky - y.start) * t->input_x + x.first) * t->c;
        copy(column + ky * row_bytes + before, from, inside, t->c % WORD_BYTES == 0u);
    }
}

/* Copies the window of a pixel to `column`. What stands behind it, up to a whole word, meets weights of zero. */
static void gather(const match_conv2d_t *t, spot_t spot, uint8_t *column)
{
    const uint32_t row_bytes = t->fx * t->c, line_bytes = t->input_x * t->c;
    const uint32_t y = spot.y * (uint32_t)t->stride_y, x = spot.x * (uint32_t)t->stride_x; /* padding counted */
    const int whole_y = (y >= t->input_y_pad_before) && (y + t->fy <= t->input_y_pad_before + t->input_y);
    const int whole_x = (x >= t->input_x_pad_before) && (x + t->fx <= t->input_x_pad_before + t->input_x);
    if (!whole_y || !whole_x) {
        gather_border(t, spot, column);
        return;
    }
    const uint8_t *from =
        (const uint8_t *)t->input + (y - t->input_y_pad_before) * line_bytes + (x - t->input_x_pad_before) * t->c;
    for (uint32_t ky = 0u; ky < t->fy; ky++, column += row_bytes, from += line_bytes) {
        copy(column, from, row_bytes, t->c % WORD_BYTES == 0u);
    }
}

/* Whether a pixel's inputs can be read where they are: one tap, whole words, no padding. */
static int is_direct(const match_conv2d_t *t)
{
    return (t->fy == 1u) && (t->fx == 1u) && (t->c % WORD_BYTES == 0u) && (t->input_y_pad_before == 0u) &&
           (t->input_y_pad_after == 0u) && (t->input_x_pad_before == 0u) && (t->input_x_pad_after == 0u);
}

/* A pixel's inputs as one row of bytes: where they are, or (column != NULL) copied there. */
static const uint8_t *inputs_of(const match_conv2d_t *t, spot_t spot, uint8_t *column)
{
    if (column != NULL) {
        gather(t, spot, column);
        return column;
    }
    const uint8_t *const input = t->input;
    return input + (spot.y * (uint32_t)t->stride_y * t->input_x + spot.x * (uint32_t)t->stride_x) * t->c;
}

/* ---- blocks -------------------------------------------------------------------------------------------------- */

/* What all blocks of a tile share. */
typedef struct {
    const int8_t *weight;
    const int32_t *multiplier;
    const int64_t *addend;
    uint32_t words, channels, shift;
} layer_t;

static inline const int8_t *weights_of(const layer_t *l, uint32_t k)
{
    return l->weight + least(k, l->channels - 1u) * WORD_BYTES * l->words;
}

/* The outputs of channel k for two pixels. */
static inline void requantise(const layer_t *l, uint32_t channel, int32_t sum_a, int32_t sum_b, uint8_t *a, uint8_t *b)
{
    const uint32_t k = least(channel, l->channels - 1u);
    const int32_t multiplier = l->multiplier[k];
    const int64_t addend = l->addend[k];
    a[k] = match_gap9_wide_requant(sum_a, multiplier, addend, l->shift);
    b[k] = match_gap9_wide_requant(sum_b, multiplier, addend, l->shift);
}

/* Channels k to k + 3 of two pixels with inputs xa, xb and outputs a, b. */
static inline void block_of_two(const layer_t *l, uint32_t k, const uint8_t *xa, const uint8_t *xb, uint8_t *a,
                                uint8_t *b)
{
    const int8_t *w0 = weights_of(l, k), *w1 = weights_of(l, k + 1u);
    const int8_t *w2 = weights_of(l, k + 2u), *w3 = weights_of(l, k + 3u);
    int32_t a0 = 0, a1 = 0, a2 = 0, a3 = 0, b0 = 0, b1 = 0, b2 = 0, b3 = 0;
    uint32_t words = l->words; /* at least one */
    do {
        a0 = dot(xa, w0, a0);
        b0 = dot(xb, w0, b0);
        a1 = dot(xa, w1, a1);
        b1 = dot(xb, w1, b1);
        a2 = dot(xa, w2, a2);
        b2 = dot(xb, w2, b2);
        a3 = dot(xa, w3, a3);
        b3 = dot(xb, w3, b3);
        xa += WORD_BYTES;
        xb += WORD_BYTES;
        w0 += WORD_BYTES;
        w1 += WORD_BYTES;
        w2 += WORD_BYTES;
        w3 += WORD_BYTES;
    } while (--words > 0u);
    requantise(l, k, a0, b0, a, b);
    requantise(l, k + 1u, a1, b1, a, b);
    requantise(l, k + 2u, a2, b2, a, b);
    requantise(l, k + 3u, a3, b3, a, b);
}

static inline void requantise_one(const layer_t *l, uint32_t channel, int32_t sum, uint8_t *output)
{
    const uint32_t k = least(channel, l->channels - 1u);
    output[k] = match_gap9_wide_requant(sum, l->multiplier[k], l->addend[k], l->shift);
}

/* Channels k to k + 3 of one pixel. */
static inline void block_of_one(const layer_t *l, uint32_t k, const uint8_t *x, uint8_t *output)
{
    const int8_t *w0 = weights_of(l, k), *w1 = weights_of(l, k + 1u);
    const int8_t *w2 = weights_of(l, k + 2u), *w3 = weights_of(l, k + 3u);
    int32_t sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
    uint32_t words = l->words; /* at least one */
    do {
        sum0 = dot(x, w0, sum0);
        sum1 = dot(x, w1, sum1);
        sum2 = dot(x, w2, sum2);
        sum3 = dot(x, w3, sum3);
        x += WORD_BYTES;
        w0 += WORD_BYTES;
        w1 += WORD_BYTES;
        w2 += WORD_BYTES;
        w3 += WORD_BYTES;
    } while (--words > 0u);
    requantise_one(l, k, sum0, output);
    requantise_one(l, k + 1u, sum1, output);
    requantise_one(l, k + 2u, sum2, output);
    requantise_one(l, k + 3u, sum3, output);
}

/* ---- a core's part ------------------------------------------------------------------------------------------- */

static uint32_t rounds_of(uint32_t blocks)
{
    return (blocks + NUM_CORES - 1u) / NUM_CORES;
}

/* Pixels of a block. A block of two takes about one and a half times as long as a block of one. */
static uint32_t pixels_of_block(uint32_t pixels, uint32_t quads)
{
    const uint32_t pairs = (pixels + BLOCK_PIXELS - 1u) / BLOCK_PIXELS;
    return (3u * rounds_of(pairs * quads) < 2u * rounds_of(pixels * quads)) ? BLOCK_PIXELS : 1u;
}

static void conv2d_share(const match_conv2d_t *t)
{
    const uint32_t taps = t->fy * t->fx * t->c, pixels = t->oy * t->ox;
    const layer_t layer = {
        .weight = t->weight, .multiplier = t->multiplier, .addend = t->addend, .words = words_of(taps),
        .channels = t->k, .shift = (uint32_t)t->shift,
    };
    const uint32_t quads = (t->k + BLOCK_CHANNELS - 1u) / BLOCK_CHANNELS, side = pixels_of_block(pixels, quads);
    const uint32_t column_bytes = WORD_BYTES * layer.words;
    uint8_t *const column =
        is_direct(t) ? NULL : (uint8_t *)t->scratch + (uint32_t)pi_core_id() * BLOCK_PIXELS * column_bytes;
    const match_gap9_share_t share = match_gap9_wide_share((pixels + side - 1u) / side * quads);
    MATCH_GAP9_CHARGE_WIDE_CONV(pixels, t->k, t->c, t->fy, t->fx, column == NULL, layer.shift);
    const uint32_t group = share.start / quads;
    uint32_t pixel = group * side, quad = share.start - group * quads;
    spot_t spot = {.y = pixel / t->ox};
    spot.x = pixel - spot.y * t->ox;
    for (uint32_t todo = share.stop - share.start; todo > 0u; pixel += side, quad = 0u) {
        const uint32_t stop = least(quads, quad + todo);
        const uint8_t *const x = inputs_of(t, spot, column);
        uint8_t *const output = (uint8_t *)t->output + pixel * t->k;
        todo -= stop - quad;
        go_on(&spot, t->ox);
        if (side == 1u) {
            for (; quad < stop; quad++) {
                block_of_one(&layer, BLOCK_CHANNELS * quad, x, output);
            }
            continue;
        }
        const int last = pixel + 1u == pixels;
        const uint8_t *const next = last ? x : inputs_of(t, spot, (column == NULL) ? NULL : column + column_bytes);
        uint8_t *const next_output = last ? output : output + t->k;
        go_on(&spot, t->ox);
        for (; quad < stop; quad++) {
            block_of_two(&layer, BLOCK_CHANNELS * quad, x, next, output, next_output);
        }
    }
    pi_cl_team_barrier(0);
}

static void conv2d_core(void *argument)
{
    conv2d_share(argument);
}

void match_gap9_wide_conv2d(const match_conv2d_t *tile)
{
    match_gap9_team_launch(conv2d_core, tile);
}

/* N rows of C values are an image of N by 1 pixels. */
static void linear_core(void *argument)
{
    const match_linear_t *const t = argument;
    const match_conv2d_t rows = {
        .input = t->input, .weight = t->weight, .multiplier = t->multiplier, .addend = t->addend,
        .output = t->output, .scratch = t->scratch, .k = t->k, .c = t->c, .oy = t->n, .ox = 1u, .fy = 1u, .fx = 1u,
        .input_y = t->n, .input_x = 1u, .stride_y = 1, .stride_x = 1, .shift = t->shift,
    };
    conv2d_share(&rows);
}

void match_gap9_wide_linear(const match_linear_t *tile)
{
    match_gap9_team_launch(linear_core, tile);
}
