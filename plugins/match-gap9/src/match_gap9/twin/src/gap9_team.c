/* gap9_team.c - the team of worker cores, a context beside the controller that starts it.
 *
 * The cores of a team are fibers that run one after the other up to the next barrier, in ascending order in eager
 * mode and descending order in the others, so a missing barrier shows. All workers share one clock: kernels charge the
 * time of the busiest core once. SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "gap9_twin.h"
#include "match_gap9_charge.h"
#include "match_twin_context.h"
#include "match_twin_fibers.h"
#include "pmsis.h"

typedef enum { FINISHED, RUNNABLE, AT_BARRIER } core_state_t;

typedef struct {
  void (*entry)(void *);
  void *argument;
} offload_t;

/* Written by the team's thread while a team runs, else by the controller's. */
static struct {
  int prepared;      /* cores of the next team */
  bool offloaded;    /* and not waited for */
  uint32_t context;
  offload_t job;
  core_state_t state[MATCH_GAP9_CORE_COUNT];
  match_twin_fiber_t *fiber[MATCH_GAP9_CORE_COUNT];
} team;

/* Of the team's thread: the cores in the running team, 0 elsewhere, and the one that runs. */
static _Thread_local int team_size, team_core;

bool gap9_in_team(void) { return team_size > 0; }

/* ---- time of the cores ------------------------------------------------------------------------------------- */

/* What each core has spent since the last barrier, in the team's thread. A core that also waits or issues does so at its
 * own time, on the team's clock. */
static _Thread_local struct {
  uint64_t start; /* of the round, on the team's clock */
  uint64_t spent[MATCH_GAP9_CORE_COUNT];
  bool on_clock[MATCH_GAP9_CORE_COUNT]; /* the core has moved the clock itself */
  const char *kernel;
} round_of;

static void spend_until(uint64_t time) {
  const uint64_t now = match_twin_now(MATCH_TWIN_CLOCK_CLUSTER);
  if (now < time) {
    match_twin_spend_kind(MATCH_TWIN_CLOCK_CLUSTER, time - now, round_of.kernel);
  }
}

/* The running core is about to move the team's clock: its own work comes first. */
void gap9_team_settle(void) {
  spend_until(round_of.start + round_of.spent[team_core]);
  round_of.on_clock[team_core] = true;
}

void match_gap9_twin_count(const char *kernel, uint64_t cycles) {
  if (team_size == 0) {
    match_twin_spend_kind(gap9_clock(), cycles, kernel);
    return;
  }
  uint64_t *const spent = &round_of.spent[team_core];
  const uint64_t elapsed = match_twin_now(MATCH_TWIN_CLOCK_CLUSTER) - round_of.start;
  *spent = round_of.on_clock[team_core] && elapsed > *spent ? elapsed : *spent;
  round_of.on_clock[team_core] = false;
  *spent += cycles;
  round_of.kernel = kernel;
}

static void begin_round(void) {
  round_of.start = match_twin_now(MATCH_TWIN_CLOCK_CLUSTER);
  memset(round_of.spent, 0, sizeof round_of.spent);
  memset(round_of.on_clock, 0, sizeof round_of.on_clock);
}

static void end_round(void) {
  uint64_t slowest = 0u;
  for (int core = 0; core < team_size; core++) {
    slowest = round_of.spent[core] > slowest ? round_of.spent[core] : slowest;
  }
  spend_until(round_of.start + slowest);
}

/* Runs every core up to its next barrier or its end; returns how many wait at the barrier. */
static int run_round(void) {
  begin_round();
  const bool descending = match_twin_mode() != MATCH_TWIN_EAGER;
  int waiting = 0;
  for (int i = 0; i < team_size; i++) {
    const int core = descending ? team_size - 1 - i : i;
    if (team.state[core] == RUNNABLE) {
      team_core = core;
      if (!match_twin_fiber_run(team.fiber[core])) {
        team.state[core] = FINISHED;
      }
    }
    waiting += team.state[core] == AT_BARRIER ? 1 : 0;
  }
  end_round();
  return waiting;
}

/* ---- team ------------------------------------------------------------------------------------------------ */

int pi_core_id(void) {
  if (!gap9_on_cluster()) {
    return 0;
  }
  return team_size > 0 ? team_core : (int)MATCH_GAP9_CONTROLLER_CORE_ID;
}

int pi_cl_team_nb_cores(void) { return team_size > 0 ? team_size : 1; }

static void run_team(void *argument) {
  (void)argument;
  gap9_enter_cluster();
  match_twin_spend_kind(MATCH_TWIN_CLOCK_CLUSTER, MATCH_GAP9_TEAM_START_CYCLES, "team start");
  team_size = team.prepared;
  for (int core = 0; core < team_size; core++) {
    match_twin_fiber_make(&team.fiber[core], team.job.entry, team.job.argument);
    team.state[core] = RUNNABLE;
  }
  for (int waiting = run_round(); waiting > 0; waiting = run_round()) {
    if (waiting != team_size) {
      match_twin_faultf("%d cores wait at a barrier that %d others never reach", waiting, team_size - waiting);
    }
    match_twin_spend_kind(MATCH_TWIN_CLOCK_CLUSTER, MATCH_GAP9_TEAM_BARRIER_CYCLES, "barrier");
    for (int core = 0; core < team_size; core++) {
      team.state[core] = RUNNABLE;
    }
  }
  for (int core = 0; core < team_size; core++) {
    match_twin_fiber_drop(team.fiber[core]);
  }
  team_size = 0;
}

static void check_controller(void) {
  if (!gap9_on_cluster() || team_size > 0) {
    match_twin_fault("a team can only be started by the cluster controller, outside of another team");
  }
}

void pi_team_config_offload(int nb_cores) {
  check_controller();
  if (team.offloaded) {
    match_twin_fault("the team was configured while an offloaded one was not waited for");
  }
  if (nb_cores < 1 || nb_cores > (int)MATCH_GAP9_CORE_COUNT) {
    match_twin_faultf("a team of %d cores; the cluster has %u workers", nb_cores, MATCH_GAP9_CORE_COUNT);
  }
  team.prepared = nb_cores;
}

void pi_team_offload_preset(void (*entry)(void *), void *arg) {
  check_controller();
  if (team.prepared == 0) {
    match_twin_fault("a team was offloaded before pi_team_config_offload");
  }
  if (team.offloaded) {
    match_twin_fault("a team was offloaded while another one was not waited for");
  }
  match_twin_spend_kind(MATCH_TWIN_CLOCK_CONTROL, MATCH_GAP9_TEAM_OFFLOAD_CYCLES + MATCH_GAP9_STEP_CYCLES,
                        "offload team");
  team.job = (offload_t){entry, arg};
  team.offloaded = true;
  team.context = match_twin_start_job("cluster", MATCH_TWIN_CLOCK_CLUSTER, run_team, NULL);
}

void pi_team_offload_wait(void) {
  if (!team.offloaded) {
    match_twin_fault("a wait for a team that was not offloaded");
  }
  match_twin_join(team.context);
  team.offloaded = false;
}

void gap9_team_begin(void) { team.prepared = 0; }

void gap9_team_end(void) {
  if (team.offloaded) {
    match_twin_fault("a cluster task ended before the team that it offloaded was waited for");
  }
}

void pi_cl_team_preset_fork(void (*entry)(void *), void *arg) {
  pi_team_offload_preset(entry, arg);
  pi_team_offload_wait();
}

void pi_cl_team_fork(int nb_cores, void (*entry)(void *), void *arg) {
  if (nb_cores != 0) {
    pi_team_config_offload(nb_cores);
  }
  pi_cl_team_preset_fork(entry, arg);
}

void match_gap9_twin_team_barrier(void) {
  if (team_size == 0) {
    match_twin_fault("a team barrier outside of a team");
  }
  team.state[team_core] = AT_BARRIER;
  match_twin_fiber_yield();
}

int gap9_enter_kernel(const char *name) {
  if (team_size != NUM_CORES || NUM_CORES != (int)MATCH_GAP9_CORE_COUNT) {
    match_twin_faultf("%s: called by a team of %d cores, the library is built for %d", name, team_size, NUM_CORES);
  }
  return team_core;
}

void gap9_charge_kernel(const char *name, uint64_t cycles) {
  if (team_core == 0) {
    match_gap9_twin_count(name, cycles);
  }
}

