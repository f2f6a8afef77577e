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

#include "match_gap9_api.h"
#include "match_gap9_wide_core.h"
#include "match_gap9_wide_gather.h"

#define BLOCK_PIXELS 2u
#define BLOCK_CHANNELS 4u

static uint32_t least(uint32_t a, uint32_t b)
{
    return (a < b) ? a : b;
}

/* sum + products of 4 values. Both operands begin at multiples of 4. */
static inline int32_t dot(const uint8_t *x, const int8_t *weight, int32_t sum)
{
#ifdef MATCH_GAP9_XPULP
    const match_gap9_word_t *const inputs = (const void *)x, *const weights = (const void *)weight;
    return match_gap9_wide_dot(*inputs, *weights, sum);
#else
    return sum + x[0] * weight[0] + x[1] * weight[1] + x[2] * weight[2] + x[3] * weight[3];
#endif
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
    return l->weight + least(k, l->channels - 1u) * MATCH_GAP9_WORD_BYTES * l->words;
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
        xa += MATCH_GAP9_WORD_BYTES;
        xb += MATCH_GAP9_WORD_BYTES;
        w0 += MATCH_GAP9_WORD_BYTES;
        w1 += MATCH_GAP9_WORD_BYTES;
        w2 += MATCH_GAP9_WORD_BYTES;
        w3 += MATCH_GAP9_WORD_BYTES;
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
        x += MATCH_GAP9_WORD_BYTES;
        w0 += MATCH_GAP9_WORD_BYTES;
        w1 += MATCH_GAP9_WORD_BYTES;
        w2 += MATCH_GAP9_WORD_BYTES;
        w3 += MATCH_GAP9_WORD_BYTES;
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
        .weight = t->weight, .multiplier = t->multiplier, .addend = t->addend, .words = match_gap9_words_of(taps),
        .channels = t->k, .shift = (uint32_t)t->shift,
    };
    const uint32_t quads = (t->k + BLOCK_CHANNELS - 1u) / BLOCK_CHANNELS, side = pixels_of_block(pixels, quads);
    const uint32_t column_bytes = MATCH_GAP9_WORD_BYTES * layer.words;
    uint8_t *const column =
        match_gap9_is_direct(t) ? NULL : (uint8_t *)t->scratch + (uint32_t)pi_core_id() * BLOCK_PIXELS * column_bytes;
    const match_gap9_share_t share = match_gap9_wide_share((pixels + side - 1u) / side * quads);
    MATCH_GAP9_COUNT(WIDE_CALL, 1u);
    MATCH_GAP9_COUNT(WIDE_LOW, (layer.shift >= 32u) ? 0u : (share.stop - share.start) * side * BLOCK_CHANNELS);
    const uint32_t group = share.start / quads;
    uint32_t pixel = group * side, quad = share.start - group * quads;
    match_gap9_spot_t spot = {.y = pixel / t->ox};
    spot.x = pixel - spot.y * t->ox;
    for (uint32_t todo = share.stop - share.start; todo > 0u; pixel += side, quad = 0u) {
        const uint32_t stop = least(quads, quad + todo);
        const uint8_t *const x = match_gap9_inputs_of(t, spot, column);
        uint8_t *const output = (uint8_t *)t->output + pixel * t->k;
        todo -= stop - quad;
        match_gap9_next_spot(&spot, t->ox);
        if (side == 1u) {
            MATCH_GAP9_COUNT(WIDE_ONE, stop - quad);
            MATCH_GAP9_COUNT(WIDE_ONE_WORD, (stop - quad) * layer.words);
            for (; quad < stop; quad++) {
                block_of_one(&layer, BLOCK_CHANNELS * quad, x, output);
            }
            continue;
        }
        const int last = pixel + 1u == pixels;
        uint8_t *const next_column = (column == NULL) ? NULL : column + column_bytes;
        const uint8_t *const next = last ? x : match_gap9_inputs_of(t, spot, next_column);
        uint8_t *const next_output = last ? output : output + t->k;
        match_gap9_next_spot(&spot, t->ox);
        MATCH_GAP9_COUNT(WIDE_TWO, stop - quad);
        MATCH_GAP9_COUNT(WIDE_TWO_WORD, (stop - quad) * layer.words);
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
