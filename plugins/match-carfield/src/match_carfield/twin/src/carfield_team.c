/* carfield_team.c - the cores of a cluster. Core 0 is the unit's context, the others are fibers in its thread. Between two
 * barriers the cores run one after the other: in eager mode core 0 first, in the other modes core 0 last and the others
 * from the highest down, so that a missing barrier shows. SPDX-License-Identifier: Apache-2.0 */
#include "carfield_twin.h"
#include "match_twin_fibers.h"
#include "pulp.h"
#include "snrt.h"

#define MAX_CORES 8u

typedef enum { IDLE, RUNNABLE, AT_BARRIER, FINISHED } state_t;

typedef struct {
  void (*follow)(void);
  uint32_t core; /* the one that runs */
  state_t state[MAX_CORES];
  match_twin_fiber_t *fiber[MAX_CORES]; /* core 0 is none */
} team_t;

static team_t teams[CARFIELD_UNITS];

static uint32_t cores_of(carfield_unit_t unit) {
  return unit == CARFIELD_PULP ? MATCH_CARFIELD_PULP_CORES : MATCH_CARFIELD_SPATZ_CORES;
}

uint32_t carfield_core(carfield_unit_t unit) { return teams[unit].core; }

static void follow(void *team) { ((team_t *)team)->follow(); }

/* Lets a core run up to its next barrier or its end. */
static void to_core(team_t *team, uint32_t core) {
  team->core = core;
  if (!match_twin_fiber_run(team->fiber[core])) {
    team->state[core] = FINISHED;
  }
  team->core = 0u;
}

void carfield_team_begin(carfield_unit_t unit, void (*function)(void)) {
  team_t *team = &teams[unit];
  team->follow = function;
  team->core = 0u;
  for (uint32_t core = 1u; core < cores_of(unit); core++) {
    team->state[core] = IDLE;
  }
}

void carfield_team_end(carfield_unit_t unit) {
  for (uint32_t core = 1u; core < cores_of(unit); core++) {
    if (teams[unit].state[core] != IDLE) {
      match_twin_fiber_drop(teams[unit].fiber[core]);
    }
  }
}

/* ---- barrier -------------------------------------------------------------------------------------------------------- */

/* The other cores run up to their next barrier; those that are there stay. */
static void run_others(team_t *team, uint32_t cores) {
  const bool descending = match_twin_mode() != MATCH_TWIN_EAGER;
  for (uint32_t i = 1u; i < cores; i++) {
    const uint32_t core = descending ? cores - i : i;
    if (team->state[core] == IDLE) {
      match_twin_fiber_make(&team->fiber[core], follow, team);
      team->state[core] = RUNNABLE;
    }
    if (team->state[core] == RUNNABLE) {
      to_core(team, core);
    }
  }
}

static void check_all_there(const team_t *team, carfield_unit_t unit) {
  for (uint32_t core = 1u; core < cores_of(unit); core++) {
    if (team->state[core] != AT_BARRIER) {
      match_twin_faultf("core %u of %s has left and never reaches a barrier", (unsigned)core, carfield_name(unit));
    }
  }
}

void carfield_barrier(carfield_unit_t unit, uint64_t cycles) {
  team_t *team = &teams[unit];
  if (!carfield_on(unit)) {
    match_twin_faultf("a barrier of %s outside of it", carfield_name(unit));
  }
  if (team->core != 0u) {
    team->state[team->core] = AT_BARRIER;
    match_twin_fiber_yield();
    return;
  }
  run_others(team, cores_of(unit));
  check_all_there(team, unit);
  match_twin_spend_kind(carfield_clock(unit), cycles, "barrier");
  for (uint32_t core = 1u; core < cores_of(unit); core++) {
    team->state[core] = RUNNABLE;
  }
  if (match_twin_mode() != MATCH_TWIN_EAGER) {
    run_others(team, cores_of(unit));
  }
}

/* ---- names of the two runtimes ---------------------------------------------------------------------------------------- */

int rt_core_id(void) { return (int)carfield_core(CARFIELD_PULP); }

int get_core_num(void) { return (int)MATCH_CARFIELD_PULP_CORES; }

void synch_barrier(void) { carfield_barrier(CARFIELD_PULP, MATCH_CARFIELD_PULP_BARRIER_CYCLES); }

uint32_t snrt_cluster_core_idx(void) { return carfield_core(CARFIELD_SPATZ); }

uint32_t snrt_cluster_core_num(void) { return MATCH_CARFIELD_SPATZ_CORES; }

void snrt_cluster_hw_barrier(void) { carfield_barrier(CARFIELD_SPATZ, MATCH_CARFIELD_SPATZ_BARRIER_CYCLES); }
