/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of windows whose taps are no neighbours. */
#ifndef MATCH_CORTEXM_APART_H
#define MATCH_CORTEXM_APART_H

#include <stdint.h>
#include <string.h>

/* Compilers would make other code of the function for each caller. */
#if defined(__GNUC__)
#define MATCH_CORTEXM_ALONE __attribute__((noinline, noclone, unused))
#else
#define MATCH_CORTEXM_ALONE
#endif

/* The windows of neighbouring positions in an image with NHWC order: of each row the columns of one position after
 * another, which begin position_step apart. Taps outside get the value fill. bytes is the size of a position. */
MATCH_CORTEXM_ALONE static void match_cortexm_taps(
    int8_t *to,
    const int8_t *image,
    int32_t height,
    int32_t width,
    int32_t bytes,
    int32_t first_row,
    int32_t first_column,
    int32_t rows,
    int32_t columns,
    int32_t positions,
    int32_t position_step,
    int32_t row_step,
    int32_t column_step,
    int32_t fill)
{
    for (int32_t ky = 0; ky < rows; ky++) {
        const int32_t row = first_row + ky * row_step;
        for (int32_t position = 0; position < positions; position++) {
            int32_t column = first_column + position * position_step;
            for (int32_t kx = 0; kx < columns; kx++) {
                if ((row < 0) || (row >= height) || (column < 0) || (column >= width)) {
                    memset(to, fill, (size_t)bytes);
                } else {
                    memcpy(to, &image[(row * width + column) * bytes], (size_t)bytes);
                }
                to += bytes;
                column += column_step;
            }
        }
    }
}

#endif
