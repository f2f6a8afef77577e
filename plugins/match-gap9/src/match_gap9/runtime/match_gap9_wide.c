/* match_gap9_wide.c - convolution, depthwise convolution and dense layers on the cores, 64-bit requantisation.
 *
 * The outputs of a tile, pixel after pixel with channels innermost, are dealt out in equal contiguous parts, so that
 * one pixel of many channels keeps all cores as busy as many pixels of one channel. No core waits for another.
 *
 * Build with MATCH_GAP9_XPULP defined for cores with XpulpV2, by a compiler that has its builtins.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_gap9_wide.h"

#include <string.h>

#include "match_gap9_api.h"
#include "match_gap9_wide_core.h"

static uint32_t words_of(uint32_t bytes)
{
    return (bytes + 3u) / 4u;
}

/* Sum of 4 * words products. Both operands begin at multiples of 4. */
static inline int32_t dot(const uint8_t *x, const int8_t *weight, uint32_t words)
{
    int32_t sum = 0;
#ifdef MATCH_GAP9_XPULP
    typedef uint8_t unsigned_bytes __attribute__((vector_size(4), may_alias));
    typedef int8_t signed_bytes __attribute__((vector_size(4), may_alias));
    const unsigned_bytes *const a = (const void *)x;
    const signed_bytes *const b = (const void *)weight;
    for (uint32_t i = 0u; i < words; i++) {
        sum = __builtin_pulp_sdotusp4(a[i], b[i], sum);
    }
#else
    for (uint32_t i = 0u; i < 4u * words; i++) {
        sum += (int32_t)x[i] * weight[i];
    }
#endif
    return sum;
}

/* ---- windows ------------------------------------------------------------------------------------------------- */

/* Kernel positions [start, stop) that lie inside of the input, the first of them at input index `first`. */
typedef struct {
    uint32_t start, stop, first;
} window_t;

static window_t window(uint32_t out, uint32_t stride, uint32_t pad_before, uint32_t kernel, uint32_t size)
{
    const uint32_t begin = out * stride; /* counted from the first padding pixel */
    const uint32_t end = pad_before + size;
    window_t w;
    w.start = (begin < pad_before) ? pad_before - begin : 0u;
    w.stop = (begin + kernel > end) ? ((begin < end) ? end - begin : 0u) : kernel;
    if (w.start >= w.stop) {
        w.start = w.stop;
        w.first = 0u;
        return w;
    }
    w.first = begin + w.start - pad_before;
    return w;
}

/* ---- convolution --------------------------------------------------------------------------------------------- */

/* Copies the window of a pixel, padding included, to `column`, and zeros up to a whole word. */
static void gather(const match_conv2d_t *t, uint32_t pixel, uint8_t *column)
{
    const uint8_t *const input = t->input;
    const window_t y = window(pixel / t->ox, (uint32_t)t->stride_y, t->input_y_pad_before, t->fy, t->input_y);
    const window_t x = window(pixel % t->ox, (uint32_t)t->stride_x, t->input_x_pad_before, t->fx, t->input_x);
    const uint32_t row_bytes = t->fx * t->c, before = x.start * t->c, inside = (x.stop - x.start) * t->c;
    for (uint32_t ky = 0u; ky < t->fy; ky++) {
        uint8_t *const row = column + ky * row_bytes;
        if ((ky < y.start) || (ky >= y.stop) || (inside == 0u)) {
            memset(row, t->pad_value, row_bytes);
            continue;
        }
        memset(row, t->pad_value, before);
        memcpy(row + before, input + ((y.first + ky - y.start) * t->input_x + x.first) * t->c, inside);
        memset(row + before + inside, t->pad_value, row_bytes - before - inside);
    }
    const uint32_t taps = t->fy * row_bytes;
    memset(column + taps, 0, 4u * words_of(taps) - taps);
}

/* Whether a pixel's inputs can be read where they are: one tap, whole words, no padding. */
static int is_direct(const match_conv2d_t *t)
{
    return (t->fy == 1u) && (t->fx == 1u) && (t->c % 4u == 0u) && (t->input_y_pad_before == 0u) &&
           (t->input_y_pad_after == 0u) && (t->input_x_pad_before == 0u) && (t->input_x_pad_after == 0u);
}

static void conv2d_share(const match_conv2d_t *t)
{
    const uint8_t *const input = t->input;
    const int8_t *const weight = t->weight;
    const int32_t *const multiplier = t->multiplier;
    const int64_t *const addend = t->addend;
    uint8_t *const output = t->output;
    const uint32_t taps = t->fy * t->fx * t->c, words = words_of(taps), shift = (uint32_t)t->shift;
    uint8_t *const column = is_direct(t) ? NULL : (uint8_t *)t->scratch + (uint32_t)pi_core_id() * 4u * words;
    const match_gap9_share_t share = match_gap9_wide_share(t->oy * t->ox * t->k);
    MATCH_GAP9_CHARGE_WIDE_CONV(t->oy * t->ox, t->k, taps, column == NULL, shift);
    for (uint32_t i = share.start; i < share.stop;) {
        const uint32_t pixel = i / t->k, rest = (pixel + 1u) * t->k;
        const uint32_t stop = (rest < share.stop) ? rest : share.stop;
        const uint8_t *x = column;
        if (column == NULL) {
            const uint32_t row = pixel / t->ox * (uint32_t)t->stride_y * t->input_x;
            x = input + (row + pixel % t->ox * (uint32_t)t->stride_x) * t->c;
        } else {
            gather(t, pixel, column);
        }
        for (uint32_t k = i - pixel * t->k; i < stop; i++, k++) {
            const int32_t sum = dot(x, weight + k * 4u * words, words);
            output[i] = match_gap9_wide_requant(sum, multiplier[k], addend[k], shift);
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

/* ---- depthwise ----------------------------------------------------------------------------------------------- */

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
static int32_t depthwise_border(const match_depthwise2d_t *t, const window_t *rows, const window_t *columns,
                                uint32_t offset, const int8_t *weight)
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

static void depthwise_core(void *argument)
{
    const match_depthwise2d_t *const t = argument;
    const int8_t *const weight = t->weight;
    const int32_t *const multiplier = t->multiplier;
    const int64_t *const addend = t->addend;
    uint8_t *const output = t->output;
    const uint32_t shift = (uint32_t)t->shift, taps = t->fy * t->fx;
    const match_gap9_share_t share = match_gap9_wide_share(t->oy * t->ox * t->k);
    MATCH_GAP9_CHARGE_WIDE_DEPTHWISE(t->oy * t->ox, t->k, t->fy, t->fx, shift);
    for (uint32_t i = share.start; i < share.stop;) {
        const uint32_t pixel = i / t->k, rest = (pixel + 1u) * t->k;
        const uint32_t stop = (rest < share.stop) ? rest : share.stop;
        const window_t y = window(pixel / t->ox, (uint32_t)t->stride_y, t->input_y_pad_before, t->fy, t->input_y);
        const window_t x = window(pixel % t->ox, (uint32_t)t->stride_x, t->input_x_pad_before, t->fx, t->input_x);
        const uint32_t first = (y.first * t->input_x + x.first) * t->k;
        const int whole = (y.stop - y.start == t->fy) && (x.stop - x.start == t->fx);
        for (uint32_t k = i - pixel * t->k; i < stop; i++, k++) {
            const int8_t *const row = weight + k * taps;
            const int32_t sum = whole ? depthwise_sum(t, first + k, row) : depthwise_border(t, &y, &x, first + k, row);
            output[i] = match_gap9_wide_requant(sum, multiplier[k], addend[k], shift);
        }
    }
    pi_cl_team_barrier(0);
}

void match_gap9_wide_depthwise(const match_depthwise2d_t *tile)
{
    match_gap9_team_launch(depthwise_core, tile);
}
