/* gap9_team.c - the team of worker cores, a context beside the controller that starts it.
 *
 * The cores of a team are fibers that run one after the other up to the next barrier, in ascending order in eager
 * mode and descending order in the others, so a missing barrier shows. All workers share one clock: kernels charge the
 * time of the busiest core once. SPDX-License-Identifier: Apache-2.0 */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#include <string.h>
#include <ucontext.h>

#include "gap9_twin.h"
#include "match_twin_context.h"
#include "pmsis.h"

/* The sanitizers want to know about fibers, and that of addresses prints a warning in its own swapcontext: libc's is
 * used. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#include <dlfcn.h>
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
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#elif defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

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
  ucontext_t cores[MATCH_GAP9_CORE_COUNT];
  ucontext_t scheduler;
  void *fake_stack[MATCH_GAP9_CORE_COUNT];
  const void *scheduler_stack;
  size_t scheduler_stack_bytes;
  void *fiber[MATCH_GAP9_CORE_COUNT], *scheduler_fiber; /* what the thread sanitizer knows them by */
} team;

/* Of the team's thread: the cores in the running team, 0 elsewhere, and the one that runs. */
static _Thread_local int team_size, team_core;

static _Alignas(64) uint8_t stacks[MATCH_GAP9_CORE_COUNT][STACK_BYTES];

bool gap9_in_team(void) { return team_size > 0; }

/* ---- fibers ---------------------------------------------------------------------------------------------- */

static void to_scheduler(void) {
  const int core = team_core;
#if defined(__SANITIZE_ADDRESS__)
  const bool dies = team.state[core] == FINISHED;
  __sanitizer_start_switch_fiber(dies ? NULL : &team.fake_stack[core], team.scheduler_stack,
                                 team.scheduler_stack_bytes);
#endif
#if defined(__SANITIZE_THREAD__)
  __tsan_switch_to_fiber(team.scheduler_fiber, 0u);
#endif
  (void)switch_context(&team.cores[core], &team.scheduler);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(team.fake_stack[core], &team.scheduler_stack,
                                  &team.scheduler_stack_bytes);
#endif
}

static void to_core(int core) {
  team_core = core;
#if defined(__SANITIZE_ADDRESS__)
  void *own = NULL;
  __sanitizer_start_switch_fiber(&own, stacks[core], STACK_BYTES);
#endif
#if defined(__SANITIZE_THREAD__)
  __tsan_switch_to_fiber(team.fiber[core], 0u);
#endif
  (void)switch_context(&team.scheduler, &team.cores[core]);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(own, NULL, NULL);
#endif
}

static void core_main(void) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(NULL, &team.scheduler_stack, &team.scheduler_stack_bytes);
#endif
  team.job.entry(team.job.argument);
  team.state[team_core] = FINISHED;
  to_scheduler();
}

/* Runs every core up to its next barrier or its end; returns how many wait at the barrier. */
static int run_round(void) {
  const bool descending = match_twin_mode() != MATCH_TWIN_EAGER;
  int waiting = 0;
  for (int i = 0; i < team_size; i++) {
    const int core = descending ? team_size - 1 - i : i;
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
  return team_size > 0 ? team_core : (int)MATCH_GAP9_CONTROLLER_CORE_ID;
}

int pi_cl_cluster_nb_cores(void) { return (int)MATCH_GAP9_CORE_COUNT; }

int pi_cl_team_nb_cores(void) { return team_size > 0 ? team_size : 1; }

static void set_up(int core) {
  team.state[core] = RUNNABLE;
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(stacks[core], STACK_BYTES); /* frames of the last team */
#endif
  (void)getcontext(&team.cores[core]);
  team.cores[core].uc_stack.ss_sp = stacks[core];
  team.cores[core].uc_stack.ss_size = STACK_BYTES;
  team.cores[core].uc_link = NULL;
#if defined(__SANITIZE_THREAD__)
  team.fiber[core] = __tsan_create_fiber(0u);
#endif
  makecontext(&team.cores[core], core_main, 0);
}

static void tear_down(int core) {
#if defined(__SANITIZE_THREAD__)
  __tsan_destroy_fiber(team.fiber[core]);
#else
  (void)core;
#endif
}

static void run_team(void *argument) {
  (void)argument;
  gap9_enter_cluster();
  match_twin_spend_kind(MATCH_TWIN_CLOCK_CLUSTER, MATCH_GAP9_TEAM_START_CYCLES, "team start");
#if defined(__SANITIZE_THREAD__)
  team.scheduler_fiber = __tsan_get_current_fiber();
#endif
  team_size = team.prepared;
  for (int core = 0; core < team_size; core++) {
    set_up(core);
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
    tear_down(core);
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
  match_twin_spend_kind(MATCH_TWIN_CLOCK_CONTROL, MATCH_GAP9_TEAM_OFFLOAD_CYCLES, "offload team");
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
  if (team_size == 0) {
    match_twin_fault("a team barrier outside of a team");
  }
  team.state[team_core] = AT_BARRIER;
  to_scheduler();
}

int gap9_enter_kernel(const char *name, uint64_t cycles) {
  if (team_size != NUM_CORES || NUM_CORES != (int)MATCH_GAP9_CORE_COUNT) {
    match_twin_faultf("%s: called by a team of %d cores, the library is built for %d", name, team_size, NUM_CORES);
  }
  if (team_core == 0) {
    match_twin_spend_kind(MATCH_TWIN_CLOCK_CLUSTER, cycles, name);
  }
  return team_core;
}

