/* SPDX-License-Identifier: Apache-2.0 */
/* both: the host's part of a run. It posts tasks as soon as their dependencies are done. 3 tasks on engine, host;
 * 2173 cycles (modelled). */
#include "both.h"

#include <stddef.h>
#include "engine.h"
#include "match_runtime.h"
#include "both_port.h"
#include "both_tasks.h"

/* ---- dependencies of tasks --------------------------------------------------------------------------------------- */

/* A row for each task, in the order of its queue: it may run as soon as every queue has finished this number of tasks.
 * The columns are the queues host, engine. */
static const uint16_t host_needs[][both_queues] = {
    {0u, 1u}, /* 1: Sigmoid_3; cycles 22..2154 (modelled) */
};
static const uint16_t engine_needs[][both_queues] = {
    {0u, 0u}, /* 0: Add_0, Neg_6, Mul_1, Relu_2; cycles 2..21 (modelled) */
    {1u, 0u}, /* 2: Sub_4, Mul_5, Add_7; cycles 2156..2172 (modelled) */
};

static const struct {
    uint32_t tasks;
    const uint16_t (*needs)[both_queues];
    int (*launch)(void (*loop)(void *state), void *state); /* NULL: the host runs the queue itself */
    void (*loop)(void *state);
    int (*join)(void);
    void (*signal)(void);
} queues[] = {
    [both_queue_host] = {1u, host_needs, NULL, NULL, NULL, NULL},
    [both_queue_engine] = {2u, engine_needs, engine_launch, MATCH_LOOP(both_engine_loop), engine_join, NULL},
};

/* A region has been computed, or failed, when this number of tasks of its queue is done. */
static const struct {
    uint32_t queue;
    uint32_t done;
} region_tasks[] = {
    {both_queue_engine, 1u},
    {both_queue_engine, 2u},
};

/* ---- a run ------------------------------------------------------------------------------------------------------- */

static void post(both_state_t *state, uint32_t q, uint32_t count)
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
static void cancel(both_state_t *state, uint32_t end)
{
    for (uint32_t q = 0u; q < both_queues; q++) {
        post(state, q, MATCH_CANCEL);
    }
    (void)join(end);
}

/* Posts every task of a queue whose dependencies are done; returns how many. */
static uint32_t post_ready(both_state_t *state, uint32_t q, const uint32_t *done)
{
    const uint32_t before = match_load(&state->queue[q].posted);
    uint32_t posted = before;
    for (int met = 1; posted < queues[q].tasks; posted++) {
        for (uint32_t other = 0u; other < both_queues; other++) {
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

/* Looks at every queue once; returns whether there was progress. */
static int advance(both_state_t *state)
{
    if (state->cancelled != 0u) {
        cancel(state, both_queues);
        state->status = BOTH_CANCELLED;
        return 1;
    }
    uint32_t done[both_queues], all = 0u;
    for (uint32_t q = 0u; q < both_queues; q++) {
        done[q] = match_load(&state->queue[q].done);
        all += done[q];
    }
    int progress = (all != state->seen) ? 1 : 0;
    state->seen = all;
    for (uint32_t n = 0u; n < 2u; n++) {
        if ((done[region_tasks[n].queue] >= region_tasks[n].done) && (state->region_result[n].failed != 0u)) {
            cancel(state, both_queues);
            state->status = BOTH_ERROR_UNIT;
            return 1;
        }
    }
    if (all == 3u) {
        state->status = (join(both_queues) == 0) ? BOTH_OK : BOTH_ERROR_UNIT;
        return 1;
    }
    for (uint32_t q = 0u; q < both_queues; q++) {
        progress |= (post_ready(state, q, done) != 0u) ? 1 : 0;
    }
    match_queue_t *const own = &state->queue[both_queue_host];
    const uint32_t next = done[both_queue_host];
    if (next < match_load(&own->posted)) {
        both_host_run(state, next);
        match_store(&own->done, next + 1u);
        progress = 1;
    }
    return progress;
}

/* ---- for the application ----------------------------------------------------------------------------------------- */

/* BOTH_OK if the context and the memory that it names can be used. */
static int check(const both_t *ctx)
{
    if (ctx == NULL) {
        return BOTH_ERROR_ARGUMENT;
    }
    if ((ctx->state == NULL) || (((uintptr_t)ctx->state % _Alignof(both_state_t)) != 0u)) {
        return BOTH_ERROR_ARENA;
    }
    if ((ctx->ram == NULL) || (((uintptr_t)ctx->ram % BOTH_RAM_ALIGN) != 0u)) {
        return BOTH_ERROR_ARENA;
    }
    return BOTH_OK;
}

/* BOTH_OK if the context can be used and is initialised. */
static int initialised(const both_t *ctx)
{
    const int status = check(ctx);
    if (status != BOTH_OK) {
        return status;
    }
    const both_state_t *const state = ctx->state;
    return ((void *)(uintptr_t)state->owner == (const void *)state) ? BOTH_OK : BOTH_ERROR_STATE;
}

/* BOTH_OK if an inference with these tensors can start. */
static int startable(const both_t *ctx, const both_inputs_t *inputs, const both_outputs_t *outputs)
{
    const int status = initialised(ctx);
    if (status != BOTH_OK) {
        return status;
    }
    if ((inputs == NULL) || (outputs == NULL)) {
        return BOTH_ERROR_ARGUMENT;
    }
    if (inputs->x == NULL) {
        return BOTH_ERROR_ARGUMENT;
    }
    if (((uintptr_t)inputs->x % _Alignof(float)) != 0u) {
        return BOTH_ERROR_ARGUMENT;
    }
    if (inputs->y == NULL) {
        return BOTH_ERROR_ARGUMENT;
    }
    if (((uintptr_t)inputs->y % _Alignof(float)) != 0u) {
        return BOTH_ERROR_ARGUMENT;
    }
    if (outputs->early == NULL) {
        return BOTH_ERROR_ARGUMENT;
    }
    if (((uintptr_t)outputs->early % _Alignof(float)) != 0u) {
        return BOTH_ERROR_ARGUMENT;
    }
    if (outputs->late == NULL) {
        return BOTH_ERROR_ARGUMENT;
    }
    if (((uintptr_t)outputs->late % _Alignof(float)) != 0u) {
        return BOTH_ERROR_ARGUMENT;
    }
    if (outputs->other == NULL) {
        return BOTH_ERROR_ARGUMENT;
    }
    if (((uintptr_t)outputs->other % _Alignof(float)) != 0u) {
        return BOTH_ERROR_ARGUMENT;
    }
    return (ctx->state->status == BOTH_BUSY) ? BOTH_ERROR_UNIT : BOTH_OK;
}

int both_init(const both_t *ctx)
{
    const int status = check(ctx);
    if (status != BOTH_OK) {
        return status;
    }
    both_state_t *const state = ctx->state;
    if ((void *)(uintptr_t)state->owner == (void *)state) { /* initialised already */
        return (state->status == BOTH_BUSY) ? BOTH_ERROR_UNIT : BOTH_OK;
    }
    state->status = BOTH_OK;
    state->cancelled = 0u;
    if (engine_start() != 0) {
        return BOTH_ERROR_UNIT;
    }
    if (both_load_regions(state) != 0) {
        engine_stop();
        return BOTH_ERROR_UNIT;
    }
    state->owner = (match_address_t)(uintptr_t)state;
    return BOTH_OK;
}

int both_cancel(const both_t *ctx)
{
    const int status = initialised(ctx);
    if (status == BOTH_OK) {
        ctx->state->cancelled = 1u;
    }
    return status;
}

void both_stop(const both_t *ctx)
{
    if (initialised(ctx) != BOTH_OK) {
        return;
    }
    both_state_t *const state = ctx->state;
    if (state->status == BOTH_BUSY) {
        cancel(state, both_queues);
    }
    state->status = BOTH_OK;
    state->owner = 0u;
    both_unload_regions(state);
    engine_stop();
}

int both_run(const both_t *ctx, const both_inputs_t *inputs, const both_outputs_t *outputs)
{
    const int status = both_start(ctx, inputs, outputs);
    return (status == BOTH_OK) ? both_wait(ctx) : status;
}


int both_start(const both_t *ctx, const both_inputs_t *inputs, const both_outputs_t *outputs)
{
    const int status = startable(ctx, inputs, outputs);
    if (status != BOTH_OK) {
        return status;
    }
    both_state_t *const state = ctx->state;
    for (uint32_t n = 0u; n < 2u; n++) {
        state->region_result[n].failed = 0u;
    }
    state->cancelled = 0u;
    state->base[both_base_none] = 0u;
    state->base[both_base_ram] = (match_address_t)(uintptr_t)ctx->ram;
    state->base[both_base_in_x] = (match_address_t)(uintptr_t)inputs->x;
    state->base[both_base_in_y] = (match_address_t)(uintptr_t)inputs->y;
    state->base[both_base_out_early] = (match_address_t)(uintptr_t)outputs->early;
    state->base[both_base_out_late] = (match_address_t)(uintptr_t)outputs->late;
    state->base[both_base_out_other] = (match_address_t)(uintptr_t)outputs->other;
    for (uint32_t q = 0u; q < both_queues; q++) {
        match_store(&state->queue[q].posted, 0u);
        match_store(&state->queue[q].done, 0u);
    }
    state->seen = 0u;
    for (uint32_t q = 0u; q < both_queues; q++) {
        if ((queues[q].launch != NULL) && (queues[q].launch(queues[q].loop, state) != 0)) {
            cancel(state, q);
            return BOTH_ERROR_UNIT;
        }
    }
    state->status = BOTH_BUSY;
    return BOTH_OK;
}

int both_poll(const both_t *ctx)
{
    const int status = initialised(ctx);
    if (status != BOTH_OK) {
        return status;
    }
    if (ctx->state->status == BOTH_BUSY) {
        (void)advance(ctx->state);
    }
    return ctx->state->status;
}

int both_wait(const both_t *ctx)
{
    const int status = initialised(ctx);
    if (status != BOTH_OK) {
        return status;
    }
    both_state_t *const state = ctx->state;
    uint32_t idle = 0u;
    while (state->status == BOTH_BUSY) {
        MATCH_YIELD();
        if (advance(state) != 0) {
            idle = 0u;
        } else if ((match_port_wait() != 0) && (++idle >= BOTH_WAIT_LIMIT)) {
            cancel(state, both_queues);
            state->status = BOTH_ERROR_TIMEOUT;
        } else {
            /* look again */
        }
    }
    return state->status;
}
