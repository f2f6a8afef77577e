/* match_ita_host.c - the host's side of sequential programs. SPDX-License-Identifier: Apache-2.0 */
#include "match_ita_api.h"
#include "match_ita_cluster.h"

/* What the port does to bring the cluster's cores into match_ita_run; 0 on success. */
#ifndef MATCH_ITA_POWER_UP
#define MATCH_ITA_POWER_UP() 0
#define MATCH_ITA_POWER_DOWN() ((void)0)
#endif

static uint32_t users;

int match_ita_start(void)
{
    if ((users == 0u) && (MATCH_ITA_POWER_UP() != 0)) {
        return -1;
    }
    users++;
    return 0;
}

void match_ita_stop(void)
{
    if (users > 0u) {
        users--;
        if (users == 0u) {
            MATCH_ITA_POWER_DOWN();
        }
    }
}

int match_ita_call(void (*entry)(void *), void *argument)
{
    match_ita_give(&match_ita_dm_desk, MATCH_ITA_ORDER_CALL, entry, argument);
    match_ita_await(&match_ita_dm_desk);
    return 0;
}
