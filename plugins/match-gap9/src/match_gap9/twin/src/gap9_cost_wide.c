/* gap9_cost_wide.c - what the cores cost in the kernels with 64-bit requantisation, as match_gap9.formulas_wide.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gap9_twin.h"

static uint64_t ceil_div(uint64_t size, uint64_t divisor) { return (size + divisor - 1u) / divisor; }

static uint64_t per_output(uint32_t shift) {
  return shift >= 32u ? MATCH_GAP9_WIDE_REQUANT_CYCLES : MATCH_GAP9_WIDE_REQUANT_LOW_CYCLES;
}

/* Of rows of `size` items each, how many a core's contiguous items lie in, at most. */
static uint64_t touched(uint64_t rows, uint64_t size, uint64_t items) {
  const uint64_t parts = size % items == 0u ? 1u : (items - 2u) / size + 2u;
  const uint64_t count = items % size == 0u ? items / size : parts;
  return count < rows ? count : rows;
}

uint64_t gap9_cost_wide_requant(uint32_t pixels, uint32_t channels, uint32_t shift, uint32_t cores) {
  const uint64_t outputs = ceil_div((uint64_t)pixels * channels, cores);
  if (pixels < MATCH_GAP9_WIDE_REQUANT_FEW_PIXELS) {
    return MATCH_GAP9_WIDE_REQUANT_CALL_CYCLES + outputs * per_output(shift);
  }
  return MATCH_GAP9_WIDE_REQUANT_CALL_CYCLES +
         touched(channels, pixels, outputs) * MATCH_GAP9_WIDE_REQUANT_CHANNEL_CYCLES +
         outputs * (per_output(shift) - MATCH_GAP9_WIDE_REQUANT_KEPT_LOADS);
}

/* Copying a pixel's window. */
static uint64_t gather(const gap9_conv_shape_t *s) {
  const uint64_t bytes = (uint64_t)s->kernel_x * s->c_in;
  uint64_t row = MATCH_GAP9_WIDE_GATHER_CALL_CYCLES + bytes * MATCH_GAP9_WIDE_GATHER_BYTE_CYCLES;
  if (s->c_in % MATCH_GAP9_SIMD_VALUES == 0u) {
    row = bytes / MATCH_GAP9_SIMD_VALUES * MATCH_GAP9_WIDE_GATHER_STEP_CYCLES;
  } else if (bytes < MATCH_GAP9_WIDE_GATHER_SHORT_BYTES) {
    row = bytes * MATCH_GAP9_WIDE_GATHER_STEP_CYCLES;
  }
  return MATCH_GAP9_WIDE_GATHER_PIXEL_CYCLES + s->kernel_y * (MATCH_GAP9_WIDE_GATHER_ROW_CYCLES + row);
}

uint64_t gap9_cost_wide_conv(const gap9_conv_shape_t *s, bool direct, uint32_t shift) {
  const uint64_t pixels = (uint64_t)s->out_y * s->out_x, taps = (uint64_t)s->kernel_y * s->kernel_x * s->c_in;
  const uint64_t quads = ceil_div(s->k_out, MATCH_GAP9_CONV_CHANNELS);
  const uint64_t ones = ceil_div(pixels * quads, MATCH_GAP9_CORE_COUNT);
  const uint64_t twos = ceil_div(ceil_div(pixels, MATCH_GAP9_CONV_PIXELS) * quads, MATCH_GAP9_CORE_COUNT);
  const bool paired = 3u * twos < 2u * ones;
  const uint64_t side = paired ? MATCH_GAP9_CONV_PIXELS : 1u, blocks = paired ? twos : ones;
  const uint64_t step = paired ? MATCH_GAP9_CONV_BLOCK_LOADS + MATCH_GAP9_CONV_BLOCK_MACS
                               : MATCH_GAP9_WIDE_SINGLE_LOADS + MATCH_GAP9_WIDE_SINGLE_MACS;
  const uint64_t block = MATCH_GAP9_WIDE_BLOCK_CYCLES + step * ceil_div(taps, MATCH_GAP9_SIMD_VALUES) +
                         side * MATCH_GAP9_CONV_CHANNELS * per_output(shift);
  const uint64_t pixel = MATCH_GAP9_WIDE_PIXEL_CYCLES + (direct ? 0u : gather(s));
  return MATCH_GAP9_WIDE_CALL_CYCLES + touched(ceil_div(pixels, side), quads, blocks) * side * pixel + blocks * block;
}

/* 3x3 kernels: along rows. */
static uint64_t depthwise_rows(const gap9_conv_shape_t *s, uint32_t stride_x, uint32_t shift) {
  const uint64_t lines = ceil_div((uint64_t)s->out_y * s->k_out, MATCH_GAP9_CORE_COUNT);
  const uint64_t window = stride_x == 1u   ? MATCH_GAP9_WIDE_ROW_STRIDE1_CYCLES
                          : stride_x == 2u ? MATCH_GAP9_WIDE_ROW_STRIDE2_CYCLES
                                           : MATCH_GAP9_WIDE_ROW_STRIDE3_CYCLES;
  return touched(s->k_out, s->out_y, lines) * MATCH_GAP9_WIDE_ROW_CHANNEL_CYCLES +
         lines * (MATCH_GAP9_WIDE_ROW_CYCLES + s->out_x * (window + per_output(shift)));
}

/* Other kernels: pixel after pixel. */
static uint64_t depthwise_pixels(const gap9_conv_shape_t *s, uint32_t shift) {
  const uint64_t pixels = (uint64_t)s->out_y * s->out_x;
  const uint64_t outputs = ceil_div(pixels * s->k_out, MATCH_GAP9_CORE_COUNT);
  const uint64_t row =
      (uint64_t)s->kernel_x * MATCH_GAP9_WIDE_DEPTHWISE_TAP_CYCLES + MATCH_GAP9_WIDE_DEPTHWISE_ROW_CYCLES;
  const uint64_t output = s->kernel_y * row + MATCH_GAP9_WIDE_DEPTHWISE_OUTPUT_CYCLES + per_output(shift);
  return touched(pixels, s->k_out, outputs) * MATCH_GAP9_WIDE_DEPTHWISE_PIXEL_CYCLES + outputs * output;
}

uint64_t gap9_cost_wide_depthwise(const gap9_conv_shape_t *shape, uint32_t stride_x, uint32_t shift) {
  const bool by_rows = shape->kernel_y == 3u && shape->kernel_x == 3u;
  return MATCH_GAP9_WIDE_CALL_CYCLES +
         (by_rows ? depthwise_rows(shape, stride_x, shift) : depthwise_pixels(shape, shift));
}
