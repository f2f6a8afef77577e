/* SPDX-License-Identifier: Apache-2.0 */
/* What a conv2d kernel receives: addresses of one tile and its full geometry. */
#ifndef MATCH_CONV2D_H
#define MATCH_CONV2D_H

#include <stdint.h>

typedef struct {
    const void *input;
    const void *weight;
    const void *multiplier;
    const void *addend;
    void *output;
    void *scratch;
    uint32_t k;
    uint32_t c;
    uint32_t oy;
    uint32_t ox;
    uint32_t fy;
    uint32_t fx;
    uint32_t input_y;
    uint32_t input_y_pad_before;
    uint32_t input_y_pad_after;
    uint32_t input_x;
    uint32_t input_x_pad_before;
    uint32_t input_x_pad_after;
    int32_t stride_y;
    int32_t stride_x;
    int32_t shift;
    int32_t pad_value;
    int32_t weight_bits;
} match_conv2d_t;

#endif
