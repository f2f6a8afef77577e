/* ne16_setters.h - the setters of pulp-nnx for the NE16 job descriptor. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_GAP9_TEST_NE16_SETTERS_H
#define MATCH_GAP9_TEST_NE16_SETTERS_H

#include "ne16_task.h"

typedef enum ne16_task_flag_e { ne16TaskFlagFalse = 0, ne16TaskFlagTrue = 1 } ne16_task_flag_e;

typedef enum ne16_weight_offset_mode_e {
  weightOffsetModeSymmetric = NE16_FLAG_WEIGHT_OFFSET_SYMMETRIC,
  weightOffsetModeLayerWise = NE16_FLAG_WEIGHT_OFFSET_LAYER_WISE
} ne16_weight_offset_mode_e;

typedef enum {
  normMode8Bit = NE16_NORM_MODE_8BIT,
  normMode16Bit = NE16_NORM_MODE_16BIT,
  normMode32Bit = NE16_NORM_MODE_32BIT
} ne16_norm_mode_e;

typedef struct ne16_norm_t {
  ne16_norm_mode_e mode;
  ne16_task_flag_e flag_bias;
  ne16_task_flag_e flag_shift;
} ne16_norm_t;

typedef enum ne16_quant_mode_e {
  quantMode8Bit = NE16_QUANT_MODE_8BIT,
  quantMode16Bit = NE16_QUANT_MODE_16BIT,
  quantMode32Bit = NE16_QUANT_MODE_32BIT
} ne16_quant_mode_e;

typedef enum ne16_quant_function_e {
  quantFunctionIdentity = NE16_FLAG_QUANT_FUNCTION_IDENTITY,
  quantFunctionRelu = NE16_FLAG_QUANT_FUNCTION_RELU
} ne16_quant_function_e;

typedef struct ne16_quant_t {
  uint8_t shift_amount; /* 0..31 */
  ne16_quant_function_e function;
  ne16_task_flag_e flag_rounding; /* no effect in hardware */
} ne16_quant_t;

void ne16_task_init(ne16_task_t *task);
void ne16_task_set_op_to_conv(ne16_task_t *task, const uint8_t kernel_shape, const uint8_t depthwise,
                              const uint8_t stride);
void ne16_task_set_bits(ne16_task_t *task, const uint8_t input_bits, const uint8_t output_bits,
                        const uint8_t weight_bits);
void ne16_task_set_norm_quant(ne16_task_t *task, ne16_quant_t quant, ne16_norm_t norm);
void ne16_task_set_weight_offset(ne16_task_t *task, ne16_weight_offset_mode_e weight_offset_mode,
                                 const int32_t weight_offset);
uint32_t ne16_pad_addr(uint32_t ptr, const uint32_t width, const uint32_t width_stride, const uint8_t padding_top,
                       const uint8_t padding_left);
void ne16_task_set_addr_conv(ne16_task_t *task, uint32_t input_addr, uint32_t w_in, uint32_t w_in_stride,
                             uint8_t padding_top, uint8_t padding_left, uint32_t output_addr,
                             uint32_t weights_addr);
void ne16_task_set_addr_norm_quant(ne16_task_t *task, uint32_t scale_addr, uint32_t shift_addr,
                                   uint32_t bias_addr);
/* Strides are bytes between neighbours along the dimension; channels are contiguous. */
void ne16_task_set_strides(ne16_task_t *task, const uint32_t k_in, const uint32_t h_in_stride,
                           const uint32_t w_in_stride, const uint32_t h_out_stride, const uint32_t w_out_stride);
void ne16_task_set_counters(ne16_task_t *task, const uint32_t k_in, const uint32_t h_out, const uint32_t w_out,
                            const uint32_t k_out, const uint8_t padding_bottom, const uint8_t padding_right);
/* The border is counted from the edges of the 5x5 input buffer. Rows and columns that set_counters took off at the
 * bottom and right are zero in hardware whatever `value` is: for a value other than 0 on all sides, call set_counters
 * with paddings 0, and here add (3 - size % 3) % 3 to bottom (size: output rows) and right (output columns). */
void ne16_task_set_padding(ne16_task_t *task, const uint8_t top, const uint8_t bottom, const uint8_t left,
                           const uint8_t right, const uint8_t value);
void ne16_task_set_mask_filter(ne16_task_t *task, const uint8_t top, const uint8_t bottom, const uint8_t left,
                               const uint8_t right);
/* Strides, counters and padding in one call; the pad value becomes 0. */
void ne16_task_set_dims(ne16_task_t *task, const uint32_t w_in, const uint32_t k_in, const uint32_t h_in_stride,
                        const uint32_t w_in_stride, const uint32_t h_out, const uint32_t w_out,
                        const uint32_t k_out, const uint32_t h_out_stride, const uint32_t w_out_stride,
                        const uint8_t padding_top, const uint8_t padding_bottom, const uint8_t padding_left,
                        const uint8_t padding_right);
void ne16_task_set_dims_stride2x2(ne16_task_t *task, const uint32_t h_in, const uint32_t w_in, const uint32_t k_in,
                                  const uint32_t h_in_stride, const uint32_t w_in_stride, const uint32_t h_out,
                                  const uint32_t w_out, const uint32_t k_out, const uint32_t h_out_stride,
                                  const uint32_t w_out_stride, const uint8_t h_ker, const uint8_t w_ker,
                                  const uint8_t padding_top, const uint8_t padding_bottom,
                                  const uint8_t padding_left, const uint8_t padding_right);

#endif
