/* gap9_team.c - the team of worker cores, which runs beside the controller that starts it.
 *
 * The cores of a team are fibers that run one after the other up to the next barrier, in ascending order in eager
 * mode and descending order in lazy mode, so a missing barrier shows. All workers share one clock: kernels charge the
 * time of the busiest core once. An offloaded team starts at the controller's time; eager mode runs it at once, lazy
 * mode when it is waited for, so a missing wait shows. SPDX-License-Identifier: Apache-2.0 */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#include <string.h>
#include <ucontext.h>

#include "gap9_twin.h"
#include "pmsis.h"

/* The address sanitizer wants to know about fibers, and its own swapcontext prints a warning: libc's is used. */
#if defined(__SANITIZE_ADDRESS__)
#include <dlfcn.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define STACK_BYTES (512u * 1024u)

static int switch_context(ucontext_t *from, const ucontext_t *to) {
  static int (*swap)(ucontext_t *, const ucontext_t *);
  if (swap == NULL) {
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    void *symbol = libc != NULL ? dlsym(libc, "swapcontext") : NULL;
    if (symbol == NULL) {
      swap = swapcontext;
    } else {
      memcpy(&swap, &symbol, sizeof swap);
    }
  }
  return swap(from, to);
}
#else
#define STACK_BYTES (128u * 1024u)
#define switch_context swapcontext
#endif

typedef enum { FINISHED, RUNNABLE, AT_BARRIER } core_state_t;

typedef struct {
  void (*entry)(void *);
  void *argument;
  uint64_t start; /* the controller's time of the offload */
} offload_t;

static struct {
  int size;      /* cores in the running team, 0 outside of teams */
  int prepared;  /* cores of the next team */
  int core;      /* running core of the team */
  bool offloaded; /* and not waited for */
  uint64_t ticket;
  offload_t job;
  core_state_t state[MATCH_GAP9_CORE_COUNT];
  ucontext_t context[MATCH_GAP9_CORE_COUNT];
  ucontext_t scheduler;
  void *fake_stack[MATCH_GAP9_CORE_COUNT];
  const void *scheduler_stack;
  size_t scheduler_stack_bytes;
} team;

static _Alignas(64) uint8_t stacks[MATCH_GAP9_CORE_COUNT][STACK_BYTES];

bool gap9_in_team(void) { return team.size > 0; }

/* ---- fibers ---------------------------------------------------------------------------------------------- */

static void to_scheduler(void) {
  const int core = team.core;
#if defined(__SANITIZE_ADDRESS__)
  const bool dies = team.state[core] == FINISHED;
  __sanitizer_start_switch_fiber(dies ? NULL : &team.fake_stack[core], team.scheduler_stack,
                                 team.scheduler_stack_bytes);
#endif
  (void)switch_context(&team.context[core], &team.scheduler);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(team.fake_stack[core], &team.scheduler_stack,
                                  &team.scheduler_stack_bytes);
#endif
}

static void to_core(int core) {
  team.core = core;
#if defined(__SANITIZE_ADDRESS__)
  void *own = NULL;
  __sanitizer_start_switch_fiber(&own, stacks[core], STACK_BYTES);
#endif
  (void)switch_context(&team.scheduler, &team.context[core]);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(own, NULL, NULL);
#endif
}

static void core_main(void) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(NULL, &team.scheduler_stack, &team.scheduler_stack_bytes);
#endif
  team.job.entry(team.job.argument);
  team.state[team.core] = FINISHED;
  to_scheduler();
}

/* Runs every core up to its next barrier or its end; returns how many wait at the barrier. */
static int run_round(void) {
  const bool descending = match_twin_mode() == MATCH_TWIN_LAZY;
  int waiting = 0;
  for (int i = 0; i < team.size; i++) {
    const int core = descending ? team.size - 1 - i : i;
    if (team.state[core] == RUNNABLE) {
      to_core(core);
    }
    waiting += team.state[core] == AT_BARRIER ? 1 : 0;
  }
  return waiting;
}

/* ---- team ------------------------------------------------------------------------------------------------ */

int pi_core_id(void) {
  if (!gap9_on_cluster()) {
    return 0;
  }
  return team.size > 0 ? team.core : (int)MATCH_GAP9_CONTROLLER_CORE_ID;
}

int pi_cl_cluster_nb_cores(void) { return (int)MATCH_GAP9_CORE_COUNT; }

int pi_cl_team_nb_cores(void) { return team.size > 0 ? team.size : 1; }

static void set_up(int core) {
  team.state[core] = RUNNABLE;
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(stacks[core], STACK_BYTES); /* frames of the last team */
#endif
  (void)getcontext(&team.context[core]);
  team.context[core].uc_stack.ss_sp = stacks[core];
  team.context[core].uc_stack.ss_size = STACK_BYTES;
  team.context[core].uc_link = NULL;
  makecontext(&team.context[core], core_main, 0);
}

static void run_team(void *argument) {
  memcpy(&team.job, argument, sizeof team.job);
  match_twin_wait_until(MATCH_TWIN_CLOCK_CLUSTER, team.job.start);
  match_twin_spend_kind(MATCH_TWIN_CLOCK_CLUSTER, MATCH_GAP9_TEAM_START_CYCLES, "team start");
  team.size = team.prepared;
  for (int core = 0; core < team.size; core++) {
    set_up(core);
  }
  for (int waiting = run_round(); waiting > 0; waiting = run_round()) {
    if (waiting != team.size) {
      match_twin_faultf("%d cores wait at a barrier that %d others never reach", waiting, team.size - waiting);
    }
    match_twin_spend_kind(MATCH_TWIN_CLOCK_CLUSTER, MATCH_GAP9_TEAM_BARRIER_CYCLES, "barrier");
    for (int core = 0; core < team.size; core++) {
      team.state[core] = RUNNABLE;
    }
  }
  team.size = 0;
}

static void check_controller(void) {
  if (!gap9_on_cluster() || team.size > 0) {
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
  match_twin_spend_kind(MATCH_TWIN_CLOCK_CONTROL, MATCH_GAP9_TEAM_OFFLOAD_CYCLES, "offload team");
  const offload_t job = {entry, arg, match_twin_now(MATCH_TWIN_CLOCK_CONTROL)};
  team.offloaded = true;
  team.ticket = match_twin_defer(run_team, &job, sizeof job);
}

void pi_team_offload_wait(void) {
  if (!team.offloaded) {
    match_twin_fault("a wait for a team that was not offloaded");
  }
  match_twin_complete(team.ticket);
  team.offloaded = false;
  match_twin_sync(MATCH_TWIN_CLOCK_CONTROL, MATCH_TWIN_CLOCK_CLUSTER);
}

void gap9_team_begin(void) { team.prepared = 0; }

void gap9_team_end(void) {
  if (team.offloaded) {
    match_twin_fault("a cluster task ended before the team that it offloaded was waited for");
  }
}

void pi_cl_team_prepare_fork(int nb_cores) { pi_team_config_offload(nb_cores); }

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
  if (team.size == 0) {
    match_twin_fault("a team barrier outside of a team");
  }
  team.state[team.core] = AT_BARRIER;
  to_scheduler();
}

int gap9_enter_kernel(const char *name, uint64_t cycles) {
  if (team.size != NUM_CORES || NUM_CORES != (int)MATCH_GAP9_CORE_COUNT) {
    match_twin_faultf("%s: called by a team of %d cores, the library is built for %d", name, team.size, NUM_CORES);
  }
  if (team.core == 0) {
    match_twin_spend_kind(MATCH_TWIN_CLOCK_CLUSTER, cycles, name);
  }
  return team.core;
}

