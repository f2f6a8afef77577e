/* match_carfield_spatz.c - the Spatz cluster's side, with snRuntime: tasks from the host, kernels on all cores.
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_carfield_spatz.h"

#include <stddef.h>

#include "match_carfield_config.h"
#include "match_carfield_protocol.h"

/* ---- kernels on all cores ------------------------------------------------------------------------------------------ */

/* Written by core 0 before a barrier, read by the others behind it. */
static struct {
    void (*entry)(void *);
    void *tile;
} team;

void match_carfield_spatz_team(void (*entry)(void *), const void *tile)
{
    team.entry = entry;
    team.tile = (void *)(uintptr_t)tile;
    snrt_cluster_hw_barrier();
    entry(team.tile);
    snrt_cluster_hw_barrier();
}

void match_carfield_spatz_follow(void)
{
    snrt_cluster_hw_barrier();
    while (team.entry != NULL) {
        team.entry(team.tile);
        snrt_cluster_hw_barrier(); /* the kernel is done */
        snrt_cluster_hw_barrier(); /* there is another one */
    }
}

/* ---- tasks --------------------------------------------------------------------------------------------------------- */

/* The mailbox is the only interrupt that wakes the core. */
static void sleep_for_mailbox(void)
{
    MATCH_CARFIELD_WAKE_BY(MATCH_CARFIELD_MIE_EXTERNAL);
    MATCH_CARFIELD_SLEEP();
}

int match_carfield_spatz_serve(void)
{
    const uint32_t letter = match_carfield_receive(MATCH_CARFIELD_TO_SPATZ);
    if (letter == MATCH_CARFIELD_RUN) {
        const volatile match_carfield_order_t *const order = &MATCH_CARFIELD_ORDERS[MATCH_CARFIELD_ORDER_SPATZ];
        void (*const entry)(void *) = (void (*)(void *))(uintptr_t)order->entry;
        entry((void *)(uintptr_t)order->argument);
        match_carfield_send(MATCH_CARFIELD_FROM_SPATZ, MATCH_CARFIELD_ENDED);
    }
    return (letter == MATCH_CARFIELD_EXIT) ? 0 : 1;
}

void match_carfield_spatz_run(void)
{
    if (snrt_cluster_core_idx() != 0u) {
        match_carfield_spatz_follow();
        return;
    }
    while (match_carfield_spatz_serve() != 0) {
        sleep_for_mailbox();
    }
    team.entry = NULL;
    snrt_cluster_hw_barrier();
}

#if MATCH_CARFIELD_POLL

int match_carfield_spatz_wait(const match_queue_t *queue, uint32_t count)
{
    return match_spin(queue, count);
}

void match_carfield_spatz_notify(void)
{
}

#else

int match_carfield_spatz_wait(const match_queue_t *queue, uint32_t count)
{
    uint32_t posted = match_load(&queue->posted);
    while (posted < count) {
        sleep_for_mailbox();
        match_carfield_hush(MATCH_CARFIELD_TO_SPATZ);
        posted = match_load(&queue->posted);
    }
    return (posted == MATCH_CANCEL) ? 1 : 0;
}

void match_carfield_spatz_notify(void)
{
    match_carfield_ring(MATCH_CARFIELD_FROM_SPATZ);
}

#endif
