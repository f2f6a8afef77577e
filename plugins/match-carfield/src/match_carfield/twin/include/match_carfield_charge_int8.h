/* match_carfield_charge_int8.h - cycles of the 8-bit kernels on the twin. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_CARFIELD_CHARGE_INT8_H
#define MATCH_CARFIELD_CHARGE_INT8_H

#include "match_int8_add.h"
#include "match_int8_conv2d.h"
#include "match_int8_depthwise2d.h"
#include "match_int8_linear.h"
#include "match_int8_pool2d.h"
#include "match_int8_transpose.h"

void match_carfield_twin_pulp_int8_conv2d(const match_int8_conv2d_t *tile);
void match_carfield_twin_pulp_int8_linear(const match_int8_linear_t *tile);
void match_carfield_twin_pulp_int8_depthwise2d(const match_int8_depthwise2d_t *tile);
void match_carfield_twin_pulp_int8_pool2d(const match_int8_pool2d_t *tile);
void match_carfield_twin_pulp_int8_add(const match_int8_add_t *tile);
void match_carfield_twin_pulp_int8_transpose(const match_int8_transpose_t *tile);

#endif
