/* ita_team.c - the compute cores. Core 0 is the context's thread, the others are fibers in it. Between two barriers
 * the cores run one after the other: in eager mode core 0 first, in the other modes core 0 last and the others from
 * the highest down, so that a missing barrier shows. SPDX-License-Identifier: Apache-2.0 */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#include <string.h>
#include <ucontext.h>

#include "ita_twin.h"
#include "match_ita_charge.h"
#include "match_ita_cluster.h"
#include "snrt.h"

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

typedef enum { IDLE, RUNNABLE, AT_BARRIER } state_t;

/* Of the compute cores' thread. */
static struct {
  uint32_t core; /* the one that runs */
  state_t state[MATCH_ITA_CORES];
  const snrt_barrier_t *barrier[MATCH_ITA_CORES]; /* that the core waits at */
  uint64_t cycles[MATCH_ITA_CORES]; /* of its work since the last barrier */
  ucontext_t context[MATCH_ITA_CORES]; /* of core 0: where the fibers come back to */
  void *fake_stack[MATCH_ITA_CORES];
  const void *main_stack;
  size_t main_stack_bytes;
  void *fiber[MATCH_ITA_CORES]; /* as the thread sanitizer sees them */
} team;

static _Alignas(64) uint8_t stacks[MATCH_ITA_CORES][STACK_BYTES];

/* ---- fibers ----------------------------------------------------------------------------------------------------- */

static void to_main(void) {
  const uint32_t core = team.core;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&team.fake_stack[core], team.main_stack, team.main_stack_bytes);
#endif
#if defined(__SANITIZE_THREAD__)
  __tsan_switch_to_fiber(team.fiber[0], 0);
#endif
  (void)switch_context(&team.context[core], &team.context[0]);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(team.fake_stack[core], &team.main_stack, &team.main_stack_bytes);
#endif
}

static void to_core(uint32_t core) {
  team.core = core;
#if defined(__SANITIZE_ADDRESS__)
  void *own = NULL;
  __sanitizer_start_switch_fiber(&own, stacks[core], STACK_BYTES);
#endif
#if defined(__SANITIZE_THREAD__)
  __tsan_switch_to_fiber(team.fiber[core], 0);
#endif
  (void)switch_context(&team.context[0], &team.context[core]);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(own, NULL, NULL);
#endif
  team.core = 0u;
}

static _Noreturn void fiber_main(void) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(NULL, &team.main_stack, &team.main_stack_bytes);
#endif
  for (;;) {
    match_ita_follow();
  }
}

static void set_up(uint32_t core) {
  team.state[core] = RUNNABLE;
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(stacks[core], STACK_BYTES); /* frames of the last order */
#endif
#if defined(__SANITIZE_THREAD__)
  team.fiber[core] = __tsan_create_fiber(0);
#endif
  (void)getcontext(&team.context[core]);
  team.context[core].uc_stack.ss_sp = stacks[core];
  team.context[core].uc_stack.ss_size = STACK_BYTES;
  team.context[core].uc_link = NULL;
  makecontext(&team.context[core], (void (*)(void))fiber_main, 0);
}

void ita_team_begin(void) {
  team.core = 0u;
#if defined(__SANITIZE_THREAD__)
  team.fiber[0] = __tsan_get_current_fiber();
#endif
  for (uint32_t core = 0u; core < MATCH_ITA_CORES; core++) {
    team.state[core] = IDLE;
    team.cycles[core] = 0u;
  }
}

void ita_team_end(void) {
#if defined(__SANITIZE_THREAD__)
  for (uint32_t core = 1u; core < MATCH_ITA_CORES; core++) {
    if (team.state[core] != IDLE) {
      __tsan_destroy_fiber(team.fiber[core]);
    }
  }
#endif
}

/* ---- barrier ---------------------------------------------------------------------------------------------------- */

/* The other cores run up to their next barrier; those that are there stay. */
static void run_others(void) {
  const bool descending = match_twin_mode() != MATCH_TWIN_EAGER;
  for (uint32_t i = 1u; i < MATCH_ITA_CORES; i++) {
    const uint32_t core = descending ? MATCH_ITA_CORES - i : i;
    if (team.state[core] == IDLE) {
      set_up(core);
    }
    if (team.state[core] == RUNNABLE) {
      to_core(core);
    }
  }
}

/* Between two barriers the team takes as long as its busiest core. */
static void spend_longest(void) {
  uint64_t longest = 0u;
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
    to_main();
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

void match_ita_twin_charge(uint64_t cycles) {
  if (!ita_on_compute_cores()) {
    match_twin_fault("cycles of a kernel were charged outside of the compute cores");
  }
  team.cycles[team.core] += cycles;
}

/* All cores call it; the time is that of one. */
void match_ita_twin_charge_barrier(void) {
  if (team.core == 0u) {
    match_twin_spend_kind(MATCH_TWIN_CLOCK_SNITCH, MATCH_ITA_BARRIER_CYCLES, "barrier");
  }
}
