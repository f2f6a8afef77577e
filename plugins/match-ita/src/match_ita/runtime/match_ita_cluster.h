/* match_ita_cluster.h - the cluster's cores: what each of them runs, and how they are given work.
 *
 * All nine cores call match_ita_run once. Two of them take orders: the DM core, and core 0 of the compute cores,
 * which leads the other seven. Counters are the only signal; nobody needs an interrupt.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_ITA_CLUSTER_H
#define MATCH_ITA_CLUSTER_H

#include <stdint.h>

#include "match_runtime.h"
#include "snrt.h"

/* Put in front of what several cores poll, for example a section in L1. */
#ifndef MATCH_ITA_SHARED
#define MATCH_ITA_SHARED
#endif

/* Where cores sleep or, as on the twin, begin with an order: called behind each order, and when its end was seen. */
#ifndef MATCH_ITA_WAKE
#define MATCH_ITA_WAKE(desk) ((void)(desk))
#define MATCH_ITA_SETTLE(desk) ((void)(desk))
#endif
/* In each turn of a loop that waits for ITA. */
#ifndef MATCH_ITA_RELAX
#define MATCH_ITA_RELAX() ((void)0)
#endif

/* ---- orders ----------------------------------------------------------------------------------------------------- */

/* What an order is: a call or a kernel that somebody waits for, or a loop beside the host. */
typedef enum { MATCH_ITA_ORDER_CALL, MATCH_ITA_ORDER_KERNEL, MATCH_ITA_ORDER_LOOP } match_ita_order_t;

/* Of one core that takes orders. `given` is written by the one who gives orders, `ended` by the core itself. */
typedef struct {
    match_counter_t given, ended;
    match_ita_order_t order;
    void (*entry)(void *);
    void *argument;
    uint32_t count; /* orders so far */
} match_ita_desk_t;

extern match_ita_desk_t match_ita_dm_desk, match_ita_lead_desk;

void match_ita_give(match_ita_desk_t *desk, match_ita_order_t order, void (*entry)(void *), void *argument);
int match_ita_has_ended(const match_ita_desk_t *desk);
/* Waits for the end of the last order. */
void match_ita_await(match_ita_desk_t *desk);
/* By the core: does the order that was given to it. */
void match_ita_serve(match_ita_desk_t *desk);

/* ---- what the cores run ----------------------------------------------------------------------------------------- */

/* Does not return. */
_Noreturn void match_ita_run(void);
/* On the compute cores but the first one: the kernels that core 0 leads. */
void match_ita_follow(void);
/* On core 0. */
void match_ita_lead(void (*entry)(void *), void *context);

/* ---- waiting on the DM core ------------------------------------------------------------------------------------- */

/* In each turn of a loop of the DM core that waits: serves the copies that core 0 asks for. */
void match_ita_wait_turn(void);

#endif
