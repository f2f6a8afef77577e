/* ne16_twin.h - what the files of the NE16 model share. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_GAP9_NE16_TWIN_H
#define MATCH_GAP9_NE16_TWIN_H

#include <stdbool.h>
#include <stdint.h>

#include "gap9_twin.h"

#define NE16_JOB_WORDS 24u

/* A job decoded from its 24 register words. */
typedef struct {
  gap9_ne16_job_t tiles; /* geometry and formats, remainders normalised to 1..full */
  uint32_t weights, infeat, outfeat, scale, scale_shift, scale_bias; /* 32-bit addresses */
  uint32_t in_pixel, in_row;                                         /* infeat d0, d1 */
  uint32_t out_group, out_pixel, out_row;                            /* outfeat d0, d1, d2 */
  uint32_t weight_bit, weight_channel;                               /* weights d0, d1 */
  uint32_t pad_top, pad_right, pad_bottom, pad_left;
  uint8_t pad_value;
  uint32_t mask_top, mask_right, mask_bottom, mask_left;
  int32_t weight_offset;
  uint32_t shift_amount;
  bool stride2, relu;
} ne16_config_t;

/* Decodes and checks; faults on what the hardware or its public models do not define. */
ne16_config_t ne16_decode(const uint32_t words[NE16_JOB_WORDS]);
/* Computes the whole job: reads L1, writes L1. */
void ne16_compute(const ne16_config_t *config);
/* Fills the outputs of the job with the poison byte. */
void ne16_poison(const ne16_config_t *config);
/* Weights as int16 (stored value plus offset, masked taps 0) in the order Ko, Ki tile, tap, 16 channels; depthwise
 * in the order tile, tap, 16 channels. Valid until the next call. */
const int16_t *ne16_decode_weights(const ne16_config_t *config);

/* Sizes of the output tile (ko, ho, wo): valid channels, rows, columns. */
typedef struct {
  uint32_t channels, rows, columns;
} ne16_extent_t;

ne16_extent_t ne16_extent(const ne16_config_t *config, uint32_t ko, uint32_t ho, uint32_t wo);
/* L1 pointer to the `group`-th 8 channels (32-bit outputs) or all channels (8-bit) of pixel (row, column). */
uint8_t *ne16_output(const ne16_config_t *config, uint32_t ko, uint32_t ho, uint32_t wo, uint32_t row, uint32_t column,
                     uint32_t group, uint32_t bytes);
/* Whether the stride-2 mode stores this pixel of a tile. */
bool ne16_stores(const ne16_config_t *config, uint32_t row, uint32_t column);

#endif
