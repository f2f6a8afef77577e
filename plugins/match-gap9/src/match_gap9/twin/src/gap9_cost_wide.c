/* gap9_cost_wide.c - what the cores cost in the kernels with 64-bit requantisation, as match_gap9.formulas_wide.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gap9_twin.h"

static uint64_t ceil_div(uint64_t size, uint64_t divisor) { return (size + divisor - 1u) / divisor; }

static uint64_t per_output(uint32_t shift) {
  return shift >= 32u ? MATCH_GAP9_WIDE_REQUANT_CYCLES : MATCH_GAP9_WIDE_REQUANT_LOW_CYCLES;
}

static uint64_t touched(uint64_t pixels, uint64_t k, uint64_t outputs) {
  const uint64_t parts = k % outputs == 0u ? 1u : (outputs - 2u) / k + 2u;
  const uint64_t count = outputs % k == 0u ? outputs / k : parts;
  return count < pixels ? count : pixels;
}

uint64_t gap9_cost_wide_requant(uint32_t elements, uint32_t shift) {
  return ceil_div(elements, MATCH_GAP9_CORE_COUNT) * per_output(shift);
}

uint64_t gap9_cost_wide_conv(uint32_t pixels, uint32_t k, uint32_t taps, bool direct, uint32_t shift) {
  const uint64_t outputs = ceil_div((uint64_t)pixels * k, MATCH_GAP9_CORE_COUNT);
  const uint64_t macs = outputs * ceil_div(taps, MATCH_GAP9_SIMD_VALUES) * MATCH_GAP9_SIMD_VALUES;
  const uint64_t gather = direct ? 0u : (uint64_t)taps * MATCH_GAP9_WIDE_GATHER_BYTE_CYCLES;
  return touched(pixels, k, outputs) * (MATCH_GAP9_WIDE_PIXEL_CYCLES + gather) + outputs * per_output(shift) +
         ceil_div(macs * MATCH_GAP9_WIDE_DOT_CENTICYCLES, 100u);
}

uint64_t gap9_cost_wide_depthwise(uint32_t pixels, uint32_t k, uint32_t kernel_y, uint32_t kernel_x, uint32_t shift) {
  const uint64_t outputs = ceil_div((uint64_t)pixels * k, MATCH_GAP9_CORE_COUNT);
  const uint64_t row = (uint64_t)kernel_x * MATCH_GAP9_WIDE_DEPTHWISE_TAP_CYCLES + MATCH_GAP9_WIDE_DEPTHWISE_ROW_CYCLES;
  const uint64_t output = kernel_y * row + MATCH_GAP9_WIDE_DEPTHWISE_OUTPUT_CYCLES + per_output(shift);
  return touched(pixels, k, outputs) * MATCH_GAP9_WIDE_PIXEL_CYCLES + outputs * output;
}
