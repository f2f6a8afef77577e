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

int match_ita_call(void (*entry)(void *), void *argument)
{
    match_ita_give(&match_ita_dm_desk, MATCH_ITA_ORDER_CALL, entry, argument);
    match_ita_await(&match_ita_dm_desk);
    return 0;
}
