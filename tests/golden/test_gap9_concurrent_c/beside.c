/* SPDX-License-Identifier: Apache-2.0 */
/* beside: the host's part of a run. It posts tasks as soon as their dependencies are done. 7 tasks on cluster, ne16;
 * 57569 cycles (modelled). */
#include "beside.h"

#include <stddef.h>
#include "match_gap9_api.h"
#include "match_gap9_wide.h"
#include "match_gap9_beside.h"
#include "match_runtime.h"
#include "beside_port.h"
#include "beside_tasks.h"

/* ---- dependencies of tasks --------------------------------------------------------------------------------------- */

/* A row for each task, in the order of its queue: it may run as soon as every queue has finished this number of tasks.
 * The columns are the queues cluster, ne16. */
static const uint16_t cluster_needs[][beside_queues] = {
    {0u, 0u}, /* 0: n_input_dq0, C 0..239 of 576; cycles 110..5734 (modelled) */
    {0u, 0u}, /* 1: n_input_dq0, C 240..575 of 576; cycles 5774..13118 (modelled) */
    {0u, 1u}, /* 4: conv2, conv2_relu, OY 0..7 of 24; cycles 18297..37826 (modelled) */
    {0u, 3u}, /* 6: n_q3; cycles 46919..57068 (modelled) */
};
static const uint16_t ne16_needs[][beside_queues] = {
    {1u, 0u}, /* 2: conv0, conv0_relu, OY 0..8 of 24; cycles 5904..18127 (modelled) */
    {2u, 0u}, /* 3: conv0, conv0_relu, OY 9..23 of 24; cycles 18167..36818 (modelled) */
    {0u, 0u}, /* 5: conv2, conv2_relu, OY 8..23 of 24; cycles 36858..46749 (modelled) */
};

static const struct {
    uint32_t tasks;
    const uint16_t (*needs)[beside_queues];
    int (*launch)(void (*loop)(void *state), void *state); /* NULL: the host runs the queue itself */
    void (*loop)(void *state);
    int (*join)(void);
    void (*signal)(void);
} queues[] = {
    [beside_queue_cluster] = {4u, cluster_needs, match_gap9_team_loop, MATCH_LOOP(beside_cluster_loop),
        match_gap9_team_join, NULL},
    [beside_queue_ne16] = {3u, ne16_needs, match_gap9_ne16_loop, MATCH_LOOP(beside_ne16_loop), match_gap9_ne16_join,
        NULL},
};

/* ---- a run ------------------------------------------------------------------------------------------------------- */

static void post(beside_state_t *state, uint32_t q, uint32_t count)
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
static void cancel(beside_state_t *state, uint32_t end)
{
    for (uint32_t q = 0u; q < beside_queues; q++) {
        post(state, q, MATCH_CANCEL);
    }
    (void)join(end);
}

/* Posts every task of a queue whose dependencies are done; returns how many. */
static uint32_t post_ready(beside_state_t *state, uint32_t q, const uint32_t *done)
{
    const uint32_t before = match_load(&state->queue[q].posted);
    uint32_t posted = before;
    for (int met = 1; posted < queues[q].tasks; posted++) {
        for (uint32_t other = 0u; other < beside_queues; other++) {
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
static int advance(beside_state_t *state)
{
    if (state->cancelled != 0u) {
        cancel(state, beside_queues);
        state->status = BESIDE_CANCELLED;
        return 1;
    }
    uint32_t done[beside_queues], all = 0u;
    for (uint32_t q = 0u; q < beside_queues; q++) {
        done[q] = match_load(&state->queue[q].done);
        all += done[q];
    }
    int progress = (all != state->seen) ? 1 : 0;
    state->seen = all;
    if (all == 7u) {
        state->status = (join(beside_queues) == 0) ? BESIDE_OK : BESIDE_ERROR_UNIT;
        return 1;
    }
    for (uint32_t q = 0u; q < beside_queues; q++) {
        progress |= (post_ready(state, q, done) != 0u) ? 1 : 0;
    }
    return progress;
}

/* ---- for the application ----------------------------------------------------------------------------------------- */

/* BESIDE_OK if the context and the memory that it names can be used. */
static int check(const beside_t *ctx)
{
    if (ctx == NULL) {
        return BESIDE_ERROR_ARGUMENT;
    }
    if ((ctx->state == NULL) || (((uintptr_t)ctx->state % _Alignof(beside_state_t)) != 0u)) {
        return BESIDE_ERROR_ARENA;
    }
    if ((ctx->l1 == NULL) || (((uintptr_t)ctx->l1 % BESIDE_L1_ALIGN) != 0u)) {
        return BESIDE_ERROR_ARENA;
    }
    if ((ctx->l2 == NULL) || (((uintptr_t)ctx->l2 % BESIDE_L2_ALIGN) != 0u)) {
        return BESIDE_ERROR_ARENA;
    }
    return BESIDE_OK;
}

/* BESIDE_OK if the context can be used and is initialised. */
static int initialised(const beside_t *ctx)
{
    const int status = check(ctx);
    if (status != BESIDE_OK) {
        return status;
    }
    const beside_state_t *const state = ctx->state;
    return ((void *)(uintptr_t)state->owner == (const void *)state) ? BESIDE_OK : BESIDE_ERROR_STATE;
}

/* BESIDE_OK if an inference with these tensors can start. */
static int startable(const beside_t *ctx, const beside_inputs_t *inputs, const beside_outputs_t *outputs)
{
    const int status = initialised(ctx);
    if (status != BESIDE_OK) {
        return status;
    }
    if ((inputs == NULL) || (outputs == NULL)) {
        return BESIDE_ERROR_ARGUMENT;
    }
    if (inputs->input == NULL) {
        return BESIDE_ERROR_ARGUMENT;
    }
    if (outputs->q3 == NULL) {
        return BESIDE_ERROR_ARGUMENT;
    }
    return (ctx->state->status == BESIDE_BUSY) ? BESIDE_ERROR_UNIT : BESIDE_OK;
}

int beside_init(const beside_t *ctx)
{
    const int status = check(ctx);
    if (status != BESIDE_OK) {
        return status;
    }
    beside_state_t *const state = ctx->state;
    if ((void *)(uintptr_t)state->owner == (void *)state) { /* initialised already */
        return (state->status == BESIDE_BUSY) ? BESIDE_ERROR_UNIT : BESIDE_OK;
    }
    state->status = BESIDE_OK;
    state->cancelled = 0u;
    if (match_gap9_start() != 0) {
        return BESIDE_ERROR_UNIT;
    }
    if (match_gap9_ne16_start() != 0) {
        match_gap9_stop();
        return BESIDE_ERROR_UNIT;
    }
    state->owner = (match_address_t)(uintptr_t)state;
    return BESIDE_OK;
}

int beside_cancel(const beside_t *ctx)
{
    const int status = initialised(ctx);
    if (status == BESIDE_OK) {
        ctx->state->cancelled = 1u;
    }
    return status;
}

void beside_stop(const beside_t *ctx)
{
    if (initialised(ctx) != BESIDE_OK) {
        return;
    }
    beside_state_t *const state = ctx->state;
    if (state->status == BESIDE_BUSY) {
        cancel(state, beside_queues);
    }
    state->status = BESIDE_OK;
    state->owner = 0u;
    match_gap9_ne16_stop();
    match_gap9_stop();
}

int beside_run(const beside_t *ctx, const beside_inputs_t *inputs, const beside_outputs_t *outputs)
{
    const int status = beside_start(ctx, inputs, outputs);
    return (status == BESIDE_OK) ? beside_wait(ctx) : status;
}


int beside_start(const beside_t *ctx, const beside_inputs_t *inputs, const beside_outputs_t *outputs)
{
    const int status = startable(ctx, inputs, outputs);
    if (status != BESIDE_OK) {
        return status;
    }
    beside_state_t *const state = ctx->state;
    state->cancelled = 0u;
    state->base[beside_base_none] = 0u;
    state->base[beside_base_l1] = (match_address_t)(uintptr_t)ctx->l1;
    state->base[beside_base_l2] = (match_address_t)(uintptr_t)ctx->l2;
    state->base[beside_base_in_input] = (match_address_t)(uintptr_t)inputs->input;
    state->base[beside_base_out_q3] = (match_address_t)(uintptr_t)outputs->q3;
    for (uint32_t q = 0u; q < beside_queues; q++) {
        match_store(&state->queue[q].posted, 0u);
        match_store(&state->queue[q].done, 0u);
    }
    state->seen = 0u;
    for (uint32_t q = 0u; q < beside_queues; q++) {
        if ((queues[q].launch != NULL) && (queues[q].launch(queues[q].loop, state) != 0)) {
            cancel(state, q);
            return BESIDE_ERROR_UNIT;
        }
    }
    state->status = BESIDE_BUSY;
    return BESIDE_OK;
}

int beside_poll(const beside_t *ctx)
{
    const int status = initialised(ctx);
    if (status != BESIDE_OK) {
        return status;
    }
    if (ctx->state->status == BESIDE_BUSY) {
        (void)advance(ctx->state);
    }
    return ctx->state->status;
}

int beside_wait(const beside_t *ctx)
{
    const int status = initialised(ctx);
    if (status != BESIDE_OK) {
        return status;
    }
    beside_state_t *const state = ctx->state;
    uint32_t idle = 0u;
    while (state->status == BESIDE_BUSY) {
        MATCH_YIELD();
        if (advance(state) != 0) {
            idle = 0u;
        } else if ((match_port_wait() != 0) && (++idle >= BESIDE_WAIT_LIMIT)) {
            cancel(state, beside_queues);
            state->status = BESIDE_ERROR_TIMEOUT;
        } else {
            /* look again */
        }
    }
    return state->status;
}
