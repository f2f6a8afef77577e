/* ne16_setters.c - the setters of pulp-nnx that fill a job descriptor. The package's runtime fills its own
 * (match_gap9_ne16_job.c); tests compare the two.
 *
 * They compute the same words as the published driver. What a caller may trip over:
 * - set_counters takes bottom and right padding off the valid input rows and columns. NE16 fills what is missing
 *   there with zero, not with the padding value: through set_dims a non-zero padding value holds at the top and left
 *   only. For a value everywhere, call set_counters with paddings 0 and set_padding with bottom and right each
 *   increased by what the last subtile lacks to 3 outputs ((3 - size % 3) % 3).
 * - set_dims and set_dims_stride2x2 set the padding value to 0.
 * - padding of 2 at the bottom or right is not right if the output has 4, 7, 10, ... rows or columns: the last but one
 *   subtile then reads a padding pixel as data.
 * - set_dims_stride2x2 halves the output strides (an odd one loses a byte). Padding of 2 at the bottom or right is
 *   wrong; so is padding right with one output column and fewer than 3 input columns, and padding bottom with
 *   3 input rows (padding top and left included), which drops a row of data.
 * The twin faults in these cases.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ne16_setters.h"

#include <string.h>

#include "match_twin.h"

static uint32_t tiles(uint32_t size, uint32_t tile) {
  if (size == 0u) {
    match_twin_fault("NE16: a size is 0");
  }
  return (size - 1u) / tile + 1u;
}

static uint32_t last_tile(uint32_t size, uint32_t tile) { return (size - 1u) % tile + 1u; }

static uint32_t halves(uint32_t high, uint32_t low) { return high << 16 | (low & 0xFFFFu); }

void ne16_task_init(ne16_task_t *task) { memset(task, 0, sizeof *task); }

void ne16_task_set_op_to_conv(ne16_task_t *task, const uint8_t kernel_shape, const uint8_t depthwise,
                              const uint8_t stride) {
  if ((kernel_shape != 1u && kernel_shape != 3u) || depthwise > 1u || (depthwise == 1u && kernel_shape == 1u) ||
      (stride != 1u && stride != 2u)) {
    match_twin_faultf("NE16: kernel %u, depthwise %u, stride %u", kernel_shape, depthwise, stride);
  }
  const uint32_t filter = depthwise == 1u ? NE16_FLAG_MODE_3x3_DW : NE16_FLAG_MODE_3x3;
  const uint32_t mode = kernel_shape == 1u ? NE16_FLAG_MODE_1x1 : filter;
  task->depthwise = depthwise;
  task->kernel_shape = kernel_shape;
  task->subtile_output_channel = depthwise == 1u ? NE16_SUBTILE_INPUT_CHANNEL : NE16_SUBTILE_OUTPUT_CHANNEL;
  task->data.cfg.conf0 &= ~(uint32_t)(NE16_MASK_FLAG_MODE | NE16_MASK_FLAG_STRIDE_2x2);
  task->data.cfg.conf0 |= mode | (stride == 2u ? (uint32_t)NE16_FLAG_STRIDE_2x2 : 0u);
}

void ne16_task_set_bits(ne16_task_t *task, const uint8_t input_bits, const uint8_t output_bits,
                        const uint8_t weight_bits) {
  if ((input_bits != 8u && input_bits != 16u) || weight_bits < 2u || weight_bits > 8u ||
      (output_bits != 8u && output_bits != 16u && output_bits != 32u)) {
    match_twin_faultf("NE16: %u input bits, %u output bits, %u weight bits", input_bits, output_bits, weight_bits);
  }
  const uint32_t activations = input_bits == 16u ? NE16_FLAG_MODE16 : NE16_FLAG_MODE_BASIC;
  const uint32_t outputs = output_bits == 16u ? quantMode16Bit : output_bits == 8u ? quantMode8Bit : quantMode32Bit;
  task->weight_d0_stride = input_bits == 16u ? NE16_WEIGHT_D0_STRIDE_MODE16 : NE16_WEIGHT_D0_STRIDE_MODE8;
  task->qw = weight_bits;
  task->data.cfg.conf0 &= ~(uint32_t)(NE16_MASK_QUANT_MODE | NE16_MASK_FLAG_MODE16 | NE16_MASK_FLAG_WEIGHT_BITS);
  task->data.cfg.conf0 |= outputs | activations | (uint32_t)(weight_bits - 1u);
}

void ne16_task_set_norm_quant(ne16_task_t *task, ne16_quant_t quant, ne16_norm_t norm) {
  if (quant.shift_amount > 31u) {
    match_twin_faultf("NE16: a shift by %u", quant.shift_amount);
  }
  task->data.cfg.conf0 &=
      ~(uint32_t)(NE16_MASK_QUANT_FUNCTION | NE16_MASK_SHIFT_AMOUNT | NE16_MASK_FLAG_ROUNDING | NE16_MASK_NORM_MODE |
                  NE16_MASK_FLAG_NORM_BIAS | NE16_MASK_FLAG_NORM_SHIFT);
  task->data.cfg.conf0 |= (uint32_t)NE16_FLAG_NORM_QUANT | (uint32_t)quant.function |
                          (uint32_t)quant.shift_amount << 16 |
                          (uint32_t)quant.flag_rounding << NE16_SHIFT_FLAG_ROUNDING | (uint32_t)norm.mode |
                          (uint32_t)norm.flag_bias << NE16_SHIFT_FLAG_NORM_BIAS |
                          (uint32_t)norm.flag_shift << NE16_SHIFT_FLAG_NORM_SHIFT;
}

void ne16_task_set_weight_offset(ne16_task_t *task, ne16_weight_offset_mode_e weight_offset_mode,
                                 const int32_t weight_offset) {
  task->data.cfg.conf0 &= ~(uint32_t)NE16_MASK_WEIGHT_OFFSET_MODE;
  task->data.cfg.conf0 |= (uint32_t)weight_offset_mode;
  task->data.cfg.weight_offset_factor = (uint32_t)weight_offset;
}

uint32_t ne16_pad_addr(uint32_t ptr, const uint32_t width, const uint32_t width_stride, const uint8_t padding_top,
                       const uint8_t padding_left) {
  return ptr - (padding_top * width + padding_left) * width_stride;
}

void ne16_task_set_addr_conv(ne16_task_t *task, uint32_t input_addr, uint32_t w_in, uint32_t w_in_stride,
                             uint8_t padding_top, uint8_t padding_left, uint32_t output_addr,
                             uint32_t weights_addr) {
  task->data.infeat_addr = ne16_pad_addr(input_addr, w_in, w_in_stride, padding_top, padding_left);
  task->data.outfeat_addr = output_addr;
  task->data.weights_addr = weights_addr;
}

void ne16_task_set_addr_norm_quant(ne16_task_t *task, uint32_t scale_addr, uint32_t shift_addr, uint32_t bias_addr) {
  task->data.scale_addr = scale_addr;
  task->data.scale_shift_addr = shift_addr;
  task->data.scale_bias_addr = bias_addr;
}

void ne16_task_set_strides(ne16_task_t *task, const uint32_t k_in, const uint32_t h_in_stride,
                           const uint32_t w_in_stride, const uint32_t h_out_stride, const uint32_t w_out_stride) {
  const uint32_t tiles_ki = tiles(k_in, NE16_SUBTILE_INPUT_CHANNEL);
  const uint32_t tap_bytes = task->weight_d0_stride;
  const uint32_t filter = (uint32_t)(NE16_FILTER_SIZE * NE16_FILTER_SIZE);
  ne16_cfg_t *cfg = &task->data.cfg;
  cfg->input_stride = (ne16_stride_t){.d0 = w_in_stride, .d1 = h_in_stride, .d2 = 0u};
  cfg->output_stride = (ne16_stride_t){.d0 = NE16_OUTPUT_BANDWIDTH_BYTES, .d1 = w_out_stride, .d2 = h_out_stride};
  if (task->kernel_shape == 1u) {
    cfg->weights_stride = (ne16_stride_t){.d0 = tap_bytes * task->qw, .d1 = tap_bytes * task->qw * tiles_ki, .d2 = 0u};
  } else {
    const uint32_t channel = task->depthwise != 0u ? 0u : filter * tap_bytes * task->qw * tiles_ki;
    cfg->weights_stride = (ne16_stride_t){.d0 = filter * tap_bytes, .d1 = channel, .d2 = 0u};
  }
}

void ne16_task_set_counters(ne16_task_t *task, const uint32_t k_in, const uint32_t h_out, const uint32_t w_out,
                            const uint32_t k_out, const uint8_t padding_bottom, const uint8_t padding_right) {
  const uint32_t side = NE16_SUBTILE_OUTPUT_HEIGHT, halo = task->kernel_shape == 1u ? 0u : 2u;
  const uint32_t rows = last_tile(h_out, side), columns = last_tile(w_out, side);
  if (rows + halo < padding_bottom || columns + halo < padding_right) {
    match_twin_fault("NE16: padding exceeds the last subtile");
  }
  task->data.cfg.subtile.number.KoKi =
      halves(tiles(k_out, task->subtile_output_channel), tiles(k_in, NE16_SUBTILE_INPUT_CHANNEL));
  task->data.cfg.subtile.number.HoWo = halves(tiles(h_out, side), tiles(w_out, side));
  task->data.cfg.subtile.remainder.KoKi =
      halves(last_tile(k_out, task->subtile_output_channel), last_tile(k_in, NE16_SUBTILE_INPUT_CHANNEL));
  task->data.cfg.subtile.remainder.HoWo = halves(rows, columns);
  task->data.cfg.subtile.remainder.HiWi = halves(rows + halo - padding_bottom, columns + halo - padding_right);
}

void ne16_task_set_padding(ne16_task_t *task, const uint8_t top, const uint8_t bottom, const uint8_t left,
                           const uint8_t right, const uint8_t value) {
  task->data.cfg.padding = (top & 0xFu) << 28 | (right & 0xFu) << 24 | (bottom & 0xFu) << 20 | (left & 0xFu) << 16 |
                           (uint32_t)value;
}

void ne16_task_set_mask_filter(ne16_task_t *task, const uint8_t top, const uint8_t bottom, const uint8_t left,
                               const uint8_t right) {
  task->data.cfg.filter_mask = (uint32_t)top << 24 | (uint32_t)right << 16 | (uint32_t)bottom << 8 | (uint32_t)left;
}

void ne16_task_set_dims(ne16_task_t *task, const uint32_t w_in, const uint32_t k_in, const uint32_t h_in_stride,
                        const uint32_t w_in_stride, const uint32_t h_out, const uint32_t w_out,
                        const uint32_t k_out, const uint32_t h_out_stride, const uint32_t w_out_stride,
                        const uint8_t padding_top, const uint8_t padding_bottom, const uint8_t padding_left,
                        const uint8_t padding_right) {
  (void)w_in;
  ne16_task_set_strides(task, k_in, h_in_stride, w_in_stride, h_out_stride, w_out_stride);
  ne16_task_set_counters(task, k_in, h_out, w_out, k_out, padding_bottom, padding_right);
  ne16_task_set_padding(task, padding_top, padding_bottom, padding_left, padding_right, 0u);
}

void ne16_task_set_dims_stride2x2(ne16_task_t *task, const uint32_t h_in, const uint32_t w_in, const uint32_t k_in,
                                  const uint32_t h_in_stride, const uint32_t w_in_stride, const uint32_t h_out,
                                  const uint32_t w_out, const uint32_t k_out, const uint32_t h_out_stride,
                                  const uint32_t w_out_stride, const uint8_t h_ker, const uint8_t w_ker,
                                  const uint8_t padding_top, const uint8_t padding_bottom,
                                  const uint8_t padding_left, const uint8_t padding_right) {
  if (h_out_stride % 2u != 0u || w_out_stride % 2u != 0u) {
    match_twin_faultf("NE16: stride 2 needs even output strides, not %u and %u", (unsigned)h_out_stride,
                      (unsigned)w_out_stride);
  }
  if (h_ker == 3u && (padding_bottom > 1u || padding_right > 1u ||
                      (padding_bottom == 1u && h_in + padding_top == 3u) ||
                      (padding_right == 1u && w_in + padding_left < 3u))) {
    match_twin_faultf("NE16: the driver pads stride 2 wrongly here (bottom %u of %u rows, right %u of %u columns)",
                      padding_bottom, (unsigned)(h_in + padding_top), padding_right, (unsigned)(w_in + padding_left));
  }
  ne16_task_set_strides(task, k_in, h_in_stride, w_in_stride, h_out_stride / 2u, w_out_stride / 2u);
  ne16_task_set_counters(task, k_in, h_out > 1u ? 3u : 1u, w_out > 1u ? 3u : 1u, k_out,
                         h_in + padding_top >= 5u ? 0u : padding_bottom, 0u);
  /* Padding that the last window does not reach is dropped. */
  const bool fits_y = (h_in + padding_top - h_ker) % 2u == 0u, fits_x = (w_in + padding_left - w_ker) % 2u == 0u;
  ne16_task_set_padding(task, padding_top, fits_y ? 0u : padding_bottom, padding_left, fits_x ? 0u : padding_right,
                        0u);
}
