/* match_gap9_wide_depthwise.c - depthwise convolution on the cores, 64-bit requantisation.
 *
 * 3x3 kernels go along output rows, channel by channel. The three values of an input column are packed into a word, so
 * that a window is three SIMD products; weights and the channel's parameters stay in registers, and with a stride of 1
 * so do two of a window's columns. Other kernels go pixel after pixel, channels innermost.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_gap9_api.h"
#include "match_gap9_wide.h"
#include "match_gap9_wide_core.h"
#include "match_gap9_wide_window.h"

#define SIDE 3u /* of the kernel that goes along rows */

/* ---- 3x3 ----------------------------------------------------------------------------------------------------- */

/* One channel of the three input rows below an output row, at the next column to be read. A row outside of the input is
 * one padding byte that is read again and again: its step is 0. */
typedef struct {
    const uint8_t *top, *middle, *bottom;
    uint32_t top_step, middle_step, bottom_step;
} rows_t;

/* Weights by column, and how the channel is requantised. */
typedef struct {
    uint32_t left, middle, right;
    int32_t multiplier;
    int64_t addend;
    uint32_t shift;
} channel_t;

/* What all rows of a tile share. Columns are counted from the first padding column. */
typedef struct {
    uint32_t start, stop; /* columns inside of the input */
    uint32_t padding;     /* a column of it */
    uint32_t outputs, step, stride;
} line_t;

/* A column of three values as a word, its upper byte 0. */
static inline uint32_t column_of(uint8_t top, uint8_t middle, uint8_t bottom)
{
    return (uint32_t)top | ((uint32_t)middle << 8) | ((uint32_t)bottom << 16);
}

static inline uint32_t next_column(rows_t *r)
{
    const uint32_t column = column_of(*r->top, *r->middle, *r->bottom);
    r->top += r->top_step;
    r->middle += r->middle_step;
    r->bottom += r->bottom_step;
    return column;
}

/* Column x, read if it is inside of the input: calls go from left to right. */
static inline uint32_t column_or_padding(const line_t *l, rows_t *r, uint32_t x)
{
    return ((x >= l->start) && (x < l->stop)) ? next_column(r) : l->padding;
}

static inline uint8_t output_of(const channel_t *c, uint32_t left, uint32_t middle, uint32_t right)
{
    int32_t sum = match_gap9_wide_dot(left, c->left, 0);
    sum = match_gap9_wide_dot(middle, c->middle, sum);
    sum = match_gap9_wide_dot(right, c->right, sum);
    return match_gap9_wide_requant(sum, c->multiplier, c->addend, c->shift);
}

/* Stride 1: every output reads one new column. */
static void row_of_stride_1(const line_t *l, const channel_t *channel, rows_t rows, uint8_t *output)
{
    const channel_t c = *channel;
    const uint32_t step = l->step, stop = (l->stop < l->outputs + 2u) ? l->stop : l->outputs + 2u;
    uint32_t left = column_or_padding(l, &rows, 0u), middle = column_or_padding(l, &rows, 1u), right, x = 2u;
    for (; x < l->start && x < l->outputs + 2u; x++, output += step) {
        *output = output_of(&c, left, middle, l->padding);
        left = middle;
        middle = l->padding;
    }
    for (; x + 3u <= stop; x += 3u, output += step) {
        right = next_column(&rows);
        *output = output_of(&c, left, middle, right);
        output += step;
        left = next_column(&rows);
        *output = output_of(&c, middle, right, left);
        output += step;
        middle = next_column(&rows);
        *output = output_of(&c, right, left, middle);
    }
    for (; x < l->outputs + 2u; x++, output += step) {
        right = (x < stop) ? next_column(&rows) : l->padding;
        *output = output_of(&c, left, middle, right);
        left = middle;
        middle = right;
    }
}

/* Stride 2: an output's right column is the next one's left. */
static void row_of_stride_2(const line_t *l, const channel_t *channel, rows_t rows, uint8_t *output)
{
    const channel_t c = *channel;
    const uint32_t step = l->step;
    uint32_t left = column_or_padding(l, &rows, 0u), middle, right, x = 1u;
    for (uint32_t n = l->outputs; n > 0u; n--, x += 2u, output += step) {
        if ((x >= l->start) && (x + 1u < l->stop)) {
            middle = next_column(&rows);
            right = next_column(&rows);
        } else {
            middle = column_or_padding(l, &rows, x);
            right = column_or_padding(l, &rows, x + 1u);
        }
        *output = output_of(&c, left, middle, right);
        left = right;
    }
}

/* Any stride from 3 on: no column is read twice, some never. */
static void row_of_wide_stride(const line_t *l, const channel_t *c, rows_t rows, uint8_t *output)
{
    for (uint32_t n = 0u, x = 0u; n < l->outputs; n++, output += l->step) {
        const uint32_t left = column_or_padding(l, &rows, x), middle = column_or_padding(l, &rows, x + 1u);
        *output = output_of(c, left, middle, column_or_padding(l, &rows, x + 2u));
        for (x += SIDE; x < (n + 1u) * l->stride; x++) {
            (void)column_or_padding(l, &rows, x);
        }
    }
}

static channel_t channel_of(const match_depthwise2d_t *t, uint32_t k)
{
    const uint8_t *const w = (const uint8_t *)t->weight + k * SIDE * SIDE;
    const channel_t c = {
        .left = column_of(w[0], w[3], w[6]), .middle = column_of(w[1], w[4], w[7]),
        .right = column_of(w[2], w[5], w[8]),
        .multiplier = ((const int32_t *)t->multiplier)[k], .addend = ((const int64_t *)t->addend)[k],
        .shift = (uint32_t)t->shift,
    };
    return c;
}

/* `y`: row counted from the first padding row. */
static inline const uint8_t *row_of(const match_depthwise2d_t *t, uint32_t y, uint32_t k, const uint8_t *padding,
                                    uint32_t *step)
{
    const int inside = (y >= t->input_y_pad_before) && (y - t->input_y_pad_before < t->input_y);
    *step = inside ? t->k : 0u;
    return inside ? (const uint8_t *)t->input + (y - t->input_y_pad_before) * t->input_x * t->k + k : padding;
}

static void depthwise_rows(const match_depthwise2d_t *t)
{
    const uint8_t padding = (uint8_t)t->pad_value;
    const line_t line = {
        .start = t->input_x_pad_before, .stop = t->input_x_pad_before + t->input_x,
        .padding = column_of(padding, padding, padding), .outputs = t->ox, .step = t->k,
        .stride = (uint32_t)t->stride_x,
    };
    const match_gap9_share_t share = match_gap9_wide_share(t->k * t->oy);
    uint32_t k = share.start / t->oy, oy = share.start - k * t->oy;
    for (uint32_t todo = share.stop - share.start; todo > 0u; k++, oy = 0u) {
        const channel_t c = channel_of(t, k);
        for (; (oy < t->oy) && (todo > 0u); oy++, todo--) {
            const uint32_t y = oy * (uint32_t)t->stride_y;
            uint8_t *const output = (uint8_t *)t->output + oy * t->ox * t->k + k;
            rows_t rows;
            rows.top = row_of(t, y, k, &padding, &rows.top_step);
            rows.middle = row_of(t, y + 1u, k, &padding, &rows.middle_step);
            rows.bottom = row_of(t, y + 2u, k, &padding, &rows.bottom_step);
            if (line.stride == 1u) {
                row_of_stride_1(&line, &c, rows, output);
            } else if (line.stride == 2u) {
                row_of_stride_2(&line, &c, rows, output);
            } else {
                row_of_wide_stride(&line, &c, rows, output);
            }
        }
    }
}

/* ---- any kernel ---------------------------------------------------------------------------------------------- */

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
    MATCH_GAP9_CHARGE_WIDE_DEPTHWISE(t->oy, t->ox, t->k, t->fy, t->fx, (uint32_t)t->stride_x, (uint32_t)t->shift);
    if ((t->fy == SIDE) && (t->fx == SIDE)) {
        depthwise_rows(t);
    } else {
        depthwise_pixels(t);
    }
    pi_cl_team_barrier(0);
}

void match_gap9_wide_depthwise(const match_depthwise2d_t *tile)
{
    match_gap9_team_launch(depthwise_core, tile);
}
