/* match_gap9_wide_depthwise_rows.c - depthwise 3x3 convolution along output rows, channel by channel.
 *
 * The three values of an input column are packed into a word, so that a window is three SIMD products; weights and the
 * channel's parameters stay in registers, and with a stride of 1 so do two of a window's columns.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_depthwise2d.h"
#include "match_gap9_wide_core.h"

#define SIDE 3u

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

void match_gap9_wide_depthwise_rows(const match_depthwise2d_t *t)
{
    const uint8_t padding = (uint8_t)t->pad_value;
    const line_t line = {
        .start = t->input_x_pad_before, .stop = t->input_x_pad_before + t->input_x,
        .padding = column_of(padding, padding, padding), .outputs = t->ox, .step = t->k,
        .stride = (uint32_t)t->stride_x,
    };
    const match_gap9_share_t share = match_gap9_wide_share(t->k * t->oy);
    const uint32_t outputs = (share.stop - share.start) * t->ox;
    uint32_t k = share.start / t->oy, oy = share.start - k * t->oy;
    MATCH_GAP9_COUNT(WIDE_ROW, share.stop - share.start);
    MATCH_GAP9_COUNT(WIDE_ROW_STRIDE1, (line.stride == 1u) ? outputs : 0u);
    MATCH_GAP9_COUNT(WIDE_ROW_STRIDE2, (line.stride == 1u) ? 0u : outputs);
    MATCH_GAP9_COUNT(WIDE_LOW, (t->shift >= 32) ? 0u : outputs);
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
