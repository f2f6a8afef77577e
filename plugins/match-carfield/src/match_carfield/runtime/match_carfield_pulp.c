/* match_carfield_pulp.c - the PULP cluster's side, with pulp-runtime: tasks from the host, kernels on all cores.
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_carfield_pulp.h"

#include <stddef.h>

#include "match_carfield_config.h"
#include "match_carfield_protocol.h"

/* Event of the host's mailbox in the event unit, as MATCHA's firmware uses it. */
#define MAILBOX_EVENT (1u << 22)

/* ---- kernels on all cores ------------------------------------------------------------------------------------------ */

/* Written by core 0 before a barrier, read by the others behind it. */
static struct {
    void (*entry)(void *);
    void *tile;
} team;

void match_carfield_pulp_team(void (*entry)(void *), const void *tile)
{
    team.entry = entry;
    team.tile = (void *)(uintptr_t)tile;
    synch_barrier();
    entry(team.tile);
    synch_barrier();
}

void match_carfield_pulp_follow(void)
{
    synch_barrier();
    while (team.entry != NULL) {
        team.entry(team.tile);
        synch_barrier(); /* the kernel is done */
        synch_barrier(); /* there is another one */
    }
}

/* ---- tasks --------------------------------------------------------------------------------------------------------- */

int match_carfield_pulp_serve(void)
{
    const uint32_t letter = match_carfield_receive(MATCH_CARFIELD_TO_PULP);
    if (letter == MATCH_CARFIELD_RUN) {
        const volatile match_carfield_order_t *const order = &MATCH_CARFIELD_ORDERS[MATCH_CARFIELD_ORDER_PULP];
        void (*const entry)(void *) = (void (*)(void *))(uintptr_t)order->entry;
        entry((void *)(uintptr_t)order->argument);
        match_carfield_send(MATCH_CARFIELD_FROM_PULP, MATCH_CARFIELD_ENDED);
    }
    return (letter == MATCH_CARFIELD_EXIT) ? 0 : 1;
}

void match_carfield_pulp_run(void)
{
    if (rt_core_id() != 0) {
        match_carfield_pulp_follow();
        return;
    }
    while (match_carfield_pulp_serve() != 0) {
        (void)eu_evt_maskWaitAndClr(MAILBOX_EVENT);
    }
    team.entry = NULL;
    synch_barrier();
}

#if MATCH_CARFIELD_POLL

int match_carfield_pulp_wait(const match_queue_t *queue, uint32_t count)
{
    return match_spin(queue, count);
}

void match_carfield_pulp_notify(void)
{
}

#else

int match_carfield_pulp_wait(const match_queue_t *queue, uint32_t count)
{
    uint32_t posted = match_load(&queue->posted);
    while (posted < count) {
        (void)eu_evt_maskWaitAndClr(MAILBOX_EVENT);
        match_carfield_hush(MATCH_CARFIELD_TO_PULP);
        posted = match_load(&queue->posted);
    }
    return (posted == MATCH_CANCEL) ? 1 : 0;
}

void match_carfield_pulp_notify(void)
{
    match_carfield_ring(MATCH_CARFIELD_FROM_PULP);
}

#endif
