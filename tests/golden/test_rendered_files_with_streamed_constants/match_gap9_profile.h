/* SPDX-License-Identifier: Apache-2.0 */
/* match_gap9_profile.h - cycles of each node of net, counted with MATCH_PROFILE. */
#ifndef MATCH_GAP9_PROFILE_H
#define MATCH_GAP9_PROFILE_H

#include <stdint.h>

#define MATCH_GAP9_PROFILE_NODES 4u

/* Starts the counter; without MATCH_PROFILE nothing is counted. */
void match_gap9_profile_start(void);
/* Cycles since the start. */
uint32_t match_gap9_profile_total(void);
/* Cycles of all runs of a node since the start. */
uint32_t match_gap9_profile_cycles(uint32_t node);

#endif
