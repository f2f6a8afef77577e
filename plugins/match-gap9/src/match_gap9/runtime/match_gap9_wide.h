/* match_gap9_wide.h - kernels that requantise with 64-bit products: clip((sum * M + B) >> S, 0, 255).
 *
 * The contexts are those of the 32-bit kernels, but `addend` points to int64_t: one B per output channel, M stays
 * int32_t (0 to 2^31 - 1), S is 0 to 62, and sum * M + B does not leave int64_t. The shift is arithmetic (floor).
 * Activations are uint8_t, HWC; padding has any value.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_GAP9_WIDE_H
#define MATCH_GAP9_WIDE_H

#include "match_conv2d.h"
#include "match_depthwise2d.h"
#include "match_linear.h"

/* All launches return at once; match_gap9_team_wait of match_gap9_api.h returns when the tile is done. */

/* ---- on the cores alone ----------------------------------------------------------------------------------------
 * Weights are int8_t: (K, FY, FX, C) for conv2d and (K, C) for linear, each K's row filled up with zeros to a multiple
 * of 4 bytes; (K, FY, FX) for depthwise. Rows and scratch (conv2d, linear: two such rows' bytes for each core) begin at
 * multiples of 4. */

void match_gap9_wide_conv2d(const match_conv2d_t *tile);
void match_gap9_wide_depthwise(const match_depthwise2d_t *tile);
void match_gap9_wide_linear(const match_linear_t *tile);

/* ---- NE16 computes 32-bit sums into scratch (4 bytes per output), the cores requantise them --------------------
 * Weights are as NE16 reads them. */

void match_gap9_ne16_wide_conv3x3(const match_conv2d_t *tile);
void match_gap9_ne16_wide_conv1x1(const match_conv2d_t *tile);
void match_gap9_ne16_wide_depthwise(const match_depthwise2d_t *tile);
void match_gap9_ne16_wide_linear(const match_linear_t *tile);

#endif
