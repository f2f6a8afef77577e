/* match_twin_mode.c - what the run's mode says, and the random delays of threads mode.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "match_twin_inner.h"

static struct {
  match_twin_mode_t mode;
  const char *held, *hung; /* names of queues, or NULL */
  uint32_t seed;
  atomic_bool queue_started; /* the one that the mode names */
} run;

match_twin_mode_t match_twin_mode(void) { return run.mode; }

void match_twin_set_mode(match_twin_mode_t mode) {
  if (match_twin_deferred() != 0u) {
    match_twin_fault("the run mode cannot change while operations are in flight");
  }
  run.mode = mode;
}

bool match_twin_threads(void) { return run.mode == MATCH_TWIN_THREADS; }

/* What follows the prefix, or NULL. */
static const char *rest(const char *mode, const char *prefix) {
  const size_t length = strlen(prefix);
  return strncmp(mode, prefix, length) == 0 ? mode + length : NULL;
}

void match_twin_configure(const char *mode) {
  const char *const seed = rest(mode, "threads:");
  run.held = rest(mode, "lazy:");
  run.hung = rest(mode, "hang:");
  match_twin_know_image();
  if (strcmp(mode, "eager") == 0) {
    match_twin_set_mode(MATCH_TWIN_EAGER);
  } else if (strcmp(mode, "lazy") == 0 || run.held != NULL || run.hung != NULL) {
    match_twin_set_mode(MATCH_TWIN_LAZY);
  } else if (strcmp(mode, "threads") == 0 || seed != NULL) {
#ifndef MATCH_TWIN_CONCURRENT
    match_twin_fault("the program was not built for threads");
#endif
    match_twin_set_mode(MATCH_TWIN_THREADS);
    run.seed = seed != NULL ? (uint32_t)strtoul(seed, NULL, 10) : 1u;
  } else {
    match_twin_faultf("%s is no mode of the twin", mode);
  }
}

static bool is_same(const char *name, const char *wanted) { return wanted != NULL && strcmp(name, wanted) == 0; }

bool match_twin_is_held(const char *name) { return is_same(name, run.held); }

bool match_twin_is_hung(const char *name) { return is_same(name, run.hung); }

void match_twin_queue_started(const char *name) {
  if (match_twin_is_held(name) || match_twin_is_hung(name)) {
    atomic_store_explicit(&run.queue_started, true, memory_order_relaxed);
  }
}

void match_twin_check_queue(void) {
  const char *const named = run.held != NULL ? run.held : run.hung;
  if (named != NULL && strcmp(named, "host") != 0 &&
      !atomic_load_explicit(&run.queue_started, memory_order_relaxed)) {
    match_twin_faultf("there is no queue %s", named);
  }
}

void match_twin_poison(void *memory, uint64_t size_bytes) {
  if (run.mode == MATCH_TWIN_LAZY) {
    memset(memory, MATCH_TWIN_POISON, (size_t)size_bytes);
  }
}

/* ---- random delays -------------------------------------------------------------------------------------------- */

/* xorshift of Marsaglia (Xorshift RNGs, 2003): one sequence per thread, from the seed and its context. */
static uint32_t draw(void) {
  static _Thread_local uint32_t state;
  if (state == 0u) {
    state = (run.seed * 2654435761u) ^ ((match_twin_context() + 1u) * 40503u);
    state = state != 0u ? state : 1u;
  }
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}

void match_twin_nap(unsigned microseconds) {
  const struct timespec length = {.tv_nsec = (long)(1000u + draw() % (1000u * microseconds))};
  (void)nanosleep(&length, NULL);
}

/* Mostly none, sometimes another thread first, seldom long. */
void match_twin_delay(void) {
  if (!match_twin_threads()) {
    return;
  }
  const uint32_t kind = draw() % 8u;
  if (kind == 0u) {
    match_twin_nap(200u);
  } else if (kind < 4u) {
    (void)sched_yield();
  }
}
