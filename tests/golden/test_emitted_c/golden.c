/* SPDX-License-Identifier: Apache-2.0 */
/* golden: the order of tasks. 6 tasks on cluster, ne16; 664398 cycles (modelled). */
#include "golden.h"

#include <stddef.h>
#include "match_gap9_api.h"
#include "match_gap9_wide.h"
#include "match_runtime.h"
#include "golden_port.h"
#include "golden_tasks.h"

int golden_init(const golden_t *ctx)
{
    if ((ctx->state == NULL) || (((uintptr_t)ctx->state % _Alignof(golden_state_t)) != 0u)) {
        return GOLDEN_ERROR_ARENA;
    }
    if ((ctx->l1 == NULL) || (((uintptr_t)ctx->l1 % GOLDEN_L1_ALIGN) != 0u)) {
        return GOLDEN_ERROR_ARENA;
    }
    if ((ctx->l2 == NULL) || (((uintptr_t)ctx->l2 % GOLDEN_L2_ALIGN) != 0u)) {
        return GOLDEN_ERROR_ARENA;
    }
    ctx->state->status = GOLDEN_OK;
    if (match_gap9_start() != 0) {
        return GOLDEN_ERROR_UNIT;
    }
    if (match_gap9_ne16_start() != 0) {
        return GOLDEN_ERROR_UNIT;
    }
    return GOLDEN_OK;
}

int golden_start(const golden_t *ctx, const golden_inputs_t *inputs, const golden_outputs_t *outputs)
{
    golden_state_t *const state = ctx->state;
    if (state->status == GOLDEN_BUSY) {
        return GOLDEN_ERROR_UNIT;
    }
    state->inputs = *inputs;
    state->outputs = *outputs;
    state->next = 0u;
    state->status = GOLDEN_BUSY;
    return GOLDEN_OK;
}

/* Runs the next task. */
int golden_poll(const golden_t *ctx)
{
    golden_state_t *const state = ctx->state;
    uint8_t *const l2 = ctx->l2;
    if (state->status != GOLDEN_BUSY) {
        return state->status;
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
    int status = GOLDEN_BUSY;
    while (status == GOLDEN_BUSY) {
        status = golden_poll(ctx);
    }
    return status;
}

int golden_run(const golden_t *ctx, const golden_inputs_t *inputs, const golden_outputs_t *outputs)
{
    const int status = golden_start(ctx, inputs, outputs);
    return (status == GOLDEN_OK) ? golden_wait(ctx) : status;
}

void golden_stop(const golden_t *ctx)
{
    ctx->state->status = GOLDEN_OK;
    match_gap9_ne16_stop();
    match_gap9_stop();
}
