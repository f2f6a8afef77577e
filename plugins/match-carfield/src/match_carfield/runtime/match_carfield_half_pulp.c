/* match_carfield_half_pulp.c - binary16 kernels on the eight cores of the PULP cluster, vectors of two pairs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_carfield_pulp.h"

#define MATCH_CARFIELD_KERNEL(name) match_carfield_pulp_##name
#define MATCH_CARFIELD_TEAM(entry, tile) match_carfield_pulp_team(entry, tile)
#define MATCH_CARFIELD_CORE ((uint32_t)rt_core_id())
#define MATCH_CARFIELD_CORES ((uint32_t)get_core_num())
#define MATCH_CARFIELD_BEGIN(name, tile) MATCH_CARFIELD_CHARGE(pulp_##name, tile)
#define MATCH_CARFIELD_LANES 4u
#define MATCH_CARFIELD_LANES_MIN 4u

#include "match_carfield_half_layers.h"
#ifndef MATCH_CARFIELD_FLOAT32
#include "match_carfield_half_rows.h"
#endif
