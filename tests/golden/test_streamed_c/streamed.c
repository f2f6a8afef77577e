/* SPDX-License-Identifier: Apache-2.0 */
/* streamed: the order of tasks. 5 tasks on cluster, ne16; 146571 cycles (modelled). */
#include "streamed.h"

#include <stddef.h>
#include "match_gap9_api.h"
#include "match_gap9_wide.h"
#include "match_runtime.h"
#include "streamed_port.h"
#include "streamed_tasks.h"

/* STREAMED_OK if the context and the memory that it names can be used. */
static int check(const streamed_t *ctx)
{
    if (ctx == NULL) {
        return STREAMED_ERROR_ARGUMENT;
    }
    if ((ctx->state == NULL) || (((uintptr_t)ctx->state % _Alignof(streamed_state_t)) != 0u)) {
        return STREAMED_ERROR_ARENA;
    }
    if ((ctx->l1 == NULL) || (((uintptr_t)ctx->l1 % STREAMED_L1_ALIGN) != 0u)) {
        return STREAMED_ERROR_ARENA;
    }
    if ((ctx->l2 == NULL) || (((uintptr_t)ctx->l2 % STREAMED_L2_ALIGN) != 0u)) {
        return STREAMED_ERROR_ARENA;
    }
    if ((ctx->l3 % STREAMED_L3_ALIGN) != 0u) {
        return STREAMED_ERROR_ARENA;
    }
    return STREAMED_OK;
}

/* STREAMED_OK if the context can be used and is initialised. */
static int initialised(const streamed_t *ctx)
{
    const int status = check(ctx);
    if (status != STREAMED_OK) {
        return status;
    }
    const streamed_state_t *const state = ctx->state;
    return (state->owner == state) ? STREAMED_OK : STREAMED_ERROR_STATE;
}

/* STREAMED_OK if an inference with these tensors can start. */
static int startable(const streamed_t *ctx, const streamed_inputs_t *inputs, const streamed_outputs_t *outputs)
{
    const int status = initialised(ctx);
    if (status != STREAMED_OK) {
        return status;
    }
    if ((inputs == NULL) || (outputs == NULL)) {
        return STREAMED_ERROR_ARGUMENT;
    }
    if (inputs->input == NULL) {
        return STREAMED_ERROR_ARGUMENT;
    }
    if (outputs->q5 == NULL) {
        return STREAMED_ERROR_ARGUMENT;
    }
    return (ctx->state->status == STREAMED_BUSY) ? STREAMED_ERROR_UNIT : STREAMED_OK;
}

int streamed_init(const streamed_t *ctx)
{
    const int status = check(ctx);
    if (status != STREAMED_OK) {
        return status;
    }
    streamed_state_t *const state = ctx->state;
    if (state->owner == state) { /* initialised already */
        return (state->status == STREAMED_BUSY) ? STREAMED_ERROR_UNIT : STREAMED_OK;
    }
    state->status = STREAMED_OK;
    state->cancelled = 0u;
    if (match_gap9_start() != 0) {
        return STREAMED_ERROR_UNIT;
    }
    if (match_gap9_ne16_start() != 0) {
        match_gap9_stop();
        return STREAMED_ERROR_UNIT;
    }
    state->owner = state;
    return STREAMED_OK;
}

int streamed_cancel(const streamed_t *ctx)
{
    const int status = initialised(ctx);
    if (status == STREAMED_OK) {
        ctx->state->cancelled = 1u;
    }
    return status;
}

void streamed_stop(const streamed_t *ctx)
{
    if (initialised(ctx) != STREAMED_OK) {
        return;
    }
    streamed_state_t *const state = ctx->state;
    state->status = STREAMED_OK;
    state->owner = NULL;
    match_gap9_ne16_stop();
    match_gap9_stop();
}

int streamed_run(const streamed_t *ctx, const streamed_inputs_t *inputs, const streamed_outputs_t *outputs)
{
    const int status = streamed_start(ctx, inputs, outputs);
    return (status == STREAMED_OK) ? streamed_wait(ctx) : status;
}


int streamed_start(const streamed_t *ctx, const streamed_inputs_t *inputs, const streamed_outputs_t *outputs)
{
    const int status = startable(ctx, inputs, outputs);
    if (status == STREAMED_OK) {
        streamed_state_t *const state = ctx->state;
        state->inputs = *inputs;
        state->outputs = *outputs;
        state->next = 0u;
        state->cancelled = 0u;
        state->status = STREAMED_BUSY;
    }
    return status;
}

/* Runs the next task. */
int streamed_poll(const streamed_t *ctx)
{
    const int status = initialised(ctx);
    if (status != STREAMED_OK) {
        return status;
    }
    streamed_state_t *const state = ctx->state;
    uint8_t *const l2 = ctx->l2;
    if (state->status != STREAMED_BUSY) {
        return state->status;
    }
    if (state->cancelled != 0u) {
        state->status = STREAMED_CANCELLED;
        return STREAMED_CANCELLED;
    }
    switch (state->next++) {

    /* 0: n_input_dq0 on cluster (transpose)
     * R=32 C=81; 4009 cycles (modelled) */
    case 0u: {
        const void *const in[] = {state->inputs.input};
        void *const out[] = {l2 + 0u};
        match_task_t task = {.near = ctx->l1, .in = in, .out = out};
        MATCH_NODE_BEGIN(0u);
        if (match_gap9_call(streamed_cluster_00, &task) != 0) {
            state->status = STREAMED_ERROR_UNIT;
        }
        MATCH_NODE_END(0u);
        break;
    }

    /* 1: conv0, conv0_relu on ne16 (conv3x3)
     * K=96 C=32 OY=9 OX=9 FY=3 FX=3; tiles K:3x32; two buffers for constants, output; 24071 cycles (modelled) */
    case 1u: {
        const void *const in[] = {l2 + 0u};
        void *const out[] = {l2 + 28160u};
        match_task_t task = {.near = ctx->l1, .in = in, .out = out};
        MATCH_NODE_BEGIN(1u);
        if (match_gap9_call(streamed_ne16_01, &task) != 0) {
            state->status = STREAMED_ERROR_UNIT;
        }
        MATCH_NODE_END(1u);
        break;
    }

    /* 2: conv2, conv2_relu on ne16 (conv3x3_wide)
     * K=96 C=96 OY=9 OX=9 FY=3 FX=3; tiles K:6x16; two buffers for constants, output; streamed constants; 107753
     * cycles (modelled) */
    case 2u: {
        const void *const in[] = {l2 + 28160u};
        void *const out[] = {l2 + 35936u};
        match_task_t task = {.near = ctx->l1, .in = in, .out = out, .scratch = l2 + 0u, .store = ctx->l3};
        MATCH_NODE_BEGIN(2u);
        if (match_gap9_call(streamed_ne16_02, &task) != 0) {
            state->status = STREAMED_ERROR_UNIT;
        }
        MATCH_NODE_END(2u);
        break;
    }

    /* 3: conv4, conv4_relu on ne16 (conv1x1)
     * K=24 C=96 OY=9 OX=9 FY=1 FX=1; 7700 cycles (modelled) */
    case 3u: {
        const void *const in[] = {l2 + 35936u};
        void *const out[] = {l2 + 0u};
        match_task_t task = {.near = ctx->l1, .in = in, .out = out};
        MATCH_NODE_BEGIN(3u);
        if (match_gap9_call(streamed_ne16_03, &task) != 0) {
            state->status = STREAMED_ERROR_UNIT;
        }
        MATCH_NODE_END(3u);
        break;
    }

    /* 4: n_q5 on cluster (transpose)
     * R=81 C=24; 3038 cycles (modelled) */
    case 4u: {
        const void *const in[] = {l2 + 0u};
        void *const out[] = {state->outputs.q5};
        match_task_t task = {.near = ctx->l1, .in = in, .out = out};
        MATCH_NODE_BEGIN(4u);
        if (match_gap9_call(streamed_cluster_04, &task) != 0) {
            state->status = STREAMED_ERROR_UNIT;
        }
        MATCH_NODE_END(4u);
        break;
    }

    default:
        break;
    }
    if ((state->next >= 5u) && (state->status == STREAMED_BUSY)) {
        state->status = STREAMED_OK;
    }
    return state->status;
}

int streamed_wait(const streamed_t *ctx)
{
    int status = streamed_poll(ctx);
    while (status == STREAMED_BUSY) {
        MATCH_YIELD();
        status = streamed_poll(ctx);
    }
    return status;
}
