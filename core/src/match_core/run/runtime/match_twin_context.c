/* match_twin_context.c - contexts as threads; in the timeline they hand one baton on.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "match_twin_inner.h"

/* How long a bounded wait lasts in virtual time. */
#define BOUND_CYCLES 100000u

typedef enum { FREE, RUNNABLE, WAITING, ENDED } state_t;

typedef struct {
  const char *name;
  void (*entry)(void *);
  void *argument;
  pthread_t thread;
  pthread_cond_t go;
  unsigned clock;
  state_t state;
  uint64_t time; /* when it goes on */
  match_twin_wait_t wait;
  bool timed_out;
  bool late; /* a job in lazy mode that nobody has joined yet */
  atomic_bool taken, ended; /* of threads mode, and of the slot */
} context_t;

/* In the timeline all fields belong to the context that has the baton. */
static struct {
  pthread_mutex_t mutex;
  context_t context[MATCH_TWIN_MAX_CONTEXTS];
  uint32_t running;
  uint32_t alive; /* beside the host's */
  match_twin_costs_t costs;
} crowd = {
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .context = {{.name = "host", .state = RUNNABLE, .go = PTHREAD_COND_INITIALIZER}},
};

static _Thread_local uint32_t self;

uint32_t match_twin_context(void) { return self; }

void match_twin_adopt(uint32_t context) { self = context; }

unsigned match_twin_context_clock(void) { return crowd.context[self].clock; }

unsigned match_twin_use_clock(unsigned clock) {
  const unsigned before = crowd.context[self].clock;
  if (!match_twin_threads()) {
    crowd.context[self].clock = clock;
  }
  return before;
}

uint32_t match_twin_contexts(void) { return crowd.alive + 1u; }

const char *match_twin_context_name(uint32_t context) { return crowd.context[context].name; }

void match_twin_host_clock(unsigned clock) { crowd.context[0].clock = clock; }

/* ---- the baton ------------------------------------------------------------------------------------------------ */

static _Noreturn void deadlock(void) {
  char text[512] = "";
  static const char *const waits[] = {"a change", "a bell", "an end"};
  for (uint32_t i = 0u; i < MATCH_TWIN_MAX_CONTEXTS; i++) {
    const context_t *context = &crowd.context[i];
    const size_t used = strlen(text);
    if (context->state == WAITING || context->state == RUNNABLE) {
      (void)snprintf(text + used, sizeof text - used, "%s %s %s", used > 0u ? "," : "", context->name,
                     context->state == RUNNABLE ? "hangs" : "waits for ");
      const size_t named = strlen(text);
      (void)snprintf(text + named, sizeof text - named, "%s",
                     context->state == RUNNABLE ? "" : waits[context->wait.kind]);
    }
  }
  match_twin_faultf("deadlock: no context can go on:%s", text);
}

static bool is_before(uint32_t one, uint32_t other) {
  const uint64_t a = crowd.context[one].time, b = crowd.context[other].time;
  return a < b || (a == b && one == self);
}

/* The runnable context whose time is the smallest. Jobs that are late go on only if there is no other, and behind them
 * the one that the mode holds back. */
static uint32_t choose(void) {
  enum { OTHERS, LATE, HELD, RANKS };
  uint32_t best[RANKS] = {MATCH_TWIN_MAX_CONTEXTS, MATCH_TWIN_MAX_CONTEXTS, MATCH_TWIN_MAX_CONTEXTS};
  for (uint32_t i = 0u; i < MATCH_TWIN_MAX_CONTEXTS; i++) {
    const context_t *context = &crowd.context[i];
    if (context->state != RUNNABLE || match_twin_is_hung(context->name)) {
      continue;
    }
    uint32_t *place = &best[match_twin_is_held(context->name) ? HELD : context->late ? LATE : OTHERS];
    if (*place == MATCH_TWIN_MAX_CONTEXTS || is_before(i, *place)) {
      *place = i;
    }
  }
  return best[OTHERS] != MATCH_TWIN_MAX_CONTEXTS ? best[OTHERS]
         : best[LATE] != MATCH_TWIN_MAX_CONTEXTS ? best[LATE]
                                                 : best[HELD];
}

/* Nobody can go on: the first bounded wait is over. */
static uint32_t time_out(void) {
  for (uint32_t i = 0u; i < MATCH_TWIN_MAX_CONTEXTS; i++) {
    context_t *context = &crowd.context[i];
    if (context->state == WAITING && context->wait.bounded) {
      context->state = RUNNABLE;
      context->timed_out = true;
      context->time += BOUND_CYCLES;
      return i;
    }
  }
  deadlock();
}

static uint32_t next(void) {
  const uint32_t chosen = choose();
  return chosen != MATCH_TWIN_MAX_CONTEXTS ? chosen : time_out();
}

static void hand_to(uint32_t other) {
  (void)pthread_mutex_lock(&crowd.mutex);
  crowd.running = other;
  (void)pthread_cond_signal(&crowd.context[other].go);
  (void)pthread_mutex_unlock(&crowd.mutex);
}

static void await_baton(void) {
  (void)pthread_mutex_lock(&crowd.mutex);
  while (crowd.running != self) {
    (void)pthread_cond_wait(&crowd.context[self].go, &crowd.mutex);
  }
  (void)pthread_mutex_unlock(&crowd.mutex);
}

static void pass(void) {
  const uint32_t other = next();
  if (other != self) {
    hand_to(other);
    await_baton();
  }
}

void match_twin_yield_at(uint64_t time) {
  if (match_twin_threads() || crowd.alive == 0u) {
    return;
  }
  crowd.context[self].time = time;
  pass();
}

void match_twin_yield(void) {
  if (!match_twin_threads()) {
    match_twin_yield_at(match_twin_now(crowd.context[self].clock));
  }
}

bool match_twin_block(match_twin_wait_t wait) {
  context_t *me = &crowd.context[self];
  me->time = match_twin_now(me->clock);
  me->state = WAITING;
  me->wait = wait;
  me->timed_out = false;
  pass();
  match_twin_wait_until(me->clock, me->time);
  return !me->timed_out;
}

bool match_twin_waits(uint32_t context, match_twin_kind_t kind, uint32_t number) {
  const context_t *one = &crowd.context[context];
  return one->state == WAITING && one->wait.kind == kind && one->wait.number == number;
}

void match_twin_wake(uint32_t context, uint64_t time) {
  context_t *one = &crowd.context[context];
  one->state = RUNNABLE;
  one->time = one->time > time ? one->time : time;
}

/* ---- signalling ----------------------------------------------------------------------------------------------- */

void match_twin_signalling(uint64_t post, uint64_t wake, uint64_t notify, uint64_t task) {
  crowd.costs = (match_twin_costs_t){post, wake, notify, task};
}

match_twin_costs_t match_twin_costs(void) { return crowd.costs; }

/* ---- start and end -------------------------------------------------------------------------------------------- */

static void check_end(void) {
  if (match_twin_deferred() != 0u) {
    match_twin_faultf("%s ended before %zu asynchronous operations were waited for", crowd.context[self].name,
                      match_twin_deferred());
  }
  match_twin_end_helper();
}

static void *run_context(void *argument) {
  context_t *me = argument;
  self = (uint32_t)(me - crowd.context);
  if (match_twin_threads()) {
    match_twin_delay();
    me->entry(me->argument);
    check_end();
    atomic_store_explicit(&me->ended, true, memory_order_release);
    return NULL;
  }
  await_baton();
  match_twin_wait_until(me->clock, me->time);
  me->entry(me->argument);
  check_end();
  match_twin_yield(); /* the end is seen in the order of time too */
  me->time = match_twin_now(me->clock);
  me->state = ENDED;
  crowd.alive--;
  for (uint32_t i = 0u; i < MATCH_TWIN_MAX_CONTEXTS; i++) {
    if (match_twin_waits(i, MATCH_TWIN_FOR_END, self)) {
      match_twin_wake(i, me->time);
    }
  }
  match_twin_end_of_job(self, me->time);
  match_twin_note_end(self);
  hand_to(next());
  return NULL;
}

static uint32_t take_slot(void) {
  for (uint32_t i = 1u; i < MATCH_TWIN_MAX_CONTEXTS; i++) {
    bool taken = false;
    if (atomic_compare_exchange_strong_explicit(&crowd.context[i].taken, &taken, true, memory_order_relaxed,
                                                memory_order_relaxed)) {
      return i;
    }
  }
  match_twin_faultf("more than %u contexts", MATCH_TWIN_MAX_CONTEXTS);
}

static void check_clock(const char *name, unsigned clock) {
  for (uint32_t i = 0u; i < MATCH_TWIN_MAX_CONTEXTS; i++) {
    const context_t *context = &crowd.context[i];
    if ((context->state == RUNNABLE || context->state == WAITING) && context->clock == clock) {
      match_twin_faultf("%s is started on the clock of %s", name, context->name);
    }
  }
}

static void enter_timeline(uint32_t number) {
  context_t *context = &crowd.context[number];
  const uint64_t now = match_twin_now(crowd.context[self].clock), own = match_twin_now(context->clock);
  check_clock(context->name, context->clock);
  match_twin_forget_view(number);
  (void)pthread_cond_init(&context->go, NULL);
  context->time = now > own ? now : own;
  context->late = false;
  context->state = RUNNABLE;
  crowd.alive++;
}

uint32_t match_twin_start(const char *name, unsigned clock, void (*entry)(void *), void *argument) {
  const uint32_t number = take_slot();
  context_t *context = &crowd.context[number];
  context->name = name;
  context->clock = clock;
  context->entry = entry;
  context->argument = argument;
  atomic_store_explicit(&context->ended, false, memory_order_relaxed);
  match_twin_queue_started(name);
  match_twin_give_node(number, false);
  if (!match_twin_threads()) {
    enter_timeline(number);
  }
  if (pthread_create(&context->thread, NULL, run_context, context) != 0) {
    match_twin_fault("a context cannot be started");
  }
  return number;
}

uint32_t match_twin_start_job(const char *name, unsigned clock, void (*entry)(void *), void *argument) {
  const uint32_t number = match_twin_start(name, clock, entry, argument);
  match_twin_give_node(number, true);
  if (match_twin_mode() == MATCH_TWIN_LAZY) {
    crowd.context[number].late = true;
  } else if (match_twin_mode() == MATCH_TWIN_EAGER) {
    crowd.context[self].time = match_twin_now(crowd.context[self].clock);
    hand_to(number);
    await_baton();
  }
  return number;
}

uint32_t match_twin_start_region(const char *name, unsigned clock, void (*entry)(void *), void *argument) {
  match_twin_node_alone();
  return match_twin_start_job(name, clock, entry, argument);
}

bool match_twin_ended(uint32_t number) {
  context_t *context = &crowd.context[number];
  if (match_twin_threads()) {
    return atomic_load_explicit(&context->ended, memory_order_acquire);
  }
  match_twin_yield();
  if (context->state != ENDED) {
    match_twin_look_at_end(number);
    return false;
  }
  match_twin_wait_until(crowd.context[self].clock, context->time);
  return true;
}

static void release(context_t *context) {
  (void)pthread_join(context->thread, NULL);
  context->state = FREE;
  atomic_store_explicit(&context->taken, false, memory_order_relaxed);
}

static bool await_end(uint32_t number, bool bounded) {
  if (!match_twin_threads()) {
    crowd.context[number].late = false;
    return match_twin_ended(number) || match_twin_block((match_twin_wait_t){MATCH_TWIN_FOR_END, number, bounded});
  }
  for (uint32_t naps = 0u; bounded && !match_twin_ended(number); naps++) {
    if (naps == MATCH_TWIN_BOUND_NAPS) {
      return false;
    }
    match_twin_nap(MATCH_TWIN_NAP_MICROSECONDS);
  }
  return true;
}

void match_twin_join(uint32_t number) {
  (void)await_end(number, false);
  release(&crowd.context[number]);
}

int match_twin_join_bounded(uint32_t number) {
  const bool ended = await_end(number, true);
  if (ended) {
    release(&crowd.context[number]);
  }
  return ended ? 0 : 1;
}
