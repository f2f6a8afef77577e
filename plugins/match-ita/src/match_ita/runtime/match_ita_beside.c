/* match_ita_beside.c - see the header. From the first loop of a session to the join of the last one the DM core
 * serves the copies of core 0: while it runs its own loop, and before and behind it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_ita_beside.h"

#include <stddef.h>

#include "match_ita_cluster.h"

/* So many looks at the counters make a wait that is over without a notification. */
#define LOOKS 4096u
/* Looks until a loop that does not return is given up. */
#ifndef MATCH_ITA_JOIN_LOOKS
#define MATCH_ITA_JOIN_LOOKS 100000u
#endif

/* The DM core's loop. `given` and `leave` are written by the host only, `returned` by the DM core only. */
MATCH_ITA_SHARED static struct {
    match_counter_t given, returned, leave;
    void (*loop)(void *);
    void *argument;
} dm;

/* Of the host: loops that it has not joined, and whether the DM core is in its session. */
static int ita_runs, snitch_runs, session_runs;

/* ---- cluster ---------------------------------------------------------------------------------------------------- */

static void dm_session(void *argument)
{
    (void)argument;
    uint32_t returned = 0u;
    match_ita_ring_open();
    while (match_load(&dm.leave) == 0u) {
        if (match_load(&dm.given) != returned) {
            dm.loop(dm.argument);
            returned++;
            match_store(&dm.returned, returned);
        } else {
            match_ita_ring_serve();
            MATCH_RELAX();
        }
    }
    match_ita_ring_close();
}

int match_ita_ita_wait(const match_queue_t *queue, uint32_t count)
{
    uint32_t posted = match_load(&queue->posted);
    while (posted < count) {
        match_ita_ring_serve();
        MATCH_RELAX();
        posted = match_load(&queue->posted);
    }
    return (posted == MATCH_CANCEL) ? 1 : 0;
}

int match_ita_snitch_wait(const match_queue_t *queue, uint32_t count)
{
    return match_spin(queue, count);
}

/* Nobody rings: the host looks again at once, and every so often its time is over. Where another package's units run
 * beside these, the host may have a wait of its own, which comes first. */
__attribute__((weak)) int match_port_wait(void);

#ifdef MATCH_ITA_LOOK_AGAIN
int match_port_wait(void)
{
    return MATCH_ITA_LOOK_AGAIN();
}
#else
int match_port_wait(void)
{
    static uint32_t looks;
    looks++;
    return ((looks % LOOKS) == 0u) ? 1 : 0;
}
#endif

/* ---- host ------------------------------------------------------------------------------------------------------- */

static void begin_session(void)
{
    if (session_runs == 0) {
        match_store(&dm.given, 0u);
        match_store(&dm.returned, 0u);
        match_store(&dm.leave, 0u);
        match_ita_give(&match_ita_dm_desk, MATCH_ITA_ORDER_LOOP, dm_session, NULL);
        session_runs = 1;
    }
}

static void end_session(void)
{
    if ((session_runs != 0) && (ita_runs == 0) && (snitch_runs == 0)) {
        match_store(&dm.leave, 1u);
        match_ita_await(&match_ita_dm_desk);
        session_runs = 0;
    }
}

int match_ita_ita_loop(void (*loop)(void *), void *argument)
{
    if (ita_runs != 0) {
        return -1;
    }
    begin_session();
    ita_runs = 1;
    dm.loop = loop;
    dm.argument = argument;
    match_store(&dm.given, 1u);
    return 0;
}

int match_ita_snitch_loop(void (*loop)(void *), void *argument)
{
    if (snitch_runs != 0) {
        return -1;
    }
    begin_session();
    snitch_runs = 1;
    match_ita_give(&match_ita_lead_desk, MATCH_ITA_ORDER_LOOP, loop, argument);
    return 0;
}

int match_ita_ita_join(void)
{
    for (uint32_t looks = 0u; (ita_runs != 0) && (looks < MATCH_ITA_JOIN_LOOKS); looks++) {
        ita_runs = (match_load(&dm.returned) == 1u) ? 0 : 1;
        if (ita_runs != 0) {
            (void)match_port_wait();
        }
    }
    end_session();
    return (ita_runs != 0) ? -1 : 0;
}

int match_ita_snitch_join(void)
{
    for (uint32_t looks = 0u; (snitch_runs != 0) && (looks < MATCH_ITA_JOIN_LOOKS); looks++) {
        if (match_ita_has_ended(&match_ita_lead_desk) != 0) {
            MATCH_ITA_SETTLE(&match_ita_lead_desk);
            snitch_runs = 0;
        } else {
            (void)match_port_wait();
        }
    }
    end_session();
    return (snitch_runs != 0) ? -1 : 0;
}
