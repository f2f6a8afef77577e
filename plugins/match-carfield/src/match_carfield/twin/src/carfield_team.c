/* carfield_team.c - the cores of a cluster. Core 0 is the unit's context, the others are fibers in its thread. Between two
 * barriers the cores run one after the other: in eager mode core 0 first, in the other modes core 0 last and the others
 * from the highest down, so that a missing barrier shows. SPDX-License-Identifier: Apache-2.0 */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#include <string.h>
#include <ucontext.h>

#include "carfield_twin.h"
#include "pulp.h"
#include "snrt.h"

#define MAX_CORES 8u

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
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

typedef enum { IDLE, RUNNABLE, AT_BARRIER, FINISHED } state_t;

typedef struct {
  void (*follow)(void);
  uint32_t core; /* the one that runs */
  state_t state[MAX_CORES];
  ucontext_t context[MAX_CORES]; /* of core 0: where the fibers come back to */
  void *fake_stack[MAX_CORES];
  const void *main_stack;
  size_t main_stack_bytes;
  void *fiber[MAX_CORES]; /* as the thread sanitizer sees them */
} team_t;

static team_t teams[CARFIELD_UNITS];
static _Alignas(64) uint8_t stacks[CARFIELD_UNITS][MAX_CORES][STACK_BYTES];
static _Thread_local team_t *mine;

static uint32_t cores_of(carfield_unit_t unit) {
  return unit == CARFIELD_PULP ? MATCH_CARFIELD_PULP_CORES : MATCH_CARFIELD_SPATZ_CORES;
}

uint32_t carfield_core(carfield_unit_t unit) { return teams[unit].core; }

/* ---- fibers --------------------------------------------------------------------------------------------------------- */

static void to_main(team_t *team) {
  const uint32_t core = team->core;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&team->fake_stack[core], team->main_stack, team->main_stack_bytes);
#endif
#if defined(__SANITIZE_THREAD__)
  __tsan_switch_to_fiber(team->fiber[0], 0);
#endif
  (void)switch_context(&team->context[core], &team->context[0]);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(team->fake_stack[core], &team->main_stack, &team->main_stack_bytes);
#endif
}

static void to_core(team_t *team, uint32_t core) {
  team->core = core;
#if defined(__SANITIZE_ADDRESS__)
  void *own = NULL;
  __sanitizer_start_switch_fiber(&own, stacks[team - teams][core], STACK_BYTES);
#endif
#if defined(__SANITIZE_THREAD__)
  __tsan_switch_to_fiber(team->fiber[core], 0);
#endif
  (void)switch_context(&team->context[0], &team->context[core]);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(own, NULL, NULL);
#endif
  team->core = 0u;
}

static void fiber_main(void) {
  team_t *team = mine;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(NULL, &team->main_stack, &team->main_stack_bytes);
#endif
  team->follow();
  team->state[team->core] = FINISHED;
  to_main(team);
}

static void set_up(team_t *team, uint32_t core) {
  uint8_t *stack = stacks[team - teams][core];
  team->state[core] = RUNNABLE;
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(stack, STACK_BYTES); /* frames of the last session */
#endif
#if defined(__SANITIZE_THREAD__)
  team->fiber[core] = __tsan_create_fiber(0);
#endif
  (void)getcontext(&team->context[core]);
  team->context[core].uc_stack.ss_sp = stack;
  team->context[core].uc_stack.ss_size = STACK_BYTES;
  team->context[core].uc_link = NULL;
  makecontext(&team->context[core], fiber_main, 0);
}

void carfield_team_begin(carfield_unit_t unit, void (*follow)(void)) {
  team_t *team = &teams[unit];
  mine = team;
  team->follow = follow;
  team->core = 0u;
#if defined(__SANITIZE_THREAD__)
  team->fiber[0] = __tsan_get_current_fiber();
#endif
  for (uint32_t core = 1u; core < cores_of(unit); core++) {
    team->state[core] = IDLE;
  }
}

void carfield_team_end(carfield_unit_t unit) {
#if defined(__SANITIZE_THREAD__)
  for (uint32_t core = 1u; core < cores_of(unit); core++) {
    if (teams[unit].state[core] != IDLE) {
      __tsan_destroy_fiber(teams[unit].fiber[core]);
    }
  }
#endif
  (void)unit;
}

/* ---- barrier -------------------------------------------------------------------------------------------------------- */

/* The other cores run up to their next barrier; those that are there stay. */
static void run_others(team_t *team, uint32_t cores) {
  const bool descending = match_twin_mode() != MATCH_TWIN_EAGER;
  for (uint32_t i = 1u; i < cores; i++) {
    const uint32_t core = descending ? cores - i : i;
    if (team->state[core] == IDLE) {
      set_up(team, core);
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
    to_main(team);
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
