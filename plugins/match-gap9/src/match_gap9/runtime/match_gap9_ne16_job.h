/* match_gap9_ne16_job.h - the 24 words of NE16 jobs, computed in one pass.
 *
 * The published driver's setters take about 1740 cycles for a job; a tile needs one, so its words are computed here and
 * handed to the driver for dispatch. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_GAP9_NE16_JOB_H
#define MATCH_GAP9_NE16_JOB_H

#include <stdint.h>

#include "match_conv2d.h"
#include "match_depthwise2d.h"
#include "match_linear.h"
#include "ne16_task.h"

/* A convolution over one tile: uint8 inputs, HWC, dense outputs. */
typedef struct {
    const void *input, *weight, *multiplier, *addend;
    void *output;
    uint32_t in_y, in_x, c;           /* c: input channels; depthwise as many as outputs */
    uint32_t row_bytes, pixel_bytes;  /* between inputs of neighbouring outputs of stride 1 */
    uint32_t oy, ox, k;
    uint32_t out_bytes;               /* of an output: 1 requantised, 4 the raw sum */
    uint32_t kernel, depthwise, stride, weight_bits, shift;
    uint32_t top, bottom, left, right, pad_value;
} match_gap9_ne16_tile_t;

/* The tile of a kernel context; raw: 32-bit sums into scratch instead of requantised outputs. */
void match_gap9_ne16_tile_3x3(match_gap9_ne16_tile_t *tile, const match_conv2d_t *context, int raw);
void match_gap9_ne16_tile_1x1(match_gap9_ne16_tile_t *tile, const match_conv2d_t *context, int raw);
void match_gap9_ne16_tile_depthwise(match_gap9_ne16_tile_t *tile, const match_depthwise2d_t *context, int raw);
void match_gap9_ne16_tile_linear(match_gap9_ne16_tile_t *tile, const match_linear_t *context, int raw);

/* All words of a job for the whole tile; with stride 2 those of the job that match_gap9_ne16_dispatch_stride2 repeats. */
void match_gap9_ne16_fill(ne16_task_t *task, const match_gap9_ne16_tile_t *tile);
/* Changes a filled task to one for `rows` output rows with these paddings above and below. */
void match_gap9_ne16_set_rows(ne16_task_t *task, const match_gap9_ne16_tile_t *tile, uint32_t rows, uint32_t top,
                              uint32_t bottom);

#endif
