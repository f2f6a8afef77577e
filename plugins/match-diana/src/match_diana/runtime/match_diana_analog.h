/* match_diana_analog.h - what emitted programs call of the analog array. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_DIANA_ANALOG_H
#define MATCH_DIANA_ANALOG_H

#include <stdint.h>

#include "match_analog_conv.h"

/* Copies between L1 and L2 by the array's engine; they have ended when the function returns. Cells, and the numbers for
 * the stage behind the converters, are fetched by the array itself with every instruction: "copying" them into their
 * memories only notes where they lie. */
void match_diana_analog_copy_in_1d(void *near, const void *far, uint32_t bytes);
void match_diana_analog_copy_in_2d(void *near, const void *far, uint32_t rows, uint32_t row_bytes, uint32_t row_stride);
void match_diana_analog_copy_in_3d(void *near, const void *far, uint32_t planes, uint32_t rows, uint32_t row_bytes,
                                   uint32_t row_stride, uint32_t plane_stride);
void match_diana_analog_copy_out_1d(void *far, const void *near, uint32_t bytes);
void match_diana_analog_copy_out_2d(void *far, const void *near, uint32_t rows, uint32_t row_bytes,
                                    uint32_t row_stride);
void match_diana_analog_copy_out_3d(void *far, const void *near, uint32_t planes, uint32_t rows, uint32_t row_bytes,
                                    uint32_t row_stride, uint32_t plane_stride);
void match_diana_analog_copy_wait(void);

/* Where constants lie in L2 of which `near` is the noted place in a memory of the array. */
const uint8_t *match_diana_analog_constants(const void *near);

/* Kernels; they have ended when the function returns. Of a tile's fields: g, b: groups of input channels in the call and
 * blocks of 64 channels in each; first, last: whether the call is the first or the last of an output tile, whose sums of
 * groups lie in the output until then; input_words: blocks of 64 channels of the input buffer. */
void match_diana_analog_conv(const match_analog_conv_t *tile);

#endif
