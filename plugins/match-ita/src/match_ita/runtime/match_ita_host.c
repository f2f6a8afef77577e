/* match_ita_host.c - the host's side of sequential programs. The port has started the cluster before: its cores are
 * in match_ita_run, and there is nothing to switch on or off. SPDX-License-Identifier: Apache-2.0 */
#include "match_ita_api.h"
#include "match_ita_cluster.h"

int match_ita_start(void)
{
    return 0;
}

void match_ita_stop(void)
{
}

/* Looks at a layer's end until it is given up: an estimate, 80 s at 10 cycles a look and 500 MHz. */
#ifndef MATCH_ITA_CALL_LOOKS
#define MATCH_ITA_CALL_LOOKS 4000000000u
#endif

int match_ita_call(void (*entry)(void *), void *argument)
{
    match_ita_desk_t *const desk = &match_ita_dm_desk;
    if (match_ita_has_ended(desk) == 0) {
        return -1; /* an earlier layer was given up */
    }
    match_ita_give(desk, MATCH_ITA_ORDER_CALL, entry, argument);
    for (uint32_t looks = 0u; match_ita_has_ended(desk) == 0; looks++) {
        if (looks == MATCH_ITA_CALL_LOOKS) {
            return -1;
        }
        MATCH_RELAX();
        MATCH_YIELD();
    }
    match_ita_await(desk);
    return 0;
}
