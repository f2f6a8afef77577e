/* SPDX-License-Identifier: Apache-2.0 */
/* match_gap9_profile.c - the hooks of ${name}_port.h on PMSIS' cycle counter.
 *
 * Nodes begin and end on the fabric controller, whose counter goes on while it sleeps. Its clock need not be the
 * cluster's: set both alike before comparing. */
#include "match_gap9_profile.h"

#include "pmsis.h"
#include "${name}_port.h"

static uint32_t cycles[MATCH_GAP9_PROFILE_NODES];

static uint32_t now(void)
{
    return (uint32_t)pi_perf_read(PI_PERF_CYCLES);
}

void match_gap9_profile_start(void)
{
    for (uint32_t node = 0u; node < MATCH_GAP9_PROFILE_NODES; node++) {
        cycles[node] = 0u;
    }
    pi_perf_conf(1u << PI_PERF_CYCLES);
    pi_perf_reset();
    pi_perf_start();
}

uint32_t match_gap9_profile_total(void)
{
    return now();
}

uint32_t match_gap9_profile_cycles(uint32_t node)
{
    return (node < MATCH_GAP9_PROFILE_NODES) ? cycles[node] : 0u;
}

#ifdef MATCH_PROFILE
% if beside:
/* Nodes run side by side on cores that have counters of their own: only the run is counted. */
void match_profile_begin(unsigned int node)
{
    (void)node;
}

void match_profile_end(unsigned int node)
{
    (void)node;
}
% else:
static uint32_t began;

void match_profile_begin(unsigned int node)
{
    (void)node;
    began = now();
}

void match_profile_end(unsigned int node)
{
    if (node < MATCH_GAP9_PROFILE_NODES) {
        cycles[node] += now() - began;
    }
}
% endif
#endif
