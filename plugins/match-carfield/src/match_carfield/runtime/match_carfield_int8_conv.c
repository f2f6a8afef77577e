/* match_carfield_int8_conv.c - convolution and dense layers with 64-bit requantisation.
 *
 * The work is cut into blocks of 2 pixels by 4 channels, whose 8 sums share their loads as in PULP-NN's inner loop
 * (Garofalo et al. 2020): 6 loads for 8 sums of 4 products; a single pixel has blocks of 4 sums. Every block takes as
 * long as any other: beyond the last pixel or channel it computes the last one again. Blocks, channels innermost, are
 * dealt out in equal contiguous parts; no core waits for another.
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_carfield_int8.h"

#include <string.h>

#include "match_carfield_int8_core.h"

#define BLOCK_PIXELS 2u
#define BLOCK_CHANNELS 4u

/* A convolution; dense layers have one row, whose pixels are theirs. */
typedef struct {
    const uint8_t *input;
    const int8_t *weight;
    const int32_t *multiplier;
    const int64_t *addend;
    uint8_t *output, *scratch;
    uint32_t pixels, width, channels, inputs, fy, fx, input_y, input_x, pad_y, pad_x, words;
    int32_t stride_y, stride_x, dilation_y, dilation_x, pad_value, low, high;
    uint32_t shift;
    int direct; /* inputs are read where they are */
    int input_signed;
} layer_t;

static void gather(const layer_t *l, uint32_t pixel, uint8_t *column)
{
    const uint32_t oy = pixel / l->width, ox = pixel - oy * l->width;
    uint8_t *at = column;
    for (uint32_t fy = 0u; fy < l->fy; fy++) {
        const int32_t y = match_carfield_under(oy, l->stride_y, fy, l->dilation_y, l->pad_y, l->input_y);
        for (uint32_t fx = 0u; fx < l->fx; fx++) {
            const int32_t x = match_carfield_under(ox, l->stride_x, fx, l->dilation_x, l->pad_x, l->input_x);
            if ((y < 0) || (x < 0)) {
                (void)memset(at, l->pad_value, l->inputs);
            } else {
                (void)memcpy(at, l->input + ((uint32_t)y * l->input_x + (uint32_t)x) * l->inputs, l->inputs);
            }
            at += l->inputs;
        }
    }
    const uint32_t used = l->fy * l->fx * l->inputs;
    (void)memset(at, 0, l->words * MATCH_CARFIELD_WORD_BYTES - used); /* weights are zero there */
}

static const uint8_t *column_of(const layer_t *l, uint32_t pixel, uint32_t which)
{
    if (l->direct) {
        return l->input + pixel * l->inputs;
    }
    const uint32_t size = l->words * MATCH_CARFIELD_WORD_BYTES;
    uint8_t *const column = l->scratch + ((uint32_t)rt_core_id() * BLOCK_PIXELS + which) * size;
    gather(l, pixel, column);
    return column;
}

/* Channels first to first + 3 of `count` pixels (1 or 2) with columns xa, xb and outputs a, b. */
static inline void block(const layer_t *l, uint32_t first, uint32_t count, int input_signed, const uint8_t *xa,
                         const uint8_t *xb, uint8_t *a, uint8_t *b)
{
    int32_t sums[BLOCK_CHANNELS][BLOCK_PIXELS] = {{0}};
    uint32_t channels[BLOCK_CHANNELS];
    const int8_t *weights[BLOCK_CHANNELS];
    for (uint32_t i = 0u; i < BLOCK_CHANNELS; i++) {
        channels[i] = match_carfield_least(first + i, l->channels - 1u);
        weights[i] = l->weight + channels[i] * MATCH_CARFIELD_WORD_BYTES * l->words;
    }
    for (uint32_t at = 0u; at < l->words * MATCH_CARFIELD_WORD_BYTES; at += MATCH_CARFIELD_WORD_BYTES) {
        for (uint32_t i = 0u; i < BLOCK_CHANNELS; i++) {
            sums[i][0] = match_carfield_dot(xa + at, weights[i] + at, sums[i][0], input_signed);
            if (count == BLOCK_PIXELS) {
                sums[i][1] = match_carfield_dot(xb + at, weights[i] + at, sums[i][1], input_signed);
            }
        }
    }
    for (uint32_t i = 0u; i < BLOCK_CHANNELS; i++) {
        const uint32_t k = channels[i];
        const int32_t multiplier = l->multiplier[k];
        const int64_t addend = l->addend[k];
        a[k] = match_carfield_requant(sums[i][0], multiplier, addend, l->shift, l->low, l->high);
        if (count == BLOCK_PIXELS) {
            b[k] = match_carfield_requant(sums[i][1], multiplier, addend, l->shift, l->low, l->high);
        }
    }
}

static inline void blocks(const layer_t *l, int input_signed)
{
    const uint32_t side = (l->pixels > 1u) ? BLOCK_PIXELS : 1u;
    const uint32_t quads = (l->channels + BLOCK_CHANNELS - 1u) / BLOCK_CHANNELS;
    const match_carfield_part_t part = match_carfield_part((l->pixels + side - 1u) / side * quads);
    const uint8_t *xa = l->input, *xb = l->input;
    uint8_t *a = l->output, *b = l->output;
    uint32_t group = part.start / quads, quad = part.start - group * quads;
    int fresh = 1;
    for (uint32_t item = part.start; item < part.stop; item++) {
        if (fresh) {
            const uint32_t first = group * side, second = match_carfield_least(first + side - 1u, l->pixels - 1u);
            xa = column_of(l, first, 0u);
            xb = (side == BLOCK_PIXELS) ? column_of(l, second, 1u) : xa;
            a = l->output + first * l->channels;
            b = l->output + second * l->channels;
        }
        if (side == BLOCK_PIXELS) {
            block(l, quad * BLOCK_CHANNELS, BLOCK_PIXELS, input_signed, xa, xb, a, b);
        } else {
            block(l, quad * BLOCK_CHANNELS, 1u, input_signed, xa, xb, a, b);
        }
        quad++;
        fresh = (quad == quads);
        if (fresh) {
            quad = 0u;
            group++;
        }
    }
}

/* The sign is a constant inside of each. */
static void compute(const layer_t *l)
{
    if (l->input_signed) {
        blocks(l, 1);
    } else {
        blocks(l, 0);
    }
}

static uint32_t words_of(uint32_t taps)
{
    return (taps + MATCH_CARFIELD_WORD_BYTES - 1u) / MATCH_CARFIELD_WORD_BYTES;
}

static void conv2d_core(void *tile)
{
    const match_int8_conv2d_t *const t = tile;
    const layer_t l = {
        .input = t->input, .weight = t->weight, .multiplier = t->multiplier, .addend = t->addend, .output = t->output,
        .scratch = t->scratch, .pixels = t->oy * t->ox, .width = t->ox, .channels = t->k, .inputs = t->c, .fy = t->fy,
        .fx = t->fx, .input_y = t->input_y, .input_x = t->input_x, .pad_y = t->input_y_pad_before,
        .pad_x = t->input_x_pad_before, .words = words_of(t->fy * t->fx * t->c), .stride_y = t->stride_y,
        .stride_x = t->stride_x, .dilation_y = t->dilation_y, .dilation_x = t->dilation_x, .pad_value = t->pad_value,
        .low = t->low, .high = t->high, .shift = (uint32_t)t->shift, .direct = t->scratch == NULL,
        .input_signed = t->input_signed != 0,
    };
    compute(&l);
}

static void linear_core(void *tile)
{
    const match_int8_linear_t *const t = tile;
    const layer_t l = {
        .input = t->input, .weight = t->weight, .multiplier = t->multiplier, .addend = t->addend, .output = t->output,
        .scratch = t->scratch, .pixels = t->n, .width = t->n, .channels = t->k, .inputs = t->c, .fy = 1u, .fx = 1u,
        .input_y = 1u, .input_x = t->n, .words = words_of(t->c), .stride_y = 1, .stride_x = 1, .dilation_y = 1,
        .dilation_x = 1, .low = t->low, .high = t->high, .shift = (uint32_t)t->shift, .direct = t->scratch == NULL,
        .input_signed = t->input_signed != 0,
    };
    compute(&l);
}

void match_carfield_pulp_int8_conv2d(const match_int8_conv2d_t *tile)
{
    MATCH_CARFIELD_CHARGE(pulp_int8_conv2d, tile);
    match_carfield_pulp_team(conv2d_core, tile);
}

void match_carfield_pulp_int8_linear(const match_int8_linear_t *tile)
{
    MATCH_CARFIELD_CHARGE(pulp_int8_linear, tile);
    match_carfield_pulp_team(linear_core, tile);
}
