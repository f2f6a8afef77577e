/* SPDX-License-Identifier: Apache-2.0 */
/* attention: the order of tasks. 7 tasks on ita, snitch; 42082 cycles (modelled). */
#include "attention.h"

#include <stddef.h>
#include "match_ita_api.h"
#include "match_ita_team.h"
#include "match_snitch_products_kernels.h"
#include "match_snitch_rows_kernels.h"
#include "match_runtime.h"
#include "attention_port.h"
#include "attention_tasks.h"

/* ATTENTION_OK if the context and the memory that it names can be used. */
static int check(const attention_t *ctx)
{
    if (ctx == NULL) {
        return ATTENTION_ERROR_ARGUMENT;
    }
    if ((ctx->state == NULL) || (((uintptr_t)ctx->state % _Alignof(attention_state_t)) != 0u)) {
        return ATTENTION_ERROR_ARENA;
    }
    if ((ctx->l1 == NULL) || (((uintptr_t)ctx->l1 % ATTENTION_L1_ALIGN) != 0u)) {
        return ATTENTION_ERROR_ARENA;
    }
    if ((ctx->l2 == NULL) || (((uintptr_t)ctx->l2 % ATTENTION_L2_ALIGN) != 0u)) {
        return ATTENTION_ERROR_ARENA;
    }
    return ATTENTION_OK;
}

/* ATTENTION_OK if the context can be used and is initialised. */
static int initialised(const attention_t *ctx)
{
    const int status = check(ctx);
    if (status != ATTENTION_OK) {
        return status;
    }
    const attention_state_t *const state = ctx->state;
    return (state->owner == state) ? ATTENTION_OK : ATTENTION_ERROR_STATE;
}

/* ATTENTION_OK if an inference with these tensors can start. */
static int startable(const attention_t *ctx, const attention_inputs_t *inputs, const attention_outputs_t *outputs)
{
    const int status = initialised(ctx);
    if (status != ATTENTION_OK) {
        return status;
    }
    if ((inputs == NULL) || (outputs == NULL)) {
        return ATTENTION_ERROR_ARGUMENT;
    }
    if (inputs->x == NULL) {
        return ATTENTION_ERROR_ARGUMENT;
    }
    if (outputs->y == NULL) {
        return ATTENTION_ERROR_ARGUMENT;
    }
    return (ctx->state->status == ATTENTION_BUSY) ? ATTENTION_ERROR_UNIT : ATTENTION_OK;
}

int attention_init(const attention_t *ctx)
{
    const int status = check(ctx);
    if (status != ATTENTION_OK) {
        return status;
    }
    attention_state_t *const state = ctx->state;
    if (state->owner == state) { /* initialised already */
        return (state->status == ATTENTION_BUSY) ? ATTENTION_ERROR_UNIT : ATTENTION_OK;
    }
    state->status = ATTENTION_OK;
    state->cancelled = 0u;
    if (match_ita_start() != 0) {
        return ATTENTION_ERROR_UNIT;
    }
    state->owner = state;
    return ATTENTION_OK;
}

int attention_cancel(const attention_t *ctx)
{
    const int status = initialised(ctx);
    if (status == ATTENTION_OK) {
        ctx->state->cancelled = 1u;
    }
    return status;
}

void attention_stop(const attention_t *ctx)
{
    if (initialised(ctx) != ATTENTION_OK) {
        return;
    }
    attention_state_t *const state = ctx->state;
    state->status = ATTENTION_OK;
    state->owner = NULL;
    match_ita_stop();
}

int attention_run(const attention_t *ctx, const attention_inputs_t *inputs, const attention_outputs_t *outputs)
{
    const int status = attention_start(ctx, inputs, outputs);
    return (status == ATTENTION_OK) ? attention_wait(ctx) : status;
}


int attention_start(const attention_t *ctx, const attention_inputs_t *inputs, const attention_outputs_t *outputs)
{
    const int status = startable(ctx, inputs, outputs);
    if (status == ATTENTION_OK) {
        attention_state_t *const state = ctx->state;
        state->inputs = *inputs;
        state->outputs = *outputs;
        state->next = 0u;
        state->cancelled = 0u;
        state->status = ATTENTION_BUSY;
    }
    return status;
}

/* Runs the next task. */
int attention_poll(const attention_t *ctx)
{
    const int status = initialised(ctx);
    if (status != ATTENTION_OK) {
        return status;
    }
    attention_state_t *const state = ctx->state;
    uint8_t *const l2 = ctx->l2;
    if (state->status != ATTENTION_BUSY) {
        return state->status;
    }
    if (state->cancelled != 0u) {
        state->status = ATTENTION_CANCELLED;
        return ATTENTION_CANCELLED;
    }
    switch (state->next++) {

    /* 0: layernormalization2_node on snitch (layernorm)
     * R=81 C=64; 17269 cycles (modelled) */
    case 0u: {
        const void *const in[] = {state->inputs.x};
        void *const out[] = {l2 + 37120u};
        match_task_t task = {.near = ctx->l1, .in = in, .out = out};
        MATCH_NODE_BEGIN(0u);
        if (match_ita_call(attention_snitch_00, &task) != 0) {
            state->status = ATTENTION_ERROR_UNIT;
        }
        MATCH_NODE_END(0u);
        break;
    }

    /* 2: matmul6_node, add7_node on ita (ita_linear)
     * S=81 K1=2 C1=1; 2478 cycles (modelled) */
    case 1u: {
        const void *const in[] = {l2 + 37120u};
        void *const out[] = {l2 + 16384u};
        match_task_t task = {.near = ctx->l1, .in = in, .out = out};
        MATCH_NODE_BEGIN(2u);
        if (match_ita_call(attention_ita_02, &task) != 0) {
            state->status = ATTENTION_ERROR_UNIT;
        }
        MATCH_NODE_END(2u);
        break;
    }

    /* 4: matmul13_node, add14_node on ita (ita_linear)
     * S=81 K1=2 C1=1; 2478 cycles (modelled) */
    case 2u: {
        const void *const in[] = {l2 + 37120u};
        void *const out[] = {l2 + 26752u};
        match_task_t task = {.near = ctx->l1, .in = in, .out = out};
        MATCH_NODE_BEGIN(4u);
        if (match_ita_call(attention_ita_04, &task) != 0) {
            state->status = ATTENTION_ERROR_UNIT;
        }
        MATCH_NODE_END(4u);
        break;
    }

    /* 6: matmul20_node, add21_node on ita (ita_linear_turned)
     * P1=2 T1=2 C1=1 T0=64; tiles T1:2x1; two buffers for output; 2708 cycles (modelled) */
    case 3u: {
        const void *const in[] = {l2 + 37120u};
        void *const out[] = {l2 + 0u};
        match_task_t task = {.near = ctx->l1, .in = in, .out = out};
        MATCH_NODE_BEGIN(6u);
        if (match_ita_call(attention_ita_06, &task) != 0) {
            state->status = ATTENTION_ERROR_UNIT;
        }
        MATCH_NODE_END(6u);
        break;
    }

    /* 7: matmul27_node, mul28_node, softmax31_node, matmul34_node on ita (ita_attention)
     * H=2 S=81 T=81 T1=2 P1=1; tiles H:2x1; two buffers for q, k, vt, output; 6652 cycles (modelled) */
    case 4u: {
        const void *const in[] = {l2 + 16384u, l2 + 26752u, l2 + 0u};
        void *const out[] = {l2 + 37120u};
        match_task_t task = {.near = ctx->l1, .in = in, .out = out};
        MATCH_NODE_BEGIN(7u);
        if (match_ita_call(attention_ita_07, &task) != 0) {
            state->status = ATTENTION_ERROR_UNIT;
        }
        MATCH_NODE_END(7u);
        break;
    }

    /* 9: matmul40_node, add41_node on ita (ita_linear)
     * S=81 K1=1 C1=2; 2365 cycles (modelled) */
    case 5u: {
        const void *const in[] = {l2 + 37120u};
        void *const out[] = {l2 + 0u};
        match_task_t task = {.near = ctx->l1, .in = in, .out = out};
        MATCH_NODE_BEGIN(9u);
        if (match_ita_call(attention_ita_09, &task) != 0) {
            state->status = ATTENTION_ERROR_UNIT;
        }
        MATCH_NODE_END(9u);
        break;
    }

    /* 10: add44_node on snitch (add)
     * R=81 C=64; 8132 cycles (modelled) */
    case 6u: {
        const void *const in[] = {state->inputs.x, l2 + 0u};
        void *const out[] = {state->outputs.y};
        match_task_t task = {.near = ctx->l1, .in = in, .out = out};
        MATCH_NODE_BEGIN(10u);
        if (match_ita_call(attention_snitch_10, &task) != 0) {
            state->status = ATTENTION_ERROR_UNIT;
        }
        MATCH_NODE_END(10u);
        break;
    }

    default:
        break;
    }
    if ((state->next >= 7u) && (state->status == ATTENTION_BUSY)) {
        state->status = ATTENTION_OK;
    }
    return state->status;
}

int attention_wait(const attention_t *ctx)
{
    int status = attention_poll(ctx);
    while (status == ATTENTION_BUSY) {
        MATCH_YIELD();
        status = attention_poll(ctx);
    }
    return status;
}
