/* SPDX-License-Identifier: Apache-2.0 */
/* side: the host's part of a run. It posts tasks as soon as their dependencies are done. 7 tasks on array, host,
 * other; 700 cycles (modelled). */
#include "side.h"

#include <stddef.h>
#include "fake_unit.h"
#include "fake_queues.h"
#include "match_runtime.h"
#include "side_port.h"
#include "side_tasks.h"

/* ---- dependencies of tasks --------------------------------------------------------------------------------------- */

/* A row for each task, in the order of its queue: it may run as soon as every queue has finished this number of tasks.
 * The columns are the queues host, array, other, link. */
static const uint16_t host_needs[][side_queues] = {
    {0u, 0u, 0u, 0u}, /* 0: n0; cycles 0..90 (modelled) */
    {0u, 3u, 0u, 0u}, /* 6: n4; cycles 600..690 (modelled) */
};
static const uint16_t array_needs[][side_queues] = {
    {1u, 0u, 0u, 0u}, /* 1: n1, OY 0..4 of 9; cycles 100..190 (modelled) */
    {0u, 0u, 0u, 2u}, /* 3: n2, K 0..1 of 6; cycles 300..390 (modelled) */
    {0u, 0u, 2u, 0u}, /* 5: n3; cycles 500..590 (modelled) */
};
static const uint16_t other_needs[][side_queues] = {
    {1u, 0u, 0u, 0u}, /* 2: n1, OY 5..8 of 9; cycles 200..290 (modelled) */
    {0u, 0u, 0u, 2u}, /* 4: n2, K 2..5 of 6; cycles 400..490 (modelled) */
};
static const uint16_t link_needs[][side_queues] = {
    {0u, 1u, 1u, 0u}, /* y0 to y0_away, 405 bytes; cycles 200..250 (modelled) */
    {0u, 0u, 0u, 0u}, /* y0_away to y0_back, 405 bytes; cycles 250..300 (modelled) */
};

static const struct {
    uint32_t tasks;
    const uint16_t (*needs)[side_queues];
    int (*launch)(void (*loop)(void *state), void *state); /* NULL: the host runs the queue itself */
    void (*loop)(void *state);
    int (*join)(void);
    void (*signal)(void);
} queues[] = {
    [side_queue_host] = {2u, host_needs, NULL, NULL, NULL, NULL},
    [side_queue_array] = {3u, array_needs, array_launch, MATCH_LOOP(side_array_loop), array_join, fake_signal},
    [side_queue_other] = {2u, other_needs, other_launch, MATCH_LOOP(side_other_loop), other_join, fake_signal},
    [side_queue_link] = {2u, link_needs, NULL, NULL, NULL, NULL},
};

static const struct {
    match_place_t home;
    uint32_t store; /* offset in the swap area, in bytes */
    uint32_t bytes;
    uint32_t out; /* 1: from home to store */
} swaps[] = {
    {{side_base_home, 1024u}, 64u, 405u, 1u},
    {{side_base_home, 2048u}, 64u, 405u, 0u},
};

/* ---- a run ------------------------------------------------------------------------------------------------------- */

static void post(side_state_t *state, uint32_t q, uint32_t count)
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

/* Ends a run early; the units of the queues before end have been launched. */
static void cancel(side_state_t *state, uint32_t end)
{
    for (uint32_t q = 0u; q < side_queues; q++) {
        post(state, q, MATCH_CANCEL);
    }
    (void)join(end);
    for (uint32_t n = 0u; (n < SIDE_WAIT_LIMIT) && (state->swapping != 0u) && (swap_busy() != 0); n++) {
        (void)match_port_wait();
    }
    state->swapping = 0u;
}

/* Posts every task of a queue whose dependencies are done; returns how many. */
static uint32_t post_ready(side_state_t *state, uint32_t q, const uint32_t *done)
{
    const uint32_t before = match_load(&state->queue[q].posted);
    uint32_t posted = before;
    for (int met = 1; posted < queues[q].tasks; posted++) {
        for (uint32_t other = 0u; other < side_queues; other++) {
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

/* Starts a swap, or notices that it has ended; returns whether it did either. */
static int swap(side_state_t *state, uint32_t done)
{
    match_queue_t *const queue = &state->queue[side_queue_link];
    if (state->swapping != 0u) {
        if (swap_busy() != 0) {
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
    const uint32_t store = state->store_swap + swaps[done].store;
    if (swaps[done].out != 0u) {
        swap_out(store, at, swaps[done].bytes);
    } else {
        swap_in(at, store, swaps[done].bytes);
    }
    state->swapping = 1u;
    return 1;
}

/* Looks at every queue once; returns whether there was progress. */
static int advance(side_state_t *state)
{
    if (state->cancelled != 0u) {
        cancel(state, side_queues);
        state->status = SIDE_CANCELLED;
        return 1;
    }
    uint32_t done[side_queues], all = 0u;
    for (uint32_t q = 0u; q < side_queues; q++) {
        done[q] = match_load(&state->queue[q].done);
        all += done[q];
    }
    int progress = (all != state->seen) ? 1 : 0;
    state->seen = all;
    if (all == 9u) {
        state->status = (join(side_queues) == 0) ? SIDE_OK : SIDE_ERROR_UNIT;
        return 1;
    }
    for (uint32_t q = 0u; q < side_queues; q++) {
        progress |= (post_ready(state, q, done) != 0u) ? 1 : 0;
    }
    progress |= swap(state, done[side_queue_link]);
    match_queue_t *const own = &state->queue[side_queue_host];
    const uint32_t next = done[side_queue_host];
    if (next < match_load(&own->posted)) {
        side_host_run(state, next);
        match_store(&own->done, next + 1u);
        progress = 1;
    }
    return progress;
}

/* ---- for the application ----------------------------------------------------------------------------------------- */

/* SIDE_OK if the context and the memory that it names can be used. */
static int check(const side_t *ctx)
{
    if (ctx == NULL) {
        return SIDE_ERROR_ARGUMENT;
    }
    if ((ctx->state == NULL) || (((uintptr_t)ctx->state % _Alignof(side_state_t)) != 0u)) {
        return SIDE_ERROR_ARENA;
    }
    if ((ctx->near == NULL) || (((uintptr_t)ctx->near % SIDE_NEAR_ALIGN) != 0u)) {
        return SIDE_ERROR_ARENA;
    }
    if ((ctx->home == NULL) || (((uintptr_t)ctx->home % SIDE_HOME_ALIGN) != 0u)) {
        return SIDE_ERROR_ARENA;
    }
    if ((ctx->store % SIDE_STORE_ALIGN) != 0u) {
        return SIDE_ERROR_ARENA;
    }
    if ((ctx->store_swap % SIDE_STORE_SWAP_ALIGN) != 0u) {
        return SIDE_ERROR_ARENA;
    }
    return SIDE_OK;
}

/* SIDE_OK if the context can be used and is initialised. */
static int initialised(const side_t *ctx)
{
    const int status = check(ctx);
    if (status != SIDE_OK) {
        return status;
    }
    const side_state_t *const state = ctx->state;
    return ((void *)(uintptr_t)state->owner == (const void *)state) ? SIDE_OK : SIDE_ERROR_STATE;
}

/* SIDE_OK if an inference with these tensors can start. */
static int startable(const side_t *ctx, const side_inputs_t *inputs, const side_outputs_t *outputs)
{
    const int status = initialised(ctx);
    if (status != SIDE_OK) {
        return status;
    }
    if ((inputs == NULL) || (outputs == NULL)) {
        return SIDE_ERROR_ARGUMENT;
    }
    if (inputs->x == NULL) {
        return SIDE_ERROR_ARGUMENT;
    }
    if (outputs->out == NULL) {
        return SIDE_ERROR_ARGUMENT;
    }
    return (ctx->state->status == SIDE_BUSY) ? SIDE_ERROR_UNIT : SIDE_OK;
}

int side_init(const side_t *ctx)
{
    const int status = check(ctx);
    if (status != SIDE_OK) {
        return status;
    }
    side_state_t *const state = ctx->state;
    if ((void *)(uintptr_t)state->owner == (void *)state) { /* initialised already */
        return (state->status == SIDE_BUSY) ? SIDE_ERROR_UNIT : SIDE_OK;
    }
    state->status = SIDE_OK;
    state->cancelled = 0u;
    state->swapping = 0u;
    if (queues_start() != 0) {
        return SIDE_ERROR_UNIT;
    }
    state->owner = (match_address_t)(uintptr_t)state;
    return SIDE_OK;
}

int side_cancel(const side_t *ctx)
{
    const int status = initialised(ctx);
    if (status == SIDE_OK) {
        ctx->state->cancelled = 1u;
    }
    return status;
}

void side_stop(const side_t *ctx)
{
    if (initialised(ctx) != SIDE_OK) {
        return;
    }
    side_state_t *const state = ctx->state;
    if (state->status == SIDE_BUSY) {
        cancel(state, side_queues);
    }
    state->status = SIDE_OK;
    state->owner = 0u;
    queues_stop();
}

int side_run(const side_t *ctx, const side_inputs_t *inputs, const side_outputs_t *outputs)
{
    const int status = side_start(ctx, inputs, outputs);
    return (status == SIDE_OK) ? side_wait(ctx) : status;
}


int side_start(const side_t *ctx, const side_inputs_t *inputs, const side_outputs_t *outputs)
{
    const int status = startable(ctx, inputs, outputs);
    if (status != SIDE_OK) {
        return status;
    }
    side_state_t *const state = ctx->state;
    state->cancelled = 0u;
    state->base[side_base_none] = 0u;
    state->base[side_base_near] = (match_address_t)(uintptr_t)ctx->near;
    state->base[side_base_home] = (match_address_t)(uintptr_t)ctx->home;
    state->base[side_base_in_x] = (match_address_t)(uintptr_t)inputs->x;
    state->base[side_base_out_out] = (match_address_t)(uintptr_t)outputs->out;
    state->store = ctx->store;
    state->store_swap = ctx->store_swap;
    for (uint32_t q = 0u; q < side_queues; q++) {
        match_store(&state->queue[q].posted, 0u);
        match_store(&state->queue[q].done, 0u);
    }
    state->seen = 0u;
    for (uint32_t q = 0u; q < side_queues; q++) {
        if ((queues[q].launch != NULL) && (queues[q].launch(queues[q].loop, state) != 0)) {
            cancel(state, q);
            return SIDE_ERROR_UNIT;
        }
    }
    state->status = SIDE_BUSY;
    return SIDE_OK;
}

int side_poll(const side_t *ctx)
{
    const int status = initialised(ctx);
    if (status != SIDE_OK) {
        return status;
    }
    if (ctx->state->status == SIDE_BUSY) {
        (void)advance(ctx->state);
    }
    return ctx->state->status;
}

int side_wait(const side_t *ctx)
{
    const int status = initialised(ctx);
    if (status != SIDE_OK) {
        return status;
    }
    side_state_t *const state = ctx->state;
    uint32_t idle = 0u;
    while (state->status == SIDE_BUSY) {
        MATCH_YIELD();
        if (advance(state) != 0) {
            idle = 0u;
        } else if ((match_port_wait() != 0) && (++idle >= SIDE_WAIT_LIMIT)) {
            cancel(state, side_queues);
            state->status = SIDE_ERROR_TIMEOUT;
        } else {
            /* look again */
        }
    }
    return state->status;
}
