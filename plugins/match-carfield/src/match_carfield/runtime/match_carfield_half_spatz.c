/* match_carfield_half_spatz.c - binary16 kernels on the two cores of the Spatz cluster, vectors of four registers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_carfield_spatz.h"

#define MATCH_CARFIELD_KERNEL(name) match_carfield_spatz_##name
#define MATCH_CARFIELD_TEAM(entry, tile) match_carfield_spatz_team(entry, tile)
#define MATCH_CARFIELD_CORE ((uint32_t)snrt_cluster_core_idx())
#define MATCH_CARFIELD_CORES ((uint32_t)snrt_cluster_core_num())
#define MATCH_CARFIELD_BEGIN(name, tile) MATCH_CARFIELD_CHARGE(spatz_##name, tile)
/* Numbers in four registers of 512 bits; what the four units of a core add up in one cycle. */
#ifdef MATCH_CARFIELD_FLOAT32
#define MATCH_CARFIELD_LANES 64u
#define MATCH_CARFIELD_LANES_MIN 8u
#else
#define MATCH_CARFIELD_LANES 128u
#define MATCH_CARFIELD_LANES_MIN 16u
#endif

#include "match_carfield_half_layers.h"
#ifndef MATCH_CARFIELD_FLOAT32
#include "match_carfield_half_rows.h"
#endif
