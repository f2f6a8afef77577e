/* match_carfield_charge.h - cycles of kernels on the twin: what each kernel calls first.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_CARFIELD_CHARGE_H
#define MATCH_CARFIELD_CHARGE_H

#include "match_carfield_charge_int8.h"
#include "match_carfield_half_kernels.h"

#define MATCH_CARFIELD_CHARGE(kernel, tile) match_carfield_twin_##kernel(tile)

void match_carfield_twin_pulp_conv2d(const match_half_conv2d_t *tile);
void match_carfield_twin_pulp_group2d(const match_half_group2d_t *tile);
void match_carfield_twin_pulp_depthwise2d(const match_half_depthwise2d_t *tile);
void match_carfield_twin_pulp_linear(const match_half_linear_t *tile);
void match_carfield_twin_pulp_matmul(const match_half_matmul_t *tile);
void match_carfield_twin_pulp_pool2d(const match_half_pool2d_t *tile);
void match_carfield_twin_pulp_add(const match_half_add_t *tile);
void match_carfield_twin_pulp_softmax(const match_half_softmax_t *tile);
void match_carfield_twin_pulp_layernorm(const match_half_layernorm_t *tile);
void match_carfield_twin_pulp_gelu(const match_half_gelu_t *tile);
void match_carfield_twin_pulp_transpose(const match_half_transpose_t *tile);

void match_carfield_twin_spatz_conv2d(const match_half_conv2d_t *tile);
void match_carfield_twin_spatz_group2d(const match_half_group2d_t *tile);
void match_carfield_twin_spatz_depthwise2d(const match_half_depthwise2d_t *tile);
void match_carfield_twin_spatz_linear(const match_half_linear_t *tile);
void match_carfield_twin_spatz_matmul(const match_half_matmul_t *tile);
void match_carfield_twin_spatz_pool2d(const match_half_pool2d_t *tile);
void match_carfield_twin_spatz_add(const match_half_add_t *tile);
void match_carfield_twin_spatz_softmax(const match_half_softmax_t *tile);
void match_carfield_twin_spatz_layernorm(const match_half_layernorm_t *tile);
void match_carfield_twin_spatz_gelu(const match_half_gelu_t *tile);
void match_carfield_twin_spatz_transpose(const match_half_transpose_t *tile);

void match_carfield_twin_redmule_conv2d(const match_half_conv2d_t *tile);
void match_carfield_twin_redmule_linear(const match_half_linear_t *tile);
void match_carfield_twin_redmule_matmul(const match_half_matmul_t *tile);

#endif
