/* match_gap9_beside.c - see the header. One task of the cluster holds both loops: the controller offloads `serve_team` to
 * all workers and then serves NE16's orders itself. Both sides and the fabric controller look at counters in L2.
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_gap9_beside.h"

#include <stddef.h>

#include "match_gap9_api.h"
#include "match_gap9_cores.h"
#include "pmsis.h"

/* A port that measures defines it: the next task's code is not the last one's. */
#ifndef MATCH_GAP9_CHARGE_TASK
#define MATCH_GAP9_CHARGE_TASK() ((void)0)
#endif

#ifdef MATCH_GAP9_ONE_LOOP
#error "cluster and NE16 side by side need a controller core beside the workers: compile with --sequential"
#endif

/* So many looks at the counters make a wait that is over without a notification. */
#define LOOKS 4096u
/* Looks until a loop that does not return is given up. */
#ifndef MATCH_GAP9_JOIN_LOOKS
#define MATCH_GAP9_JOIN_LOOKS 100000u
#endif

/* One side's loop. `given` and `leave` are written by the fabric controller only, `returned` by the side only; loops
 * are counted since the cluster's task began. */
typedef struct {
    match_counter_t given, returned, leave;
    void (*loop)(void *);
    void *argument;
    int running; /* the fabric controller has not joined it */
    uint32_t count;
} side_t;

static side_t team_side, ne16_side;

/* Of the fabric controller. */
static struct pi_cluster_task task;
static pi_task_t task_end;
static int task_runs;

/* ---- cluster ------------------------------------------------------------------------------------------------- */

/* Runs loops as they are given, until the side may leave. */
static void serve(side_t *side)
{
    for (uint32_t served = 0u;;) {
        if (match_load(&side->given) != served) {
            side->loop(side->argument);
            served++;
            match_store(&side->returned, served);
        } else if (match_load(&side->leave) != 0u) {
            return;
        } else {
            MATCH_RELAX();
        }
    }
}

static void serve_team(void *argument)
{
    (void)argument;
    if (pi_core_id() == 0) {
        serve(&team_side);
        match_gap9_team_leave();
    } else {
        match_gap9_team_follow();
    }
}

static void serve_both(void *argument)
{
    (void)argument;
    match_gap9_team_begin(serve_team);
    serve(&ne16_side);
    match_gap9_team_end();
}

int match_gap9_queue_wait(const match_queue_t *queue, uint32_t count)
{
    MATCH_GAP9_CHARGE_TASK();
    return match_spin(queue, count);
}

/* Nobody rings: the host looks again at once, and every so often its time is over. */
#ifdef MATCH_GAP9_LOOK_AGAIN
int match_port_wait(void)
{
    return MATCH_GAP9_LOOK_AGAIN();
}
#else
int match_port_wait(void)
{
    static uint32_t looks;
    looks++;
    return ((looks % LOOKS) == 0u) ? 1 : 0;
}
#endif

/* ---- fabric controller --------------------------------------------------------------------------------------- */

static int begin_task(void)
{
    side_t *const sides[] = {&team_side, &ne16_side};
    for (uint32_t i = 0u; i < 2u; i++) {
        match_store(&sides[i]->given, 0u);
        match_store(&sides[i]->returned, 0u);
        match_store(&sides[i]->leave, 0u);
        sides[i]->count = 0u;
    }
    if (match_gap9_send(&task, serve_both, pi_task_block(&task_end)) != 0) {
        return -1;
    }
    task_runs = 1;
    return 0;
}

static void end_task(void)
{
    match_store(&team_side.leave, 1u);
    match_store(&ne16_side.leave, 1u);
    pi_task_wait_on(&task_end);
    task_runs = 0;
}

static int start(side_t *side, void (*loop)(void *), void *argument)
{
    if ((side->running != 0) || ((task_runs == 0) && (begin_task() != 0))) {
        return -1;
    }
    side->running = 1;
    side->loop = loop;
    side->argument = argument;
    side->count++;
    match_store(&side->given, side->count);
    return 0;
}

static int join(side_t *side)
{
    for (uint32_t looks = 0u; (side->running != 0) && (looks < MATCH_GAP9_JOIN_LOOKS); looks++) {
        side->running = (match_load(&side->returned) == side->count) ? 0 : 1;
        if (side->running != 0) {
            (void)match_port_wait();
        }
    }
    if ((task_runs != 0) && (team_side.running == 0) && (ne16_side.running == 0)) {
        end_task();
    }
    return (side->running != 0) ? -1 : 0;
}

int match_gap9_team_loop(void (*loop)(void *), void *argument)
{
    return start(&team_side, loop, argument);
}

int match_gap9_ne16_loop(void (*loop)(void *), void *argument)
{
    return start(&ne16_side, loop, argument);
}

int match_gap9_team_join(void)
{
    return join(&team_side);
}

int match_gap9_ne16_join(void)
{
    return join(&ne16_side);
}
