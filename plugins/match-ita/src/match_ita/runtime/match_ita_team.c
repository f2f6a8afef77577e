/* match_ita_team.c - kernels on all compute cores. The DM core is no part of the team, so the cluster's hardware
 * barrier, which waits for all nine cores, is of no use here. SPDX-License-Identifier: Apache-2.0 */
#include "match_ita_team.h"

#include "match_ita_cluster.h"

/* Cycles on the twin; nothing on silicon. */
#ifndef MATCH_ITA_CHARGE_TEAM_LAUNCH
#define MATCH_ITA_CHARGE_TEAM_LAUNCH() ((void)0)
#define MATCH_ITA_CHARGE_TEAM_WAIT() ((void)0)
#define MATCH_ITA_CHARGE_BARRIER() ((void)0)
#endif

/* Written by core 0 before a barrier, read by the others behind it. */
MATCH_ITA_SHARED static struct {
    void (*entry)(void *);
    void *context;
} team;
/* Around kernels, and within them. */
MATCH_ITA_SHARED static snrt_barrier_t around, within;

static void meet(void)
{
    snrt_partial_barrier(&around, match_ita_cores());
}

uint32_t match_ita_core(void)
{
    return snrt_cluster_core_idx();
}

uint32_t match_ita_cores(void)
{
    return snrt_cluster_compute_core_num();
}

void match_ita_barrier(void)
{
    MATCH_ITA_CHARGE_BARRIER();
    snrt_partial_barrier(&within, match_ita_cores());
}

/* ---- core 0 leads ----------------------------------------------------------------------------------------------- */

void match_ita_lead(void (*entry)(void *), void *context)
{
    team.entry = entry;
    team.context = context;
    meet();
    entry(context);
    meet();
}

void match_ita_follow(void)
{
    meet();
    team.entry(team.context);
    meet();
}

/* ---- whoever launches ------------------------------------------------------------------------------------------- */

void match_ita_team_launch(void (*entry)(void *), const void *context)
{
    void *const argument = (void *)(uintptr_t)context;
    MATCH_ITA_CHARGE_TEAM_LAUNCH();
    if (snrt_is_dm_core() != 0) {
        match_ita_give(&match_ita_lead_desk, MATCH_ITA_ORDER_KERNEL, entry, argument);
    } else {
        match_ita_lead(entry, argument);
        MATCH_ITA_CHARGE_TEAM_WAIT();
    }
}

void match_ita_team_wait(void)
{
    match_ita_await(&match_ita_lead_desk);
    MATCH_ITA_CHARGE_TEAM_WAIT();
}
