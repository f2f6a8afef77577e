/* SPDX-License-Identifier: Apache-2.0 */
/* Common definitions of all emitted programs: the argument of a task, the counters of concurrent units, and the
 * arithmetic of tiles. */
#ifndef MATCH_RUNTIME_H
#define MATCH_RUNTIME_H

#include <stdint.h>

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

/* One task of the program. */
typedef struct {
    uint8_t *near;                /* the unit's memory */
    uint8_t *const *private_near; /* memories of single operands */
    const void *const *in;        /* tensors in home memory, in the operands' order */
    void *const *out;
    void *scratch;                /* home memory for the task's own use */
    uint32_t store;               /* address of the program's constants in the store */
} match_task_t;

/* ---- concurrent units -------------------------------------------------------------------------------------------- */

/* MATCH_SYNC_HEADER names a header that may define MATCH_COUNTER, MATCH_LOAD, MATCH_STORE, MATCH_RELAX and
 * MATCH_YIELD. */
#ifdef MATCH_SYNC_HEADER
#include MATCH_SYNC_HEADER
#endif
#ifndef __cplusplus
#if !defined(MATCH_COUNTER) || !defined(MATCH_LOAD) || !defined(MATCH_STORE)
#include <stdatomic.h>
#endif
#ifndef MATCH_COUNTER
#define MATCH_COUNTER _Atomic uint32_t
#endif
#ifndef MATCH_LOAD
#define MATCH_LOAD(counter) atomic_load_explicit((counter), memory_order_acquire)
#endif
#ifndef MATCH_STORE
#define MATCH_STORE(counter, value) atomic_store_explicit((counter), (value), memory_order_release)
#endif
typedef MATCH_COUNTER match_counter_t;
#define MATCH_ALIGN _Alignas(64)
#else /* C++ uses the sizes only */
typedef uint32_t match_counter_t;
#define MATCH_ALIGN alignas(64)
#endif

/* Called in every turn of a loop that waits. */
#ifndef MATCH_RELAX
#define MATCH_RELAX() ((void)0)
#endif

/* Called by the host between tasks, while it waits, and in the outer loops of its kernels: for watchdogs and
 * cooperative schedulers. Of the program's functions it may call the one that cancels. */
#ifndef MATCH_YIELD
#define MATCH_YIELD() ((void)0)
#endif

/* An address as the host and all units see it, of the same size on both sides. */
#ifndef MATCH_ADDRESS
#define MATCH_ADDRESS uintptr_t
#endif
typedef MATCH_ADDRESS match_address_t;

/* Written to posted to end a session early. */
#define MATCH_CANCEL UINT32_MAX

/* Progress of a queue of tasks. Both counters begin at 0 and only grow. */
typedef struct {
    MATCH_ALIGN match_counter_t posted; /* number of tasks that may run; written by the host only */
    MATCH_ALIGN match_counter_t done;   /* number of finished tasks; written by the queue's unit only */
} match_queue_t;

/* A place: one of the session's addresses plus an offset in bytes; address number 0 is NULL. */
typedef struct {
    uint32_t base;
    uint32_t offset;
} match_place_t;

/* A row of a unit's table of tasks. */
typedef struct {
    void (*run)(void *task);
    const match_place_t *in;
    const match_place_t *out;
    const match_place_t *private_near;
    match_place_t near;
    match_place_t scratch;
    uint32_t inputs; /* lengths of in, out and private_near */
    uint32_t outputs;
    uint32_t privates;
    uint32_t node; /* number of the node, for the profiling hooks */
} match_row_t;

#ifndef __cplusplus

/* All writes before a store are visible to the side that loads the stored value. */
static inline uint32_t match_load(const match_counter_t *counter)
{
    return MATCH_LOAD(counter);
}

static inline void match_store(match_counter_t *counter, uint32_t value)
{
    MATCH_STORE(counter, value);
}

/* For units that poll: 0 when count tasks are posted, 1 when the session is cancelled. */
static inline int match_spin(const match_queue_t *queue, uint32_t count)
{
    uint32_t posted = match_load(&queue->posted);
    while (posted < count) {
        MATCH_RELAX();
        posted = match_load(&queue->posted);
    }
    return (posted == MATCH_CANCEL) ? 1 : 0;
}

static inline void *match_at(const match_address_t *base, match_place_t place)
{
    return (void *)(uintptr_t)(base[place.base] + place.offset);
}

#endif

/* Supplied by the port, called by the host when it is idle: returns 0 after a notification, another number if none
 * arrived within a bounded time. */
#ifdef __cplusplus
extern "C"
#endif
int match_port_wait(void);

/* ---- tiles ------------------------------------------------------------------------------------------------------- */

/* The part of an axis that a tile reads, and how much of its window is before and after the tensor (padding). */
typedef struct {
    uint32_t first;
    uint32_t size;
    uint32_t before;
    uint32_t after;
} match_span_t;

static inline uint32_t match_min_u32(uint32_t a, uint32_t b)
{
    return (a < b) ? a : b;
}

/* A window of extent elements that starts offset elements before start, clipped to a tensor of size elements. */
static inline match_span_t match_span(uint32_t start, uint32_t offset, uint32_t extent, uint32_t size)
{
    const uint32_t end = start + extent; /* one past the last, counted from -offset */
    match_span_t span;
    span.before = (start < offset) ? match_min_u32(offset - start, extent) : 0u;
    span.after = (end > size + offset) ? match_min_u32(end - size - offset, extent) : 0u;
    span.first = (start < offset) ? 0u : match_min_u32(start - offset, size);
    span.size = (span.before + span.after < extent) ? extent - span.before - span.after : 0u;
    return span;
}

#endif
