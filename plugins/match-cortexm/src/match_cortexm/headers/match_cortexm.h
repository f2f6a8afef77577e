/* SPDX-License-Identifier: Apache-2.0 */
/* What all kernels for Arm Cortex-M share: requantisation, clips, and windows with padding. */
#ifndef MATCH_CORTEXM_H
#define MATCH_CORTEXM_H

#include <stdint.h>
#include <string.h>

/* Compilers turn these into SSAT and USAT, with the shift before them. */
static inline int32_t match_cortexm_clip(int32_t value, int32_t low, int32_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* floor((sum * multiplier + addend) / 2^(32 + shift)). A shift of a negative value rounds down. */
static inline int32_t match_cortexm_scale(int32_t sum, int32_t multiplier, int64_t addend, int32_t shift)
{
    return (int32_t)(((int64_t)sum * multiplier + addend) >> 32) >> shift;
}

/* Four bytes at any address. */
static inline int32_t match_cortexm_word(const void *at)
{
    int32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* A part of an image with NHWC order: rows x columns positions from (first_row, first_column), which may lie outside;
 * positions outside get the value fill. All sizes are in positions, bytes is the size of one. */
static inline void match_cortexm_window(
    int8_t *to,
    const int8_t *image,
    int32_t height,
    int32_t width,
    int32_t bytes,
    int32_t first_row,
    int32_t first_column,
    int32_t rows,
    int32_t columns,
    int32_t fill)
{
    const int32_t last_column = first_column + columns;
    const int32_t from = first_column > 0 ? first_column : 0;
    const int32_t end = last_column < width ? last_column : width;
    const int32_t before = (from - first_column) * bytes;
    const int32_t inside = (end - from) * bytes;
    const int32_t after = (last_column - end) * bytes;
    for (int32_t row = first_row; row < first_row + rows; row++) {
        if ((row < 0) || (row >= height) || (inside <= 0)) {
            memset(to, fill, (size_t)(columns * bytes));
            to += columns * bytes;
        } else {
            memset(to, fill, (size_t)before);
            to += before;
            memcpy(to, &image[(row * width + from) * bytes], (size_t)inside);
            to += inside;
            memset(to, fill, (size_t)after);
            to += after;
        }
    }
}

#endif
