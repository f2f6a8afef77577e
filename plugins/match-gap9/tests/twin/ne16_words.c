/* ne16_words.c - the words of one NE16 job from the published driver's setters and from the package's runtime.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "match_gap9_ne16_job.h"
#include "ne16_setters.h"

#define WORDS (sizeof(ne16_task_data_t) / sizeof(uint32_t))

void by_driver(const match_gap9_ne16_tile_t *t, uint32_t words[WORDS]);
void by_runtime(const match_gap9_ne16_tile_t *t, uint32_t words[WORDS]);

static uint32_t address(const void *pointer) { return (uint32_t)(uintptr_t)pointer; }

static uint8_t missing(uint32_t outputs) { return (uint8_t)((3u - outputs % 3u) % 3u); }

/* What the driver's interface asks for: padding that is not zero, and padding with stride 2, through the registers. */
static void border(ne16_task_t *task, const match_gap9_ne16_tile_t *t, uint32_t rows, uint32_t columns) {
  const uint8_t bottom = (uint8_t)t->bottom, right = (uint8_t)t->right;
  if (t->pad_value == 0u && t->stride == 1u) {
    ne16_task_set_counters(task, t->c, rows, columns, t->k, bottom, right);
    ne16_task_set_padding(task, (uint8_t)t->top, bottom, (uint8_t)t->left, right, 0);
    return;
  }
  ne16_task_set_counters(task, t->c, rows, columns, t->k, 0, 0);
  ne16_task_set_padding(task, (uint8_t)t->top, (uint8_t)(bottom + (bottom > 0 ? missing(rows) : 0)), (uint8_t)t->left,
                        (uint8_t)(right + (right > 0 ? missing(columns) : 0)), (uint8_t)t->pad_value);
}

void by_driver(const match_gap9_ne16_tile_t *t, uint32_t words[WORDS]) {
  ne16_task_t task;
  const uint32_t pixel = t->k * t->out_bytes, row = t->ox * pixel;
  ne16_task_init(&task);
  ne16_task_set_op_to_conv(&task, (uint8_t)t->kernel, (uint8_t)t->depthwise, (uint8_t)t->stride);
  ne16_task_set_bits(&task, 8, (uint8_t)(8u * t->out_bytes), (uint8_t)t->weight_bits);
  if (t->out_bytes == 1u) {
    ne16_task_set_norm_quant(&task,
                             (ne16_quant_t){.shift_amount = (uint8_t)t->shift, .function = quantFunctionRelu,
                                            .flag_rounding = ne16TaskFlagFalse},
                             (ne16_norm_t){.mode = normMode32Bit, .flag_bias = ne16TaskFlagTrue,
                                           .flag_shift = ne16TaskFlagFalse});
  }
  ne16_task_set_weight_offset(&task, weightOffsetModeLayerWise, -(1 << (t->weight_bits - 1u)));
  ne16_task_set_addr_norm_quant(&task, address(t->multiplier), 0u, address(t->addend));
  if (t->stride == 2u) {
    ne16_task_set_dims_stride2x2(&task, t->in_y, t->in_x, t->c, t->row_bytes, t->pixel_bytes, t->oy, t->ox, t->k, row,
                                 pixel, 3, 3, 0, 0, 0, 0);
    border(&task, t, t->oy > 1u ? 3u : 1u, t->ox > 1u ? 3u : 1u);
  } else {
    ne16_task_set_dims(&task, t->in_x, t->c, t->row_bytes, t->pixel_bytes, t->oy, t->ox, t->k, row, pixel, 0, 0, 0, 0);
    if (t->kernel == 3u) {
      border(&task, t, t->oy, t->ox);
    }
  }
  ne16_task_set_addr_conv(&task, address(t->input), t->in_x, t->pixel_bytes, (uint8_t)t->top, (uint8_t)t->left,
                          address(t->output), address(t->weight));
  memcpy(words, &task.data, sizeof task.data);
}

void by_runtime(const match_gap9_ne16_tile_t *t, uint32_t words[WORDS]) {
  ne16_task_t task;
  memset(&task, 0xEE, sizeof task); /* every word must be written */
  match_gap9_ne16_fill(&task, t);
  memcpy(words, &task.data, sizeof task.data);
}
