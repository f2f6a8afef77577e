/* match_gap9_wide_gather.h - the inputs of an output pixel as one row of bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_GAP9_WIDE_GATHER_H
#define MATCH_GAP9_WIDE_GATHER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "match_conv2d.h"
#include "match_gap9_wide_window.h"

#define MATCH_GAP9_WORD_BYTES 4u
#define MATCH_GAP9_SHORT_BYTES 24u /* from here on the library's copy is faster than a loop over bytes */

typedef uint32_t match_gap9_word_t __attribute__((may_alias));

static inline uint32_t match_gap9_words_of(uint32_t bytes)
{
    return (bytes + MATCH_GAP9_WORD_BYTES - 1u) / MATCH_GAP9_WORD_BYTES;
}

/* A pixel of the output. */
typedef struct {
    uint32_t y, x;
} match_gap9_spot_t;

static inline void match_gap9_next_spot(match_gap9_spot_t *spot, uint32_t row)
{
    spot->x++;
    if (spot->x == row) {
        spot->x = 0u;
        spot->y++;
    }
}

/* Rows of windows are short: a call for each would cost more than copying them here. Both begin at a pixel, so that
 * pixels of whole words can be copied as words. */
static inline void match_gap9_copy_values(uint8_t *to, const uint8_t *from, uint32_t bytes, int whole_words)
{
    if (whole_words) {
        for (uint32_t i = 0u; i < bytes; i += MATCH_GAP9_WORD_BYTES) {
            *(match_gap9_word_t *)(void *)(to + i) = *(const match_gap9_word_t *)(const void *)(from + i);
        }
    } else if (bytes < MATCH_GAP9_SHORT_BYTES) {
        for (uint32_t i = 0u; i < bytes; i++) {
            to[i] = from[i];
        }
    } else {
        memcpy(to, from, bytes);
    }
}

/* Copies the window of a pixel, part of it padding, to `column`. */
static inline void match_gap9_gather_border(const match_conv2d_t *t, match_gap9_spot_t spot, uint8_t *column)
{
    const uint8_t *const input = t->input;
    const match_gap9_window_t y =
        match_gap9_window(spot.y, (uint32_t)t->stride_y, t->input_y_pad_before, t->fy, t->input_y);
    const match_gap9_window_t x =
        match_gap9_window(spot.x, (uint32_t)t->stride_x, t->input_x_pad_before, t->fx, t->input_x);
    const uint32_t row_bytes = t->fx * t->c, before = x.start * t->c, inside = (x.stop - x.start) * t->c;
    const uint32_t words = match_gap9_words_of(t->fy * row_bytes), padding = (uint8_t)t->pad_value * 0x01010101u;
    for (uint32_t i = 0u; i < words; i++) {
        ((match_gap9_word_t *)(void *)column)[i] = padding;
    }
    for (uint32_t ky = y.start; ky < y.stop; ky++) {
        const uint8_t *const from = input + ((y.first + ky - y.start) * t->input_x + x.first) * t->c;
        match_gap9_copy_values(column + ky * row_bytes + before, from, inside, t->c % MATCH_GAP9_WORD_BYTES == 0u);
    }
}

/* Copies the window of a pixel to `column`. What stands behind it, up to a whole word, meets weights of zero. */
static inline void match_gap9_gather(const match_conv2d_t *t, match_gap9_spot_t spot, uint8_t *column)
{
    const uint32_t row_bytes = t->fx * t->c, line_bytes = t->input_x * t->c;
    const uint32_t y = spot.y * (uint32_t)t->stride_y, x = spot.x * (uint32_t)t->stride_x; /* padding counted */
    const int whole_y = (y >= t->input_y_pad_before) && (y + t->fy <= t->input_y_pad_before + t->input_y);
    const int whole_x = (x >= t->input_x_pad_before) && (x + t->fx <= t->input_x_pad_before + t->input_x);
    if (!whole_y || !whole_x) {
        match_gap9_gather_border(t, spot, column);
        return;
    }
    const uint8_t *from =
        (const uint8_t *)t->input + (y - t->input_y_pad_before) * line_bytes + (x - t->input_x_pad_before) * t->c;
    for (uint32_t ky = 0u; ky < t->fy; ky++, column += row_bytes, from += line_bytes) {
        match_gap9_copy_values(column, from, row_bytes, t->c % MATCH_GAP9_WORD_BYTES == 0u);
    }
}

/* Whether a pixel's inputs can be read where they are: one tap, whole words, no padding. */
static inline int match_gap9_is_direct(const match_conv2d_t *t)
{
    return (t->fy == 1u) && (t->fx == 1u) && (t->c % MATCH_GAP9_WORD_BYTES == 0u) && (t->input_y_pad_before == 0u) &&
           (t->input_y_pad_after == 0u) && (t->input_x_pad_before == 0u) && (t->input_x_pad_after == 0u);
}

/* A pixel's inputs as one row of bytes: where they are, or (column != NULL) copied there. */
static inline const uint8_t *match_gap9_inputs_of(const match_conv2d_t *t, match_gap9_spot_t spot, uint8_t *column)
{
    if (column != NULL) {
        match_gap9_gather(t, spot, column);
        return column;
    }
    const uint8_t *const input = t->input;
    return input + (spot.y * (uint32_t)t->stride_y * t->input_x + spot.x * (uint32_t)t->stride_x) * t->c;
}

#endif
