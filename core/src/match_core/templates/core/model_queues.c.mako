<%
    from match_core.lower.text import broken, comment

    words = "the host's part of a run. It posts tasks as soon as their dependencies are done"
    summary = comment(f"{name}: {words}. {len(tasks)} tasks on {', '.join(units)}; {cycles} cycles (modelled).")

    host = next((queue for queue in queues if queue.kind == "host"), None)
    link = next((queue for queue in queues if queue.kind == "link"), None)
    started = [queue for queue in queues if queue.done]
    total = sum(len(queue.needs) for queue in queues)

    def entry(queue):
        loop = f"MATCH_LOOP({name}_{queue.field}_loop)" if queue.launch else "NULL"
        names = (queue.launch or "NULL", loop, queue.join or "NULL", queue.signal or "NULL")
        return f"[{name}_queue_{queue.field}] = {{{len(queue.needs)}u, {queue.field}_needs, {', '.join(names)}}},"
%>\
/* SPDX-License-Identifier: Apache-2.0 */
${summary}
#include "${name}.h"

#include <stddef.h>
% for header in headers:
#include "${header}"
% endfor
#include "match_runtime.h"
#include "${name}_port.h"
#include "${name}_tasks.h"

/* ---- dependencies of tasks --------------------------------------------------------------------------------------- */

/* A row for each task, in the order of its queue: it may run as soon as every queue has finished this number of tasks.
 * The columns are the queues ${", ".join(queue.name for queue in queues)}. */
% for queue in queues:
static const uint16_t ${queue.field}_needs[][${name}_queues] = {
% for row in queue.needs:
${row.text}
% endfor
};
% endfor

static const struct {
    uint32_t tasks;
    const uint16_t (*needs)[${name}_queues];
    int (*launch)(void (*loop)(void *state), void *state); /* NULL: the host runs the queue itself */
    void (*loop)(void *state);
    int (*join)(void);
    void (*signal)(void);
} queues[] = {
% for queue in queues:
${"\n".join(broken(entry(queue), 4))}
% endfor
};
% if link:

static const struct {
    match_place_t home;
    uint32_t store; /* offset in the swap area, in bytes */
    uint32_t bytes;
    uint32_t out; /* 1: from ${home} to ${swap_areas[0].memory} */
} swaps[] = {
% for swap in link.swaps:
    {${swap.home}, ${swap.store}u, ${swap.size_bytes}u, ${int(swap.out)}u},
% endfor
};
% endif

% if regions:
/* A region has been computed, or failed, when this number of tasks of its queue is done. */
static const struct {
    uint32_t queue;
    uint32_t done;
} region_tasks[] = {
% for region in regions:
    {${name}_queue_${region.queue}, ${region.position}u},
% endfor
};

% endif
/* ---- a run ------------------------------------------------------------------------------------------------------- */

static void post(${name}_state_t *state, uint32_t q, uint32_t count)
{
    match_store(&state->queue[q].posted, count);
    if (queues[q].signal != NULL) {
        queues[q].signal();
    }
}

/* Waits until the units of the queues before end have left their loops; 0 when all have. */
static int join(uint32_t end)
{
    int failed = 0;
    for (uint32_t q = 0u; q < end; q++) {
        if ((queues[q].join != NULL) && (queues[q].join() != 0)) {
            failed = 1;
        }
    }
    return failed;
}

% for queue in started:
/* Waits for the region that was started on ${queue.name}, for a bounded time. */
static void ${queue.field}_drain(${name}_state_t *state)
{
    const uint32_t q = ${name}_queue_${queue.field};
    for (uint32_t n = 0u; (n < ${guard}_WAIT_LIMIT) && (((state->started >> q) & 1u) != 0u); n++) {
        if (${queue.done}() == 0) {
            (void)match_port_wait();
        } else {
            ${name}_${queue.field}_end(state, match_load(&state->queue[q].done), 1u);
        }
    }
}

% endfor
/* Ends a run early; the units of the queues before end have been launched. */
static void cancel(${name}_state_t *state, uint32_t end)
{
    for (uint32_t q = 0u; q < ${name}_queues; q++) {
        post(state, q, MATCH_CANCEL);
    }
    (void)join(end);
% if link:
    for (uint32_t n = 0u; (n < ${guard}_WAIT_LIMIT) && (state->swapping != 0u) && (${swap_api.busy}() != 0); n++) {
        (void)match_port_wait();
    }
    state->swapping = 0u;
% endif
% for queue in started:
    ${queue.field}_drain(state);
% endfor
}

/* Posts every task of a queue whose dependencies are done; returns how many. */
static uint32_t post_ready(${name}_state_t *state, uint32_t q, const uint32_t *done)
{
    const uint32_t before = match_load(&state->queue[q].posted);
    uint32_t posted = before;
    for (int met = 1; posted < queues[q].tasks; posted++) {
        for (uint32_t other = 0u; other < ${name}_queues; other++) {
            met &= (done[other] >= queues[q].needs[posted][other]) ? 1 : 0;
        }
        if (met == 0) {
            break;
        }
    }
    if (posted != before) {
        post(state, q, posted);
    }
    return posted - before;
}
% if link:

/* Starts a swap, or notices that it has ended; returns whether it did either. */
static int swap(${name}_state_t *state, uint32_t done)
{
    match_queue_t *const queue = &state->queue[${name}_queue_${link.field}];
    if (state->swapping != 0u) {
        if (${swap_api.busy}() != 0) {
            return 0;
        }
        state->swapping = 0u;
        match_store(&queue->done, done + 1u);
        return 1;
    }
    if (done >= match_load(&queue->posted)) {
        return 0;
    }
    void *const at = match_at(state->base, swaps[done].home);
    const uint32_t store = state->${swap_areas[0].field} + swaps[done].store;
    if (swaps[done].out != 0u) {
        ${swap_api.copy_out}(store, at, swaps[done].bytes);
    } else {
        ${swap_api.copy_in}(at, store, swaps[done].bytes);
    }
    state->swapping = 1u;
    return 1;
}
% endif

% for queue in started:
/* Starts a region on ${queue.name}, or notices that it has ended; returns whether it did either. */
static int ${queue.field}_step(${name}_state_t *state, uint32_t done)
{
    if (((state->started >> ${name}_queue_${queue.field}) & 1u) != 0u) {
        const int ended = ${queue.done}();
        if (ended != 0) {
            ${name}_${queue.field}_end(state, done, (ended != 1) ? 1u : 0u);
        }
        return (ended != 0) ? 1 : 0;
    }
    if (done >= match_load(&state->queue[${name}_queue_${queue.field}].posted)) {
        return 0;
    }
    ${name}_${queue.field}_run(state, done);
    return 1;
}

% endfor
/* Looks at every queue once; returns whether there was progress. */
static int advance(${name}_state_t *state)
{
    if (state->cancelled != 0u) {
        cancel(state, ${name}_queues);
        state->status = ${guard}_CANCELLED;
        return 1;
    }
    uint32_t done[${name}_queues], all = 0u;
    for (uint32_t q = 0u; q < ${name}_queues; q++) {
        done[q] = match_load(&state->queue[q].done);
        all += done[q];
    }
    int progress = (all != state->seen) ? 1 : 0;
    state->seen = all;
% if regions:
    for (uint32_t n = 0u; n < ${len(regions)}u; n++) {
        if ((done[region_tasks[n].queue] >= region_tasks[n].done) && (state->region_result[n].failed != 0u)) {
            cancel(state, ${name}_queues);
            state->status = ${guard}_ERROR_UNIT;
            return 1;
        }
    }
% endif
    if (all == ${total}u) {
        state->status = (join(${name}_queues) == 0) ? ${guard}_OK : ${guard}_ERROR_UNIT;
        return 1;
    }
    for (uint32_t q = 0u; q < ${name}_queues; q++) {
        progress |= (post_ready(state, q, done) != 0u) ? 1 : 0;
    }
% if link:
    progress |= swap(state, done[${name}_queue_${link.field}]);
% endif
% for queue in started:
    progress |= ${queue.field}_step(state, done[${name}_queue_${queue.field}]);
% endfor
% if host:
    match_queue_t *const own = &state->queue[${name}_queue_${host.field}];
    const uint32_t next = done[${name}_queue_${host.field}];
    if (next < match_load(&own->posted)) {
        ${name}_${host.field}_run(state, next);
        match_store(&own->done, next + 1u);
        progress = 1;
    }
% if host.has_calls:
    if (state->status != ${guard}_BUSY) { /* a unit did not run its task */
        cancel(state, ${name}_queues);
    }
% endif
% endif
    return progress;
}

/* ---- for the application ----------------------------------------------------------------------------------------- */

<%include file="model_init.c.mako"/>
int ${name}_start(const ${name}_t *ctx, const ${name}_inputs_t *inputs, const ${name}_outputs_t *outputs)
{
    const int status = startable(ctx, inputs, outputs);
    if (status != ${guard}_OK) {
        return status;
    }
    ${name}_state_t *const state = ctx->state;
% if regions:
    for (uint32_t n = 0u; n < ${len(regions)}u; n++) {
        state->region_result[n].failed = 0u;
    }
% endif
    state->cancelled = 0u;
% if started:
    state->started = 0u;
% endif
    state->base[${name}_base_none] = 0u;
% for arena in arenas:
    state->base[${name}_base_${arena.field}] = (match_address_t)(uintptr_t)ctx->${arena.field};
% endfor
% for io in inputs:
    state->base[${name}_base_in_${io.field}] = (match_address_t)(uintptr_t)inputs->${io.field};
% endfor
% for io in outputs:
    state->base[${name}_base_out_${io.field}] = (match_address_t)(uintptr_t)outputs->${io.field};
% endfor
% for area in [*stores, *swap_areas]:
    state->${area.field} = ctx->${area.field};
% endfor
    for (uint32_t q = 0u; q < ${name}_queues; q++) {
        match_store(&state->queue[q].posted, 0u);
        match_store(&state->queue[q].done, 0u);
    }
    state->seen = 0u;
    for (uint32_t q = 0u; q < ${name}_queues; q++) {
        if ((queues[q].launch != NULL) && (queues[q].launch(queues[q].loop, state) != 0)) {
            cancel(state, q);
            return ${guard}_ERROR_UNIT;
        }
    }
    state->status = ${guard}_BUSY;
    return ${guard}_OK;
}

int ${name}_poll(const ${name}_t *ctx)
{
    const int status = initialised(ctx);
    if (status != ${guard}_OK) {
        return status;
    }
    if (ctx->state->status == ${guard}_BUSY) {
        (void)advance(ctx->state);
    }
    return ctx->state->status;
}

int ${name}_wait(const ${name}_t *ctx)
{
    const int status = initialised(ctx);
    if (status != ${guard}_OK) {
        return status;
    }
    ${name}_state_t *const state = ctx->state;
    uint32_t idle = 0u;
    while (state->status == ${guard}_BUSY) {
        MATCH_YIELD();
        if (advance(state) != 0) {
            idle = 0u;
% if len(queues) > 1 or not host:
        } else if ((match_port_wait() != 0) && (++idle >= ${guard}_WAIT_LIMIT)) {
% else:
        } else if (++idle >= ${guard}_WAIT_LIMIT) { /* the host computes all, and has nothing to wait for */
% endif
            cancel(state, ${name}_queues);
            state->status = ${guard}_ERROR_TIMEOUT;
        } else {
            /* look again */
        }
    }
    return state->status;
}
