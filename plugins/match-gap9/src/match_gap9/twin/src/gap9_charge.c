/* gap9_charge.c - cycles of the package's own kernels. SPDX-License-Identifier: Apache-2.0 */
#include "gap9_twin.h"
#include "match_gap9_charge.h"
#include "match_twin_context.h"

void match_gap9_twin_charge_add_requant(uint32_t n) {
  (void)gap9_enter_kernel("match_gap9_add_requant", gap9_cost_own_add(n));
}

void match_gap9_twin_charge_requant(uint32_t n) {
  (void)gap9_enter_kernel("match_gap9_requant_u8", gap9_cost_own_requant(n));
}

void match_gap9_twin_charge_quantize(uint32_t n) {
  (void)gap9_enter_kernel("match_gap9_quantize", gap9_cost_own_quantize(n));
}

void match_gap9_twin_charge_transpose(uint32_t pixels, uint32_t channels) {
  (void)gap9_enter_kernel("match_gap9_hwc_to_chw", gap9_cost_own_transpose(pixels, channels));
}

void match_gap9_twin_charge_pool(uint32_t out_y, uint32_t out_x, uint32_t channels, uint32_t kernel_y,
                                 uint32_t kernel_x, int requant) {
  const gap9_conv_shape_t shape = {
      .out_y = out_y, .out_x = out_x, .k_out = channels, .kernel_y = kernel_y, .kernel_x = kernel_x};
  (void)gap9_enter_kernel(requant != 0 ? "match_gap9_avgpool_requant" : "match_gap9_maxpool",
                          gap9_cost_own_pool(&shape, requant != 0));
}

/* By the whole team, or by the controller alone. */
void match_gap9_twin_charge_wide_requant(uint32_t pixels, uint32_t channels, uint32_t shift) {
  if (gap9_in_team()) {
    const uint64_t cycles = gap9_cost_wide_requant(pixels, channels, shift, MATCH_GAP9_CORE_COUNT);
    (void)gap9_enter_kernel("match_gap9_wide_requant", cycles);
  } else {
    match_twin_spend_kind(gap9_clock(), gap9_cost_wide_requant(pixels, channels, shift, 1u), "match_gap9_wide_requant");
  }
}

void match_gap9_twin_charge_wide_conv(uint32_t pixels, uint32_t k, uint32_t c, uint32_t kernel_y, uint32_t kernel_x,
                                      int direct, uint32_t shift) {
  const gap9_conv_shape_t shape = {
      .out_y = pixels, .out_x = 1u, .k_out = k, .c_in = c, .kernel_y = kernel_y, .kernel_x = kernel_x};
  (void)gap9_enter_kernel("match_gap9_wide_conv", gap9_cost_wide_conv(&shape, direct != 0, shift));
}

void match_gap9_twin_charge_wide_depthwise(uint32_t out_y, uint32_t out_x, uint32_t k, uint32_t kernel_y,
                                           uint32_t kernel_x, uint32_t stride_x, uint32_t shift) {
  const gap9_conv_shape_t shape = {
      .out_y = out_y, .out_x = out_x, .k_out = k, .kernel_y = kernel_y, .kernel_x = kernel_x};
  (void)gap9_enter_kernel("match_gap9_wide_depthwise", gap9_cost_wide_depthwise(&shape, stride_x, shift));
}

void match_gap9_twin_charge_team_lead(void) {
  match_twin_spend_kind(gap9_clock(), MATCH_GAP9_TEAM_LEAD_CYCLES, "lead team");
}

int match_gap9_twin_look_again(void) { return match_twin_relax_bounded(); }

/* By whichever core fills the words: the controller or a worker. */
void match_gap9_twin_charge_ne16_words(void) {
  match_twin_spend_kind(gap9_clock(), MATCH_GAP9_NE16_WORDS_CYCLES, "ne16 words");
}

void match_gap9_twin_charge_ne16_rows(void) {
  match_twin_spend_kind(gap9_clock(), MATCH_GAP9_NE16_ROWS_CYCLES, "ne16 words");
}
