/* match_carfield_int8.h - the 8-bit kernels of the PULP cluster. Core 0 calls them; they return when the tile is done.
 * What they compute stands in the package's int8/interfaces.py. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_CARFIELD_INT8_H
#define MATCH_CARFIELD_INT8_H

#include "match_int8_add.h"
#include "match_int8_conv2d.h"
#include "match_int8_depthwise2d.h"
#include "match_int8_linear.h"
#include "match_int8_pool2d.h"
#include "match_int8_transpose.h"

void match_carfield_pulp_int8_conv2d(const match_int8_conv2d_t *tile);
void match_carfield_pulp_int8_linear(const match_int8_linear_t *tile);
void match_carfield_pulp_int8_depthwise2d(const match_int8_depthwise2d_t *tile);
void match_carfield_pulp_int8_pool2d(const match_int8_pool2d_t *tile);
void match_carfield_pulp_int8_add(const match_int8_add_t *tile);
void match_carfield_pulp_int8_transpose(const match_int8_transpose_t *tile);

#endif
