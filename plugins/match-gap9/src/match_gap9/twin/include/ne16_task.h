/* ne16_task.h - the NE16 job descriptor, as in pulp-nnx. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_GAP9_TWIN_NE16_TASK_H
#define MATCH_GAP9_TWIN_NE16_TASK_H

#include <stdint.h>

#include "ne16_task_defs.h"

typedef struct ne16_stride_t {
  uint32_t d0;
  uint32_t d1;
  uint32_t d2;
} ne16_stride_t;

typedef struct ne16_subtile_remainder_t {
  uint32_t KoKi;
  uint32_t HoWo;
  uint32_t HiWi;
} ne16_subtile_remainder_t;

typedef struct ne16_subtile_number_t {
  uint32_t KoKi;
  uint32_t HoWo;
} ne16_subtile_number_t;

typedef struct ne16_subtile_t {
  ne16_subtile_remainder_t remainder;
  ne16_subtile_number_t number;
} ne16_subtile_t;

typedef struct ne16_cfg_t {
  ne16_stride_t input_stride;
  ne16_stride_t output_stride;
  ne16_stride_t weights_stride;
  ne16_subtile_t subtile;
  uint32_t padding;
  uint32_t weight_offset_factor;
  uint32_t filter_mask;
  uint32_t conf0;
} ne16_cfg_t;

/* The 24 job words in register order. */
typedef struct ne16_task_data_t {
  uint32_t weights_addr;
  uint32_t infeat_addr;
  uint32_t outfeat_addr;
  uint32_t scale_addr;
  uint32_t scale_shift_addr;
  uint32_t scale_bias_addr;
  ne16_cfg_t cfg;
} ne16_task_data_t;

typedef struct ne16_task_t {
  ne16_task_data_t data;
  uint8_t weight_d0_stride;
  uint8_t qw;
  uint8_t subtile_output_channel;
  uint8_t kernel_shape;
  uint8_t depthwise;
  uint8_t id;
} ne16_task_t;

#endif
