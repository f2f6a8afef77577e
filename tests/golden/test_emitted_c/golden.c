/* SPDX-License-Identifier: Apache-2.0 */
/* golden: the order of tasks. 6 tasks on cluster, ne16; 664398 cycles (modelled). */
#include "golden.h"

#include <stddef.h>
#include "match_gap9_api.h"
#include "match_gap9_wide.h"
#include "match_runtime.h"
#include "golden_port.h"
#include "golden_tasks.h"

/* GOLDEN_OK if the context and the memory that it names can be used. */
static int check(const golden_t *ctx)
{
    if (ctx == NULL) {
        return GOLDEN_ERROR_ARGUMENT;
    }
    if ((ctx->state == NULL) || (((uintptr_t)ctx->state % _Alignof(golden_state_t)) != 0u)) {
        return GOLDEN_ERROR_ARENA;
    }
    if ((ctx->l1 == NULL) || (((uintptr_t)ctx->l1 % GOLDEN_L1_ALIGN) != 0u)) {
        return GOLDEN_ERROR_ARENA;
    }
    if ((ctx->l2 == NULL) || (((uintptr_t)ctx->l2 % GOLDEN_L2_ALIGN) != 0u)) {
        return GOLDEN_ERROR_ARENA;
    }
    return GOLDEN_OK;
}

/* GOLDEN_OK if the context can be used and is initialised. */
static int initialised(const golden_t *ctx)
{
    const int status = check(ctx);
    if (status != GOLDEN_OK) {
        return status;
    }
    const golden_state_t *const state = ctx->state;
    return (state->owner == state) ? GOLDEN_OK : GOLDEN_ERROR_STATE;
}

/* GOLDEN_OK if an inference with these tensors can start. */
static int startable(const golden_t *ctx, const golden_inputs_t *inputs, const golden_outputs_t *outputs)
{
    const int status = initialised(ctx);
    if (status != GOLDEN_OK) {
        return status;
    }
    if ((inputs == NULL) || (outputs == NULL)) {
        return GOLDEN_ERROR_ARGUMENT;
    }
    if (inputs->input == NULL) {
        return GOLDEN_ERROR_ARGUMENT;
    }
    if (outputs->q7 == NULL) {
        return GOLDEN_ERROR_ARGUMENT;
    }
    return (ctx->state->status == GOLDEN_BUSY) ? GOLDEN_ERROR_UNIT : GOLDEN_OK;
}

int golden_init(const golden_t *ctx)
{
    const int status = check(ctx);
    if (status != GOLDEN_OK) {
        return status;
    }
    golden_state_t *const state = ctx->state;
    if (state->owner == state) { /* initialised already */
        return (state->status == GOLDEN_BUSY) ? GOLDEN_ERROR_UNIT : GOLDEN_OK;
    }
    state->status = GOLDEN_OK;
    state->cancelled = 0u;
    if (match_gap9_start() != 0) {
        return GOLDEN_ERROR_UNIT;
    }
    if (match_gap9_ne16_start() != 0) {
        match_gap9_stop();
        return GOLDEN_ERROR_UNIT;
    }
    state->owner = state;
    return GOLDEN_OK;
}

int golden_cancel(const golden_t *ctx)
{
    const int status = initialised(ctx);
    if (status == GOLDEN_OK) {
        ctx->state->cancelled = 1u;
    }
    return status;
}

void golden_stop(const golden_t *ctx)
{
    if (initialised(ctx) != GOLDEN_OK) {
        return;
    }
    golden_state_t *const state = ctx->state;
    state->status = GOLDEN_OK;
    state->owner = NULL;
    match_gap9_ne16_stop();
    match_gap9_stop();
}

int golden_run(const golden_t *ctx, const golden_inputs_t *inputs, const golden_outputs_t *outputs)
{
    const int status = golden_start(ctx, inputs, outputs);
    return (status == GOLDEN_OK) ? golden_wait(ctx) : status;
}


int golden_start(const golden_t *ctx, const golden_inputs_t *inputs, const golden_outputs_t *outputs)
{
    const int status = startable(ctx, inputs, outputs);
    if (status == GOLDEN_OK) {
        golden_state_t *const state = ctx->state;
        state->inputs = *inputs;
        state->outputs = *outputs;
        state->next = 0u;
        state->cancelled = 0u;
        state->status = GOLDEN_BUSY;
    }
    return status;
}

/* Runs the next task. */
int golden_poll(const golden_t *ctx)
{
    const int status = initialised(ctx);
    if (status != GOLDEN_OK) {
        return status;
    }
    golden_state_t *const state = ctx->state;
    uint8_t *const l2 = ctx->l2;
    if (state->status != GOLDEN_BUSY) {
        return state->status;
    }
    if (state->cancelled != 0u) {
        state->status = GOLDEN_CANCELLED;
        return GOLDEN_CANCELLED;
    }
    switch (state->next++) {

    /* 0: n_input_dq0 on cluster (transpose)
     * R=16 C=3721; tiles C:6x640; two buffers for input, output; 59630 cycles (modelled) */
    case 0u: {
        const void *const in[] = {state->inputs.input};
        void *const out[] = {l2 + 178608u};
        match_task_t task = {.near = ctx->l1, .in = in, .out = out};
        MATCH_NODE_BEGIN(0u);
        if (match_gap9_call(golden_cluster_00, &task) != 0) {
            state->status = GOLDEN_ERROR_UNIT;
        }
        MATCH_NODE_END(0u);
        break;
    }

    /* 1: conv0, conv0_relu on ne16 (conv3x3)
     * K=48 C=16 OY=61 OX=61 FY=3 FX=3; tiles OY:6x12; two buffers for input, output; 249288 cycles (modelled) */
    case 1u: {
        const void *const in[] = {l2 + 178608u};
        void *const out[] = {l2 + 0u};
        match_task_t task = {.near = ctx->l1, .in = in, .out = out};
        MATCH_NODE_BEGIN(1u);
        if (match_gap9_call(golden_ne16_01, &task) != 0) {
            state->status = GOLDEN_ERROR_UNIT;
        }
        MATCH_NODE_END(1u);
        break;
    }

    /* 2: conv2, conv2_relu on ne16 (depthwise3x3)
     * K=48 OY=31 OX=31 FY=3 FX=3; tiles K:3x16 OY:2x16; two buffers for input, constants, output; 183043 cycles
     * (modelled) */
    case 2u: {
        const void *const in[] = {l2 + 0u};
        void *const out[] = {l2 + 178608u};
        match_task_t task = {.near = ctx->l1, .in = in, .out = out};
        MATCH_NODE_BEGIN(2u);
        if (match_gap9_call(golden_ne16_02, &task) != 0) {
            state->status = GOLDEN_ERROR_UNIT;
        }
        MATCH_NODE_END(2u);
        break;
    }

    /* 3: conv4, conv4_relu on cluster (conv2d_wide)
     * K=8 C=48 OY=11 OX=11 FY=5 FX=5; 166722 cycles (modelled) */
    case 3u: {
        const void *const in[] = {l2 + 178608u};
        void *const out[] = {l2 + 0u};
        match_task_t task = {.near = ctx->l1, .in = in, .out = out};
        MATCH_NODE_BEGIN(3u);
        if (match_gap9_call(golden_cluster_03, &task) != 0) {
            state->status = GOLDEN_ERROR_UNIT;
        }
        MATCH_NODE_END(3u);
        break;
    }

    /* 4: conv6 on ne16 (conv1x1)
     * K=3 C=8 OY=11 OX=11 FY=1 FX=1; 3847 cycles (modelled) */
    case 4u: {
        const void *const in[] = {l2 + 0u};
        void *const out[] = {l2 + 976u};
        match_task_t task = {.near = ctx->l1, .in = in, .out = out};
        MATCH_NODE_BEGIN(4u);
        if (match_gap9_call(golden_ne16_04, &task) != 0) {
            state->status = GOLDEN_ERROR_UNIT;
        }
        MATCH_NODE_END(4u);
        break;
    }

    /* 5: n_q7 on cluster (transpose)
     * R=121 C=3; 1868 cycles (modelled) */
    case 5u: {
        const void *const in[] = {l2 + 976u};
        void *const out[] = {state->outputs.q7};
        match_task_t task = {.near = ctx->l1, .in = in, .out = out};
        MATCH_NODE_BEGIN(5u);
        if (match_gap9_call(golden_cluster_05, &task) != 0) {
            state->status = GOLDEN_ERROR_UNIT;
        }
        MATCH_NODE_END(5u);
        break;
    }

    default:
        break;
    }
    if ((state->next >= 6u) && (state->status == GOLDEN_BUSY)) {
        state->status = GOLDEN_OK;
    }
    return state->status;
}

int golden_wait(const golden_t *ctx)
{
    int status = golden_poll(ctx);
    while (status == GOLDEN_BUSY) {
        MATCH_YIELD();
        status = golden_poll(ctx);
    }
    return status;
}
