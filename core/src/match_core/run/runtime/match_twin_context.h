/* match_twin_context.h - contexts: cores that run code of their own beside the host.
 *
 * Context 0 is the one that runs main; a target's twin starts the others where its SDK starts code on another core. A
 * context is a thread of the development machine.
 *
 * Timeline (eager, lazy): one context runs at a time. It gives up the baton in match_twin_yield and in everything that
 * calls it (loads and stores of counters, waits, resources that match_twin_issue occupies), and the runnable context
 * whose time is the smallest goes on. What contexts share must only be touched behind such a call; then it happens in
 * the order of virtual time, the same in every run. With lazy:QUEUE the context of that name goes on only when no other
 * one can.
 *
 * Threads: contexts run at the same time and there is no virtual time. Nothing here orders their memory accesses except
 * start (what was written before it is seen by the context) and join.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_TWIN_CONTEXT_H
#define MATCH_TWIN_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#define MATCH_TWIN_MAX_CONTEXTS 64u
#define MATCH_TWIN_MAX_BELLS 64u

/* ---- start and end -------------------------------------------------------------------------------------------- */

/* Runs entry(argument) as a context on `clock`, which no other running context may have; it begins at the caller's time
 * or that of its clock, whichever is later. `name` is that of its queue (the unit's name) and must outlive the run.
 * Returns its number. */
uint32_t match_twin_start(const char *name, unsigned clock, void (*entry)(void *), void *argument);
/* The same for a job whose end the caller waits for, like a kernel: it begins at once in eager mode, and in the lazy
 * modes only goes on when somebody joins it or no other context can. */
uint32_t match_twin_start_job(const char *name, unsigned clock, void (*entry)(void *), void *argument);
/* The same for a region that the host started, with other work before it asks for the end (QueueApi.done): the cycles
 * of its node end with it. */
uint32_t match_twin_start_region(const char *name, unsigned clock, void (*entry)(void *), void *argument);
/* Whether it has ended; if so, the caller's time is at least that of the end. */
bool match_twin_ended(uint32_t context);
/* Returns when it has ended. Every context is joined once, unless it hangs. */
void match_twin_join(uint32_t context);
/* The same for a bounded time: 0 when it has ended, 1 when the time is over. */
int match_twin_join_bounded(uint32_t context);
/* Number and clock of the running context. */
uint32_t match_twin_context(void);
unsigned match_twin_context_clock(void);
/* From now on the running context works on another clock, like a core that another one waits for; returns its clock
 * until now. */
unsigned match_twin_use_clock(unsigned clock);

/* ---- giving up the baton -------------------------------------------------------------------------------------- */

/* Returns when no runnable context is behind. */
void match_twin_yield(void);
/* In each turn of a loop that waits: returns when something has changed of what the loop has looked at since the last
 * call: counters, contexts that had not ended (match_twin_ended), or whatever match_twin_changed tells. */
void match_twin_relax(void);
/* Tells those who relax that something they may look at has changed: state of a target's twin, behind its change. */
void match_twin_changed(void);

/* ---- waits and doorbells -------------------------------------------------------------------------------------- */

/* A ring stays until one wait takes it. Bells order no memory accesses (in threads they are relaxed): on hardware too
 * only the counters do. Numbers are the target's own, below MATCH_TWIN_MAX_BELLS. */
void match_twin_ring(unsigned bell);
/* Takes a ring if there is one. */
bool match_twin_rung(unsigned bell);
/* Sleeps until the bell rings. Where nobody is left who could ring: a fault. */
void match_twin_sleep(unsigned bell);
/* The same for a bounded time, for match_port_wait: 0 after a ring, 1 when the time is over. In the timeline the time
 * of a bounded wait is over when no other context can go on; in threads after some seconds. */
int match_twin_sleep_bounded(unsigned bell);
/* match_port_wait of a port that polls: as match_twin_relax, but bounded in the timeline. */
int match_twin_relax_bounded(void);

/* ---- signalling ----------------------------------------------------------------------------------------------- */

/* Figures of the Soc's `signalling`, in cycles; the harness sets them. A context that waited goes on at the time of
 * what woke it plus `notify` (context 0) or `wake` (others). All 0 until it is called. */
void match_twin_signalling(uint64_t post, uint64_t wake, uint64_t notify, uint64_t task);
/* The counters of a unit's queue: each store of `posted` costs the host `post`, behind each store of `done` comes
 * `task`. A context that stores `done` with operations in flight is a fault. NULL for `done` if the host stores it. */
void match_twin_queue(const _Atomic uint32_t *posted, const _Atomic uint32_t *done);
/* The running context has asked another one for work and must wait for it (true), or has waited (false). A context that
 * stores `done` before it has is a fault. */
void match_twin_owe(bool owes);

/* ---- counters: what match_load and match_store call in the timeline ------------------------------------------- */

uint32_t match_twin_load(const _Atomic uint32_t *counter);
void match_twin_store(_Atomic uint32_t *counter, uint32_t value);

/* ---- for the harness ------------------------------------------------------------------------------------------ */

/* The clock of context 0; clock 0 until it is called. */
void match_twin_host_clock(unsigned clock);

/* eager, lazy, lazy:QUEUE, hang:QUEUE (as lazy, and the queue's context never begins), threads or threads:SEED. Faults
 * for others, and for threads in a program that was not built for them. */
void match_twin_configure(const char *mode);
/* Faults if the queue that the mode names was never started. */
void match_twin_check_queue(void);
/* Fills memory with poison, in the lazy modes only. */
void match_twin_poison(void *memory, uint64_t size_bytes);
/* A delay of random length, in threads only: between two accesses whose order the program should not rely on. */
void match_twin_delay(void);

#endif
