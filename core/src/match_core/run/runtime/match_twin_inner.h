/* match_twin_inner.h - what the runtime's own files share. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_TWIN_INNER_H
#define MATCH_TWIN_INNER_H

#include "match_twin.h"
#include "match_twin_context.h"

/* ---- contexts and the baton (match_twin_context.c) ------------------------------------------------------------ */

/* Contexts that have begun and not ended, the host's included. */
uint32_t match_twin_contexts(void);
const char *match_twin_context_name(uint32_t context);
/* The calling thread works for the context. */
void match_twin_adopt(uint32_t context);
/* As match_twin_yield, with `time` as the time of the running context: of work that it issues for another clock. */
void match_twin_yield_at(uint64_t time);

/* What a context that gave up the baton waits for. */
typedef enum { MATCH_TWIN_FOR_CHANGE, MATCH_TWIN_FOR_BELL, MATCH_TWIN_FOR_END } match_twin_kind_t;

typedef struct {
  match_twin_kind_t kind;
  uint32_t number; /* of the bell or the context */
  bool bounded;
} match_twin_wait_t;

/* Gives the baton away until match_twin_wake; false when the bound was reached because no context can go on. */
bool match_twin_block(match_twin_wait_t wait);
/* Whether a context waits for this; then it goes on at `time` at the earliest. */
bool match_twin_waits(uint32_t context, match_twin_kind_t kind, uint32_t number);
void match_twin_wake(uint32_t context, uint64_t time);

/* Cycles of signalling, see match_twin_signalling. */
typedef struct {
  uint64_t post, wake, notify, task;
} match_twin_costs_t;
match_twin_costs_t match_twin_costs(void);

/* Counters are forgotten (match_twin_signal.c); a loop that `context` is in has seen nothing yet. */
void match_twin_forget_signals(void);
void match_twin_forget_view(uint32_t context);
/* The running context has found that the other one has not ended; it has now. */
void match_twin_look_at_end(uint32_t context);
void match_twin_note_end(uint32_t context);

/* What a new context does is logged for the running one's node, if it is a job (match_twin.c). */
void match_twin_give_node(uint32_t context, bool job);
/* From now on the cycles of the node that is open end with its job; a job has ended. */
void match_twin_node_alone(void);
void match_twin_end_of_job(uint32_t context, uint64_t time);

/* The calling thread defers nothing any more (match_twin_defer.c). */
void match_twin_end_helper(void);

/* Finds the program's own memory, once, before other threads look for addresses (match_twin_region.c). */
void match_twin_know_image(void);

/* ---- mode (match_twin_mode.c) --------------------------------------------------------------------------------- */

/* True in threads mode: no clocks, no log, no profile. */
bool match_twin_threads(void);
/* Whether the mode names this queue, as the one that is held back or hangs. */
bool match_twin_is_held(const char *name);
bool match_twin_is_hung(const char *name);
void match_twin_queue_started(const char *name);
/* Real time of waits in threads mode: naps of at most so long, a bounded wait so many of them. */
#define MATCH_TWIN_NAP_MICROSECONDS 100u
#define MATCH_TWIN_BOUND_NAPS 20000u
/* Puts the thread to sleep for a random time of at most so many microseconds. */
void match_twin_nap(unsigned microseconds);

#endif
