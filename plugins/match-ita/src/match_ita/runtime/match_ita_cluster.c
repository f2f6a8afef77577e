/* match_ita_cluster.c - orders to the cores. SPDX-License-Identifier: Apache-2.0 */
#include "match_ita_cluster.h"

MATCH_ITA_SHARED match_ita_desk_t match_ita_dm_desk, match_ita_lead_desk;

void match_ita_give(match_ita_desk_t *desk, match_ita_order_t order, void (*entry)(void *), void *argument)
{
    desk->order = order;
    desk->entry = entry;
    desk->argument = argument;
    desk->count++;
    match_store(&desk->given, desk->count);
    MATCH_ITA_WAKE(desk);
}

int match_ita_has_ended(const match_ita_desk_t *desk)
{
    return (match_load(&desk->ended) == desk->count) ? 1 : 0;
}

void match_ita_await(match_ita_desk_t *desk)
{
    while (match_ita_has_ended(desk) == 0) {
        MATCH_RELAX();
    }
    MATCH_ITA_SETTLE(desk);
}

void match_ita_serve(match_ita_desk_t *desk)
{
    const uint32_t given = match_load(&desk->given);
    if (desk->order == MATCH_ITA_ORDER_KERNEL) {
        match_ita_lead(desk->entry, desk->argument);
    } else {
        desk->entry(desk->argument);
    }
    match_store(&desk->ended, given);
}

static _Noreturn void serve_orders(match_ita_desk_t *desk)
{
    for (;;) {
        if (match_load(&desk->given) != match_load(&desk->ended)) {
            match_ita_serve(desk);
        } else {
            MATCH_RELAX();
        }
    }
}

_Noreturn void match_ita_run(void)
{
    if (snrt_is_dm_core() != 0) {
        serve_orders(&match_ita_dm_desk);
    } else if (snrt_cluster_core_idx() == 0u) {
        serve_orders(&match_ita_lead_desk);
    } else {
        for (;;) {
            match_ita_follow();
        }
    }
}
