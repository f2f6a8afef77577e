/* match_snitch_rows_kernels.h - kernels of the Snitch cluster that work on rows and elements. Each hands a tile to the
 * eight cores; what it computes stands in the package's snitch_rows/interfaces.py. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_SNITCH_ROWS_KERNELS_H
#define MATCH_SNITCH_ROWS_KERNELS_H

#include "match_snitch_add.h"
#include "match_snitch_add_requant.h"
#include "match_snitch_add_requant_twice.h"
#include "match_snitch_concat.h"
#include "match_snitch_concat_three.h"
#include "match_snitch_copy.h"
#include "match_snitch_gather.h"
#include "match_snitch_integer_norm.h"
#include "match_snitch_layernorm.h"
#include "match_snitch_lut.h"
#include "match_snitch_offset_each.h"
#include "match_snitch_pad.h"
#include "match_snitch_requant.h"
#include "match_snitch_requant_twice.h"
#include "match_snitch_sum.h"
#include "match_snitch_sum_add.h"
#include "match_snitch_sum_three.h"
#include "match_snitch_transpose.h"
#include "match_snitch_windows.h"

void match_snitch_add(const match_snitch_add_t *tile);
void match_snitch_add_requant(const match_snitch_add_requant_t *tile);
void match_snitch_add_requant_twice(const match_snitch_add_requant_twice_t *tile);
void match_snitch_concat(const match_snitch_concat_t *tile);
void match_snitch_concat_three(const match_snitch_concat_three_t *tile);
void match_snitch_copy(const match_snitch_copy_t *tile);
void match_snitch_gather(const match_snitch_gather_t *tile);
void match_snitch_integer_norm(const match_snitch_integer_norm_t *tile);
void match_snitch_layernorm(const match_snitch_layernorm_t *tile);
void match_snitch_lut(const match_snitch_lut_t *tile);
void match_snitch_offset_each(const match_snitch_offset_each_t *tile);
void match_snitch_pad(const match_snitch_pad_t *tile);
void match_snitch_requant(const match_snitch_requant_t *tile);
void match_snitch_requant_twice(const match_snitch_requant_twice_t *tile);
void match_snitch_sum(const match_snitch_sum_t *tile);
void match_snitch_sum_add(const match_snitch_sum_add_t *tile);
void match_snitch_sum_three(const match_snitch_sum_three_t *tile);
void match_snitch_transpose(const match_snitch_transpose_t *tile);
void match_snitch_windows(const match_snitch_windows_t *tile);

#endif
