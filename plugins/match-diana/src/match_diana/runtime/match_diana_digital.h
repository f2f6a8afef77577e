/* match_diana_digital.h - how emitted programs use the digital array: copies and kernels, all of which block.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_DIANA_DIGITAL_H
#define MATCH_DIANA_DIGITAL_H

#include <stdint.h>

#include "match_digital_add.h"
#include "match_digital_add_relu.h"
#include "match_digital_conv.h"
#include "match_digital_conv_channels.h"
#include "match_digital_dense.h"
#include "match_digital_depthwise.h"
#include "match_digital_depthwise_blocks.h"

/* ---- copies between L2 (far, strided) and L1 (near, dense). Those into the weight memory are only noted: the array
 * fetches the weights of a call from L2 itself. ----------------------------------------------------------------- */

void match_diana_digital_copy_in_1d(void *near, const void *far, uint32_t bytes);
void match_diana_digital_copy_in_2d(void *near, const void *far, uint32_t rows, uint32_t row_bytes,
                                    uint32_t row_stride);
void match_diana_digital_copy_in_3d(void *near, const void *far, uint32_t planes, uint32_t rows, uint32_t row_bytes,
                                    uint32_t row_stride, uint32_t plane_stride);
void match_diana_digital_copy_out_1d(void *far, const void *near, uint32_t bytes);
void match_diana_digital_copy_out_2d(void *far, const void *near, uint32_t rows, uint32_t row_bytes,
                                     uint32_t row_stride);
void match_diana_digital_copy_out_3d(void *far, const void *near, uint32_t planes, uint32_t rows, uint32_t row_bytes,
                                     uint32_t row_stride, uint32_t plane_stride);
void match_diana_digital_copy_wait(void);

/* ---- kernels: they return when the array is done. Of a tile's fields: ox counts columns in memory, of which the last
 * `columns_empty` hold nothing; spare - 1 rows at the end of the input are read by no window. ------------------------ */

void match_diana_digital_conv(const match_digital_conv_t *tile);
void match_diana_digital_conv_channels(const match_digital_conv_channels_t *tile);
void match_diana_digital_depthwise(const match_digital_depthwise_t *tile);
void match_diana_digital_depthwise_blocks(const match_digital_depthwise_blocks_t *tile);
void match_diana_digital_dense(const match_digital_dense_t *tile);
void match_diana_digital_add(const match_digital_add_t *tile);
void match_diana_digital_add_relu(const match_digital_add_relu_t *tile);

#endif
