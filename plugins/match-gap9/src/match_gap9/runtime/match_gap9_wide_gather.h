/* match_gap9_wide_gather.h - the inputs of an output pixel as one row of bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_GAP9_WIDE_GATHER_H
#define MATCH_GAP9_WIDE_GATHER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "match_conv2d.h"
#include "match_gap9_cores.h"
#include "match_gap9_wide_window.h"

#define MATCH_GAP9_WORD_BYTES 4u

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

/* Copies a word between any addresses: the cores take two cycles for one that is not aligned, compilers four loads. */
static inline void match_gap9_copy_word(uint8_t *to, const uint8_t *from)
{
#if defined(MATCH_GAP9_XPULP) && defined(__riscv)
    uint32_t word;
    __asm__ volatile("lw %0, %1" : "=r"(word) : "m"(*(const uint8_t(*)[MATCH_GAP9_WORD_BYTES])from));
    __asm__ volatile("sw %1, %0" : "=m"(*(uint8_t(*)[MATCH_GAP9_WORD_BYTES])to) : "r"(word));
#else
    memcpy(to, from, MATCH_GAP9_WORD_BYTES);
#endif
}

/* Rows of windows are short: a call for each would cost more than copying them here. */
static inline void match_gap9_copy_values(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
    uint32_t i = 0u;
    for (; bytes - i >= MATCH_GAP9_WORD_BYTES; i += MATCH_GAP9_WORD_BYTES) {
        match_gap9_copy_word(to + i, from + i);
    }
    for (; i < bytes; i++) {
        to[i] = from[i];
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
        match_gap9_copy_values(column + ky * row_bytes + before, from, inside);
    }
}

/* Copies the window of a pixel to `column`. What stands behind it, up to a whole word, meets weights of zero. */
static inline void match_gap9_gather(const match_conv2d_t *t, match_gap9_spot_t spot, uint8_t *column)
{
    const uint32_t row_bytes = t->fx * t->c, line_bytes = t->input_x * t->c;
    MATCH_GAP9_COUNT(GATHER_PIXEL, 1u);
    MATCH_GAP9_COUNT(GATHER_ROW, t->fy);
    MATCH_GAP9_COUNT(GATHER_WORD, t->fy * (row_bytes / MATCH_GAP9_WORD_BYTES));
    MATCH_GAP9_COUNT(GATHER_TAP, t->fy * (row_bytes % MATCH_GAP9_WORD_BYTES));
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
        match_gap9_copy_values(column, from, row_bytes);
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
    MATCH_GAP9_COUNT(WIDE_PIXEL, 1u);
    if (column != NULL) {
        match_gap9_gather(t, spot, column);
        return column;
    }
    const uint8_t *const input = t->input;
    return input + (spot.y * (uint32_t)t->stride_y * t->input_x + spot.x * (uint32_t)t->stride_x) * t->c;
}

#endif
