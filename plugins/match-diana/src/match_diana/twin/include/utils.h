/* utils.h - of the kernel library, under its published names (dory-hal, include/utils.h), as the twin has it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_DIANA_TWIN_UTILS_H
#define MATCH_DIANA_TWIN_UTILS_H

#include <stdint.h>

#include "hwme_analog.h"
#include "hwme_digital.h"
#include "pulp.h"

#define DIG_HWPE_PARALLELISM 16
#define padding(value, base) (((value) + (base)-1) / (base) * (base))

/* An instruction of the digital array: 32 words. Pointers are bytes from the start of L1 or of the weight memory. */
typedef struct Instruction_memory_object_digital {
  uint32_t mode; /* 0 fully connected, 1 convolution, 3 sum of two tensors */
  uint32_t weight_memory_pointer; /* of a sum: the second tensor, in L1 */
  uint32_t input_memory_pointer;
  uint32_t output_memory_pointer;
  uint32_t c; /* of fully connected layers and sums: divided by 16 */
  uint32_t k; /* divided by 16 */
  uint32_t cx;
  uint32_t cy;
  uint32_t padded_cx;
  uint32_t size_channel;
  uint32_t fx;
  uint32_t fy;
  uint32_t ox; /* divided by 16 */
  uint32_t oy;
  uint32_t activation_function; /* 1 = ReLU */
  uint32_t write_l2_l1; /* 2: rows of pixels, 1: channels side by side, for the analog array */
  uint32_t output_channel_size;
  uint32_t dilation;
  uint32_t stop;
  uint32_t shift_fixed_point;
  uint32_t zero_padding;
  uint32_t type_nonlinear_function;
  uint32_t weight_tile_size;
  uint32_t nb_weight_tile;
  uint32_t conv_strided;
  uint32_t norm;
  uint32_t output_precision;
  uint32_t input_precision;
  uint32_t empty_filed_0;
  uint32_t empty_filed_1;
  uint32_t empty_filed_2;
  uint32_t empty_filed_3;
} Instruction_memory_object_digital;

typedef struct Layer_parameters {
  uint32_t c;
  uint32_t k;
  uint32_t cx;
  uint32_t cy;
  uint32_t fx;
  uint32_t fy;
  uint32_t ox;
  uint32_t oy;
  uint32_t activation_function;
  uint32_t output_shift;
  uint32_t padding;
  uint32_t dilation;
  uint32_t stride;
  uint32_t ox_unroll;
} Layer_parameters;

/* What the accelerators load when they are triggered. */
extern uint32_t configuration_register[16];
extern Instruction_memory_object_digital instruction_memory_compiled_digital[2];

void global_sync_digital(void);
void global_sync_analog(void);
void boot_diana(void);

#endif
