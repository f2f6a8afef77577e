/* ita_cores.c - the DM core and core 0 as contexts: each begins with an order and ends with it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ita_twin.h"
#include "match_ita_charge.h"
#include "match_ita_cluster.h"

typedef struct {
  match_ita_desk_t *desk;
  const char *name; /* of the queue */
  unsigned clock;
  uint32_t context;
} core_t;

static core_t cores[] = {
    {&match_ita_dm_desk, "ita", MATCH_TWIN_CLOCK_CONTROL, 0u},
    {&match_ita_lead_desk, "snitch", MATCH_TWIN_CLOCK_SNITCH, 0u},
};
#define DM (&cores[0])
#define LEAD (&cores[1])

/* Which of them the running thread is; the host is neither. */
static _Thread_local const core_t *running;
/* Of the thread of the DM core. */
static _Thread_local bool beside;

bool ita_on_dm_core(void) { return running == DM; }

bool ita_on_compute_cores(void) { return running == LEAD; }

bool ita_is_beside(void) { return beside; }

void ita_check_dm_core(const char *what) {
  if (running != DM) {
    match_twin_faultf("%s: only the DM core can do this", what);
  }
}

static void run(void *argument) {
  core_t *core = argument;
  running = core;
  beside = core->desk->order == MATCH_ITA_ORDER_LOOP;
  if (core == LEAD) {
    ita_team_begin();
  }
  match_ita_serve(core->desk);
  if (core == LEAD) {
    ita_team_end();
  }
}

static void spend(uint64_t cycles, const char *kind) {
  match_twin_spend_kind(match_twin_context_clock(), cycles, kind);
}

static core_t *core_of(const void *desk) { return desk == (const void *)&match_ita_dm_desk ? DM : LEAD; }

void match_ita_twin_wake(const void *desk) {
  core_t *core = core_of(desk);
  if (core->context != 0u) {
    match_twin_faultf("an order for the core of %s, whose last order was not waited for", core->name);
  }
  if (core->desk->order == MATCH_ITA_ORDER_CALL) {
    spend(MATCH_ITA_CALL_CYCLES, "call");
  } else if (core->desk->order == MATCH_ITA_ORDER_LOOP && core == DM) {
    spend(MATCH_ITA_SESSION_CYCLES, "session");
  }
  core->context = core->desk->order == MATCH_ITA_ORDER_LOOP ? match_twin_start(core->name, core->clock, run, core)
                                                            : match_twin_start_job(core->name, core->clock, run, core);
}

void match_ita_twin_settle(const void *desk) {
  core_t *core = core_of(desk);
  if (core->context == 0u) {
    match_twin_faultf("a wait for the core of %s, which has no order", core->name);
  }
  match_twin_join(core->context);
  core->context = 0u;
}

int match_ita_twin_look_again(void) { return match_twin_relax_bounded(); }

/* ---- cycles of the runtime -------------------------------------------------------------------------------------- */

void match_ita_twin_charge_launch(void) { spend(MATCH_ITA_JOBS_LAUNCH_CYCLES, "ita launch"); }

void match_ita_twin_charge_tail(void) { spend(MATCH_ITA_TAIL_CYCLES, "ita tail"); }

void match_ita_twin_charge_team_launch(void) { spend(MATCH_ITA_TEAM_LAUNCH_CYCLES, "team launch"); }

void match_ita_twin_charge_team_wait(void) { spend(MATCH_ITA_TEAM_WAIT_CYCLES, "team wait"); }

void match_ita_twin_charge_ring_post(void) {
  match_twin_owe(true);
  spend(MATCH_ITA_RING_POST_CYCLES, "ask for copy");
}

void match_ita_twin_ring_waited(void) { match_twin_owe(false); }

void match_ita_twin_charge_ring_serve(void) { spend(MATCH_ITA_RING_SERVE_CYCLES, "serve copy"); }
