/* match_twin_signal.c - counters, loops that wait, and doorbells. SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <string.h>

#include "match_twin_inner.h"

#define MAX_COUNTERS 256u
#define MAX_QUEUES 32u

typedef struct {
  const void *address;
  uint64_t time;    /* of the last store */
  uint32_t version; /* stores so far */
} counter_t;

/* What a context has seen since it last returned from relax. */
typedef struct {
  uint32_t counter, version;
} glance_t;

typedef struct {
  glance_t glance[MAX_COUNTERS];
  uint32_t count;
  uint32_t changes; /* of the twin's own state */
} view_t;

/* The queues of units; they outlive a run. */
static struct {
  const void *posted[MAX_QUEUES], *done[MAX_QUEUES];
  uint32_t count;
} queues;

static struct {
  counter_t counter[MAX_COUNTERS];
  uint32_t count;
  uint32_t changes;
  view_t view[MATCH_TWIN_MAX_CONTEXTS];
  bool owes[MATCH_TWIN_MAX_CONTEXTS];
} seen;

/* In threads mode: rings and changes, with no order. */
static atomic_bool rings[MATCH_TWIN_MAX_BELLS];
static uint64_t ring_time[MATCH_TWIN_MAX_BELLS];

/* ---- counters ------------------------------------------------------------------------------------------------- */

static uint32_t find(const void *address) {
  for (uint32_t i = 0u; i < seen.count; i++) {
    if (seen.counter[i].address == address) {
      return i;
    }
  }
  if (seen.count == MAX_COUNTERS) {
    match_twin_faultf("more than %u counters", MAX_COUNTERS);
  }
  seen.counter[seen.count] = (counter_t){.address = address};
  return seen.count++;
}

void match_twin_forget_view(uint32_t context) {
  seen.view[context].count = 0u;
  seen.view[context].changes = seen.changes;
}

static bool has_changed(uint32_t context) {
  const view_t *view = &seen.view[context];
  for (uint32_t i = 0u; i < view->count; i++) {
    if (seen.counter[view->glance[i].counter].version != view->glance[i].version) {
      return true;
    }
  }
  return view->changes != seen.changes;
}

static void look_at(uint32_t counter) {
  view_t *view = &seen.view[match_twin_context()];
  for (uint32_t i = 0u; i < view->count; i++) {
    if (view->glance[i].counter == counter) {
      view->glance[i].version = seen.counter[counter].version;
      return;
    }
  }
  view->glance[view->count] = (glance_t){counter, seen.counter[counter].version};
  view->count++;
}

/* Cycles from a signal until the context that waited for it goes on. */
static uint64_t latency(uint32_t context) {
  return context == 0u ? match_twin_costs().notify : match_twin_costs().wake;
}

/* Those who wait for a change and have one now go on. */
static void wake_those_who_look(void) {
  const uint64_t now = match_twin_now(match_twin_context_clock());
  for (uint32_t i = 0u; i < MATCH_TWIN_MAX_CONTEXTS; i++) {
    if (match_twin_waits(i, MATCH_TWIN_FOR_CHANGE, 0u) && has_changed(i)) {
      match_twin_wake(i, now + latency(i));
    }
  }
}

uint32_t match_twin_load(const _Atomic uint32_t *counter) {
  match_twin_yield();
  const uint32_t index = find((const void *)counter);
  match_twin_wait_until(match_twin_context_clock(), seen.counter[index].time);
  look_at(index);
  return atomic_load_explicit(counter, memory_order_acquire);
}

/* The end of a context is one more counter, known by the context's view. */
void match_twin_look_at_end(uint32_t context) { look_at(find(&seen.view[context])); }

void match_twin_note_end(uint32_t context) {
  seen.counter[find(&seen.view[context])].version++;
  wake_those_who_look();
}

void match_twin_queue(const _Atomic uint32_t *posted, const _Atomic uint32_t *done) {
  if (queues.count == MAX_QUEUES) {
    match_twin_faultf("more than %u queues", MAX_QUEUES);
  }
  queues.posted[queues.count] = (const void *)posted;
  queues.done[queues.count] = (const void *)done;
  queues.count++;
}

void match_twin_owe(bool owes) {
  if (!match_twin_threads()) {
    seen.owes[match_twin_context()] = owes;
  }
}

static bool is_among(const void *const *list, const void *address) {
  uint32_t place = 0u;
  while (place < queues.count && list[place] != address) {
    place++;
  }
  return place < queues.count;
}

/* A session begins with stores of 0, which cost nothing. */
void match_twin_store(_Atomic uint32_t *counter, uint32_t value) {
  const unsigned clock = match_twin_context_clock();
  const bool is_done = value != 0u && is_among(queues.done, (const void *)counter);
  if (is_done && match_twin_deferred() != 0u) {
    match_twin_faultf("%s says that a task is done before %zu asynchronous operations were waited for",
                      match_twin_context_name(match_twin_context()), match_twin_deferred());
  }
  if (is_done && seen.owes[match_twin_context()]) {
    match_twin_faultf("%s says that a task is done before it has waited for the work that it asked for",
                      match_twin_context_name(match_twin_context()));
  }
  if (value != 0u && is_among(queues.posted, (const void *)counter)) {
    match_twin_spend_kind(clock, match_twin_costs().post, "post");
  }
  match_twin_yield();
  counter_t *entry = &seen.counter[find((const void *)counter)];
  entry->time = match_twin_now(clock);
  entry->version++;
  atomic_store_explicit(counter, value, memory_order_release);
  wake_those_who_look();
  if (is_done) {
    match_twin_spend_kind(clock, match_twin_costs().task, "next task");
  }
  match_twin_yield();
}

/* ---- loops that wait ------------------------------------------------------------------------------------------ */

void match_twin_changed(void) {
  if (match_twin_threads()) {
    return;
  }
  seen.changes++;
  wake_those_who_look();
}

static bool relax(bool bounded) {
  const uint32_t me = match_twin_context();
  bool happened = true;
  if (match_twin_threads()) {
    match_twin_nap(MATCH_TWIN_NAP_MICROSECONDS);
    return true;
  }
  if (has_changed(me)) {
    match_twin_yield();
  } else {
    happened = match_twin_block((match_twin_wait_t){MATCH_TWIN_FOR_CHANGE, 0u, bounded});
  }
  match_twin_forget_view(me);
  return happened;
}

void match_twin_relax(void) { (void)relax(false); }

int match_twin_relax_bounded(void) { return relax(true) ? 0 : 1; }

/* ---- doorbells ------------------------------------------------------------------------------------------------ */

static void check_bell(unsigned bell) {
  if (bell >= MATCH_TWIN_MAX_BELLS) {
    match_twin_faultf("bell %u does not exist (there are %u)", bell, MATCH_TWIN_MAX_BELLS);
  }
}

void match_twin_ring(unsigned bell) {
  check_bell(bell);
  if (match_twin_threads()) {
    match_twin_delay();
    atomic_store_explicit(&rings[bell], true, memory_order_relaxed);
    return;
  }
  match_twin_yield();
  ring_time[bell] = match_twin_now(match_twin_context_clock());
  atomic_store_explicit(&rings[bell], true, memory_order_relaxed);
  for (uint32_t i = 0u; i < MATCH_TWIN_MAX_CONTEXTS; i++) {
    if (match_twin_waits(i, MATCH_TWIN_FOR_BELL, bell)) {
      match_twin_wake(i, ring_time[bell] + latency(i));
    }
  }
}

static bool take(unsigned bell) { return atomic_exchange_explicit(&rings[bell], false, memory_order_relaxed); }

bool match_twin_rung(unsigned bell) {
  check_bell(bell);
  if (match_twin_threads()) {
    return take(bell);
  }
  match_twin_yield();
  const bool rung = take(bell);
  if (rung) {
    match_twin_wait_until(match_twin_context_clock(), ring_time[bell]);
  }
  return rung;
}

static bool nap_until_rung(unsigned bell, bool bounded) {
  for (uint32_t naps = 0u; !take(bell); naps++) {
    if (bounded && naps == MATCH_TWIN_BOUND_NAPS) {
      return false;
    }
    match_twin_nap(MATCH_TWIN_NAP_MICROSECONDS);
  }
  return true;
}

static bool sleep_for(unsigned bell, bool bounded) {
  check_bell(bell);
  if (match_twin_threads()) {
    return nap_until_rung(bell, bounded);
  }
  bool rung = match_twin_rung(bell);
  if (!rung && match_twin_block((match_twin_wait_t){MATCH_TWIN_FOR_BELL, bell, bounded})) {
    rung = take(bell);
  }
  return rung;
}

void match_twin_sleep(unsigned bell) { (void)sleep_for(bell, false); }

int match_twin_sleep_bounded(unsigned bell) { return sleep_for(bell, true) ? 0 : 1; }

void match_twin_forget_signals(void) { memset(&seen, 0, sizeof seen); }
