/* match_gap9_charge.h - cycle hooks for the kernels in runtime/; on silicon the macros are empty.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_GAP9_TWIN_CHARGE_H
#define MATCH_GAP9_TWIN_CHARGE_H

#include <stdint.h>

void match_gap9_twin_charge_add_requant(uint32_t n);
void match_gap9_twin_charge_requant(uint32_t n);
void match_gap9_twin_charge_quantize(uint32_t n);
void match_gap9_twin_charge_transpose(uint32_t pixels, uint32_t channels);
void match_gap9_twin_charge_pool(uint32_t out_y, uint32_t out_x, uint32_t channels, uint32_t kernel_y,
                                 uint32_t kernel_x, int requant);
void match_gap9_twin_charge_wide_requant(uint32_t pixels, uint32_t channels, uint32_t shift);
void match_gap9_twin_charge_wide_conv(uint32_t pixels, uint32_t k, uint32_t c, uint32_t kernel_y, uint32_t kernel_x,
                                      int direct, uint32_t shift);
void match_gap9_twin_charge_wide_depthwise(uint32_t out_y, uint32_t out_x, uint32_t k, uint32_t kernel_y,
                                           uint32_t kernel_x, uint32_t stride_x, uint32_t shift);
void match_gap9_twin_charge_team_lead(void);
int match_gap9_twin_look_again(void);
void match_gap9_twin_charge_ne16_words(void);
void match_gap9_twin_charge_ne16_rows(void);

#define MATCH_GAP9_CHARGE_ADD_REQUANT(n) match_gap9_twin_charge_add_requant(n)
#define MATCH_GAP9_CHARGE_REQUANT(n) match_gap9_twin_charge_requant(n)
#define MATCH_GAP9_CHARGE_QUANTIZE(n) match_gap9_twin_charge_quantize(n)
#define MATCH_GAP9_CHARGE_TRANSPOSE(pixels, channels) match_gap9_twin_charge_transpose(pixels, channels)
#define MATCH_GAP9_CHARGE_POOL(out_y, out_x, channels, kernel_y, kernel_x, requant) \
  match_gap9_twin_charge_pool(out_y, out_x, channels, kernel_y, kernel_x, requant)
#define MATCH_GAP9_CHARGE_WIDE_REQUANT(pixels, channels, shift) \
  match_gap9_twin_charge_wide_requant(pixels, channels, shift)
#define MATCH_GAP9_CHARGE_WIDE_CONV(pixels, k, c, kernel_y, kernel_x, direct, shift) \
  match_gap9_twin_charge_wide_conv(pixels, k, c, kernel_y, kernel_x, direct, shift)
#define MATCH_GAP9_CHARGE_WIDE_DEPTHWISE(out_y, out_x, k, kernel_y, kernel_x, stride_x, shift) \
  match_gap9_twin_charge_wide_depthwise(out_y, out_x, k, kernel_y, kernel_x, stride_x, shift)
#define MATCH_GAP9_CHARGE_TEAM_LEAD() match_gap9_twin_charge_team_lead()
#define MATCH_GAP9_LOOK_AGAIN() match_gap9_twin_look_again()
#define MATCH_GAP9_CHARGE_NE16_WORDS() match_gap9_twin_charge_ne16_words()
#define MATCH_GAP9_CHARGE_NE16_ROWS() match_gap9_twin_charge_ne16_rows()

#endif
