/* match_twin.c - virtual clocks, event log and profile. SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "match_twin_inner.h"

#define PROFILE_DEPTH 16u

typedef struct {
  uint64_t start, end;
  const char *kind;
  uint32_t clock, node;
  const char *context;
} event_t;

typedef struct {
  uint64_t cycles, calls;
  bool alone;     /* its cycles end with its job, whoever notices that, and when */
  uint64_t ended; /* when that job ended, 0 before */
} node_t;

/* A node that was begun and has not ended. */
typedef struct {
  uint32_t node;
  uint64_t begin;
} open_t;

/* In the timeline all of it belongs to the context that has the baton; in threads mode nobody writes it. */
static struct {
  uint64_t now[MATCH_TWIN_MAX_CLOCKS];
  uint64_t busy[MATCH_TWIN_MAX_CLOCKS];
  bool used[MATCH_TWIN_MAX_CLOCKS];
  const char *name[MATCH_TWIN_MAX_CLOCKS];
  event_t *events;
  size_t event_count, event_room;
  node_t *nodes;
  size_t node_room;
  /* Open nodes of each context, latest last: a controller may work on several at once. */
  open_t open[MATCH_TWIN_MAX_CONTEXTS][PROFILE_DEPTH];
  uint32_t open_count[MATCH_TWIN_MAX_CONTEXTS];
  uint32_t job_node[MATCH_TWIN_MAX_CONTEXTS]; /* 1 and the node that a job was started in; 0: no job, or no node */
  bool log_off;
  /* Cycles of nodes whose kernels have no twin of their own, charged when the node ends. */
  const uint64_t *charge;
  size_t charge_count;
  match_twin_observer_t observer;
  unsigned charge_clock;
} twin;

/* ---- faults --------------------------------------------------------------------------------------------------- */

static uint32_t current_node(void) {
  const uint32_t context = match_twin_context();
  const uint32_t count = twin.open_count[context];
  return count > 0u ? twin.open[context][count - 1u].node : twin.job_node[context] - 1u;
}

void match_twin_give_node(uint32_t context, bool job) {
  if (!match_twin_threads()) {
    twin.job_node[context] = job ? current_node() + 1u : 0u; /* no node is the largest number */
  }
}

void match_twin_node_alone(void) {
  const uint32_t node = current_node();
  if (!match_twin_threads() && node < twin.node_room) {
    twin.nodes[node].alone = true;
  }
}

void match_twin_end_of_job(uint32_t context, uint64_t time) {
  const uint32_t node = twin.job_node[context] - 1u;
  if (node < twin.node_room && twin.nodes[node].alone) {
    twin.nodes[node].ended = time;
  }
}

_Noreturn void match_twin_fault(const char *message) { match_twin_faultf("%s", message); }

_Noreturn void match_twin_faultf(const char *format, ...) {
  va_list arguments;
  (void)fflush(stdout);
  (void)fputs("match twin fault: ", stderr);
  va_start(arguments, format);
  (void)vfprintf(stderr, format, arguments);
  va_end(arguments);
  if (current_node() != MATCH_TWIN_NO_NODE) {
    (void)fprintf(stderr, " (in node %" PRIu32 ")", current_node());
  }
  (void)fputc('\n', stderr);
  (void)fflush(stderr);
  abort();
}

/* ---- growing tables ------------------------------------------------------------------------------------------- */

static void *grow(void *table, size_t *room, size_t item_size, size_t needed) {
  size_t wanted = *room == 0u ? 256u : *room;
  while (wanted < needed) {
    wanted *= 2u;
  }
  if (wanted != *room) {
    char *bigger = realloc(table, wanted * item_size);
    if (bigger == NULL) {
      match_twin_fault("the twin ran out of host memory");
    }
    memset(bigger + *room * item_size, 0, (wanted - *room) * item_size);
    *room = wanted;
    return bigger;
  }
  return table;
}

static void record(unsigned clock, const char *kind, uint64_t start, uint64_t end) {
  if (twin.log_off || start == end) {
    return;
  }
  twin.events = grow(twin.events, &twin.event_room, sizeof(event_t), twin.event_count + 1u);
  twin.events[twin.event_count] = (event_t){start, end, kind, clock, current_node(),
                                           match_twin_context_name(match_twin_context())};
  twin.event_count++;
}

/* ---- clocks --------------------------------------------------------------------------------------------------- */

static void check_clock(unsigned clock) {
  if (clock >= MATCH_TWIN_MAX_CLOCKS) {
    match_twin_faultf("clock %u does not exist (there are %u)", clock, MATCH_TWIN_MAX_CLOCKS);
  }
  twin.used[clock] = true;
}

void match_twin_check_quiet(void) {
  if (match_twin_deferred() != 0u) {
    match_twin_faultf("%zu asynchronous operations were never waited for", match_twin_deferred());
  }
  if (match_twin_contexts() != 1u) {
    match_twin_faultf("%u contexts still run beside the host's", (unsigned)match_twin_contexts() - 1u);
  }
}

void match_twin_reset(void) {
  match_twin_check_quiet();
  match_twin_forget_signals();
  memset(twin.now, 0, sizeof twin.now);
  memset(twin.busy, 0, sizeof twin.busy);
  memset(twin.used, 0, sizeof twin.used);
  twin.event_count = 0u;
  memset(twin.open_count, 0, sizeof twin.open_count);
  if (twin.node_room > 0u) {
    memset(twin.nodes, 0, twin.node_room * sizeof(node_t));
  }
}

void match_twin_name_clock(unsigned clock, const char *name) {
  if (clock < MATCH_TWIN_MAX_CLOCKS) {
    twin.name[clock] = name;
  }
}

uint64_t match_twin_now(unsigned clock) {
  if (match_twin_threads()) {
    return 0u;
  }
  check_clock(clock);
  return twin.now[clock];
}

uint64_t match_twin_wall(void) {
  uint64_t latest = 0u;
  for (unsigned clock = 0u; clock < MATCH_TWIN_MAX_CLOCKS; clock++) {
    if (twin.now[clock] > latest) {
      latest = twin.now[clock];
    }
  }
  return latest;
}

uint64_t match_twin_busy(unsigned clock) {
  check_clock(clock);
  return twin.busy[clock];
}

void match_twin_spend(unsigned clock, uint64_t cycles) { match_twin_spend_kind(clock, cycles, "work"); }

void match_twin_spend_kind(unsigned clock, uint64_t cycles, const char *kind) {
  if (match_twin_threads()) {
    return;
  }
  check_clock(clock);
  record(clock, kind, twin.now[clock], twin.now[clock] + cycles);
  twin.now[clock] += cycles;
  twin.busy[clock] += cycles;
}

uint64_t match_twin_issue(unsigned issuer, unsigned resource, uint64_t cycles) {
  return match_twin_issue_kind(issuer, resource, cycles, "job");
}

uint64_t match_twin_issue_kind(unsigned issuer, unsigned resource, uint64_t cycles, const char *kind) {
  if (match_twin_threads()) {
    return 0u;
  }
  check_clock(issuer);
  check_clock(resource);
  if (issuer == resource) {
    match_twin_faultf("clock %u cannot issue work to itself", issuer);
  }
  match_twin_yield_at(twin.now[issuer]);
  if (twin.now[resource] < twin.now[issuer]) {
    twin.now[resource] = twin.now[issuer];
  }
  match_twin_spend_kind(resource, cycles, kind);
  return twin.now[resource];
}

void match_twin_wait_until(unsigned clock, uint64_t time) {
  if (match_twin_threads()) {
    return;
  }
  check_clock(clock);
  if (twin.now[clock] < time) {
    record(clock, "wait", twin.now[clock], time);
    twin.now[clock] = time;
  }
}

void match_twin_sync(unsigned to, unsigned from) { match_twin_wait_until(to, match_twin_now(from)); }

/* ---- profile -------------------------------------------------------------------------------------------------- */

static uint64_t profile_time(void) {
  return match_twin_contexts() > 1u ? match_twin_now(match_twin_context_clock()) : match_twin_wall();
}

/* Where the context's open nodes hold this one; their count if they do not. */
static uint32_t find_open(uint32_t context, unsigned node) {
  uint32_t place = 0u;
  while (place < twin.open_count[context] && twin.open[context][place].node != node) {
    place++;
  }
  return place;
}

void match_profile_begin(unsigned node) {
  const uint32_t context = match_twin_context();
  match_twin_delay();
  if (match_twin_threads()) {
    return;
  }
  if (node >= 1000000u) {
    match_twin_faultf("profile node %u is out of range", node);
  }
  twin.nodes = grow(twin.nodes, &twin.node_room, sizeof(node_t), (size_t)node + 1u);
  const uint32_t count = twin.open_count[context];
  if (find_open(context, node) != count || count == PROFILE_DEPTH) {
    match_twin_faultf("profile node %u begins twice, or more than %u nodes are open", node, PROFILE_DEPTH);
  }
  twin.open[context][count] = (open_t){node, profile_time()};
  twin.open_count[context]++;
}

void match_profile_end(unsigned node) {
  const uint32_t context = match_twin_context();
  match_twin_delay();
  if (match_twin_threads()) {
    return;
  }
  uint32_t place = find_open(context, node);
  if (place == twin.open_count[context]) {
    match_twin_faultf("profile node %u ends without a begin", node);
  }
  const uint64_t begin = twin.open[context][place].begin;
  if (node < twin.charge_count && twin.charge[node] != 0u) {
    match_twin_spend_kind(twin.charge_clock, twin.charge[node], "modelled");
  }
  for (twin.open_count[context]--; place < twin.open_count[context]; place++) {
    twin.open[context][place] = twin.open[context][place + 1u];
  }
  twin.nodes[node].calls++;
  const uint64_t ended = twin.nodes[node].ended;
  twin.nodes[node].cycles += (ended > begin ? ended : profile_time()) - begin;
  twin.nodes[node].alone = false;
  twin.nodes[node].ended = 0u;
  if (twin.observer != NULL) {
    twin.observer(node);
  }
}

void match_twin_observe(match_twin_observer_t observer) { twin.observer = observer; }

void match_twin_charge_nodes(unsigned clock, const uint64_t *cycles, size_t count) {
  check_clock(clock);
  twin.charge = cycles;
  twin.charge_count = count;
  twin.charge_clock = clock;
}

uint64_t match_profile_cycles(unsigned node) { return node < twin.node_room ? twin.nodes[node].cycles : 0u; }

/* ---- log ------------------------------------------------------------------------------------------------------ */

void match_twin_log_enable(bool on) { twin.log_off = !on; }

static const char *clock_name(unsigned clock) { return twin.name[clock] != NULL ? twin.name[clock] : ""; }

void match_twin_write_events(FILE *file) {
  for (size_t i = 0u; i < twin.event_count; i++) {
    const event_t *event = &twin.events[i];
    const int64_t node = event->node == MATCH_TWIN_NO_NODE ? -1 : (int64_t)event->node;
    (void)fprintf(file,
                  "{\"clock\": %" PRIu32 ", \"name\": \"%s\", \"kind\": \"%s\", \"start\": %" PRIu64
                  ", \"end\": %" PRIu64 ", \"node\": %" PRId64
                  ", \"context\": \"%s\"}\n",
                  event->clock, clock_name(event->clock), event->kind, event->start, event->end, node, event->context);
  }
}

void match_twin_write_summary(FILE *file) {
  for (unsigned clock = 0u; clock < MATCH_TWIN_MAX_CLOCKS; clock++) {
    if (twin.used[clock]) {
      (void)fprintf(file, "{\"clock\": %u, \"name\": \"%s\", \"now\": %" PRIu64 ", \"busy\": %" PRIu64 "}\n", clock,
                    clock_name(clock), twin.now[clock], twin.busy[clock]);
    }
  }
  for (size_t node = 0u; node < twin.node_room; node++) {
    if (twin.nodes[node].calls > 0u) {
      (void)fprintf(file, "{\"node\": %zu, \"cycles\": %" PRIu64 ", \"calls\": %" PRIu64 "}\n", node,
                    twin.nodes[node].cycles, twin.nodes[node].calls);
    }
  }
}
