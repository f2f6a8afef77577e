/* ita_team.c - the compute cores. Core 0 is the context's thread, the others are fibers in it. Between two barriers
 * the cores run one after the other: in eager mode core 0 first, in the other modes core 0 last and the others from
 * the highest down, so that a missing barrier shows. SPDX-License-Identifier: Apache-2.0 */
#include "ita_twin.h"
#include "match_ita_charge.h"
#include "match_ita_cluster.h"
#include "match_twin_fibers.h"
#include "snrt.h"

typedef enum { IDLE, RUNNABLE, AT_BARRIER } state_t;

/* Of the compute cores' thread. */
static struct {
  uint32_t core; /* the one that runs */
  state_t state[MATCH_ITA_CORES];
  match_twin_fiber_t *fiber[MATCH_ITA_CORES]; /* core 0 is none */
  const snrt_barrier_t *barrier[MATCH_ITA_CORES]; /* that the core waits at */
  uint64_t cycles[MATCH_ITA_CORES]; /* of its work since the last barrier */
  uint64_t uses; /* of the unit that multiplies and divides, by all cores since the last barrier */
} team;

static void follow(void *argument) {
  (void)argument;
  for (;;) {
    match_ita_follow();
  }
}

void ita_team_begin(void) {
  team.core = 0u;
  team.uses = 0u;
  for (uint32_t core = 0u; core < MATCH_ITA_CORES; core++) {
    team.state[core] = IDLE;
    team.cycles[core] = 0u;
  }
}

void ita_team_end(void) {
  for (uint32_t core = 1u; core < MATCH_ITA_CORES; core++) {
    if (team.state[core] != IDLE) {
      match_twin_fiber_drop(team.fiber[core]);
    }
  }
}

/* ---- barrier ---------------------------------------------------------------------------------------------------- */

/* The other cores run up to their next barrier; those that are there stay. */
static void run_others(void) {
  const bool descending = match_twin_mode() != MATCH_TWIN_EAGER;
  for (uint32_t i = 1u; i < MATCH_ITA_CORES; i++) {
    const uint32_t core = descending ? MATCH_ITA_CORES - i : i;
    if (team.state[core] == IDLE) {
      match_twin_fiber_make(&team.fiber[core], follow, NULL);
      team.state[core] = RUNNABLE;
    }
    if (team.state[core] == RUNNABLE) {
      team.core = core;
      (void)match_twin_fiber_run(team.fiber[core]);
      team.core = 0u;
    }
  }
}

/* Between two barriers the team takes as long as its busiest core, or as the shared unit needs to serve all of them. */
static void spend_longest(void) {
  const uint64_t rate = MATCH_ITA_SHARED_USES_PER_1000_CYCLES;
  uint64_t longest = (1000u * team.uses + rate - 1u) / rate;
  team.uses = 0u;
  for (uint32_t core = 0u; core < MATCH_ITA_CORES; core++) {
    longest = team.cycles[core] > longest ? team.cycles[core] : longest;
    team.cycles[core] = 0u;
  }
  if (longest > 0u) {
    match_twin_spend_kind(MATCH_TWIN_CLOCK_SNITCH, longest, "kernel");
  }
}

static void check_same_barrier(void) {
  for (uint32_t core = 1u; core < MATCH_ITA_CORES; core++) {
    if (team.barrier[core] != team.barrier[0]) {
      match_twin_faultf("core %u waits at another barrier than core 0: not all cores of a kernel reach it",
                        (unsigned)core);
    }
  }
}

void snrt_partial_barrier(snrt_barrier_t *barrier, uint32_t n) {
  if (!ita_on_compute_cores() || n != MATCH_ITA_CORES) {
    match_twin_faultf("a barrier of %u cores outside of the compute cores, or not of all %u", (unsigned)n,
                      MATCH_ITA_CORES);
  }
  team.barrier[team.core] = barrier;
  if (team.core != 0u) {
    team.state[team.core] = AT_BARRIER;
    match_twin_fiber_yield();
    return;
  }
  run_others();
  check_same_barrier();
  spend_longest();
  for (uint32_t core = 1u; core < MATCH_ITA_CORES; core++) {
    team.state[core] = RUNNABLE;
  }
  if (match_twin_mode() != MATCH_TWIN_EAGER) {
    run_others();
  }
}

/* ---- names of the runtime --------------------------------------------------------------------------------------- */

static uint32_t check_cluster(const char *what) {
  if (!ita_on_compute_cores() && !ita_on_dm_core()) {
    match_twin_faultf("%s on the host", what);
  }
  return ita_on_dm_core() ? MATCH_ITA_CORES : team.core;
}

uint32_t snrt_cluster_core_idx(void) { return check_cluster("snrt_cluster_core_idx"); }

uint32_t snrt_cluster_compute_core_num(void) { return MATCH_ITA_CORES; }

int snrt_is_dm_core(void) { return check_cluster("snrt_is_dm_core") == MATCH_ITA_CORES ? 1 : 0; }

void match_ita_twin_charge(uint64_t work) {
  if (!ita_on_compute_cores()) {
    match_twin_fault("cycles of a kernel were charged outside of the compute cores");
  }
  team.cycles[team.core] += work & UINT32_MAX;
  team.uses += work >> 32;
}

/* All cores call it; the time is that of one. */
void match_ita_twin_charge_barrier(void) {
  if (team.core == 0u) {
    match_twin_spend_kind(MATCH_TWIN_CLOCK_SNITCH, MATCH_ITA_BARRIER_CYCLES, "barrier");
  }
}
