/* match_carfield_half_kernels.h - the binary16 kernels of the clusters. A cluster's core 0 calls them; they return when
 * the tile is done. What they compute stands in the package's interfaces.py; both clusters give the same bits.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_CARFIELD_HALF_KERNELS_H
#define MATCH_CARFIELD_HALF_KERNELS_H

#include "match_half_add.h"
#include "match_half_conv2d.h"
#include "match_half_depthwise2d.h"
#include "match_half_gelu.h"
#include "match_half_group2d.h"
#include "match_half_layernorm.h"
#include "match_half_linear.h"
#include "match_half_matmul.h"
#include "match_half_pool2d.h"
#include "match_half_softmax.h"
#include "match_half_transpose.h"

/* ---- the eight cores of the PULP cluster ----------------------------------------------------------------------- */

void match_carfield_pulp_conv2d(const match_half_conv2d_t *tile);
void match_carfield_pulp_group2d(const match_half_group2d_t *tile);
void match_carfield_pulp_depthwise2d(const match_half_depthwise2d_t *tile);
void match_carfield_pulp_linear(const match_half_linear_t *tile);
void match_carfield_pulp_matmul(const match_half_matmul_t *tile);
void match_carfield_pulp_pool2d(const match_half_pool2d_t *tile);
void match_carfield_pulp_add(const match_half_add_t *tile);
void match_carfield_pulp_softmax(const match_half_softmax_t *tile);
void match_carfield_pulp_layernorm(const match_half_layernorm_t *tile);
void match_carfield_pulp_gelu(const match_half_gelu_t *tile);
void match_carfield_pulp_transpose(const match_half_transpose_t *tile);

/* What each core does to the right operand of a product with `b_transposed`, which becomes [B][C][K] in scratch. */
void match_carfield_pulp_turn(void *tile);
void match_carfield_spatz_turn(void *tile);

/* ---- RedMulE, with the cores before and behind it --------------------------------------------------------------
 * C is a multiple of 4; rows of pixels and of operands are dense: a horizontal stride of 1, no batch between. */

void match_carfield_redmule_conv2d(const match_half_conv2d_t *tile);
void match_carfield_redmule_linear(const match_half_linear_t *tile);
void match_carfield_redmule_matmul(const match_half_matmul_t *tile);

/* ---- the two cores of the Spatz cluster ------------------------------------------------------------------------ */

void match_carfield_spatz_conv2d(const match_half_conv2d_t *tile);
void match_carfield_spatz_group2d(const match_half_group2d_t *tile);
void match_carfield_spatz_depthwise2d(const match_half_depthwise2d_t *tile);
void match_carfield_spatz_linear(const match_half_linear_t *tile);
void match_carfield_spatz_matmul(const match_half_matmul_t *tile);
void match_carfield_spatz_pool2d(const match_half_pool2d_t *tile);
void match_carfield_spatz_add(const match_half_add_t *tile);
void match_carfield_spatz_softmax(const match_half_softmax_t *tile);
void match_carfield_spatz_layernorm(const match_half_layernorm_t *tile);
void match_carfield_spatz_gelu(const match_half_gelu_t *tile);
void match_carfield_spatz_transpose(const match_half_transpose_t *tile);

#endif
