/* SPDX-License-Identifier: Apache-2.0 */
/* whole: the order of tasks. 3 tasks on engine, host; 2167 cycles (modelled). */
#include "whole.h"

#include <stddef.h>
#include "engine.h"
#include "match_runtime.h"
#include "whole_port.h"
#include "whole_tasks.h"

/* WHOLE_OK if the context and the memory that it names can be used. */
static int check(const whole_t *ctx)
{
    if (ctx == NULL) {
        return WHOLE_ERROR_ARGUMENT;
    }
    if ((ctx->state == NULL) || (((uintptr_t)ctx->state % _Alignof(whole_state_t)) != 0u)) {
        return WHOLE_ERROR_ARENA;
    }
    if ((ctx->ram == NULL) || (((uintptr_t)ctx->ram % WHOLE_RAM_ALIGN) != 0u)) {
        return WHOLE_ERROR_ARENA;
    }
    return WHOLE_OK;
}

/* WHOLE_OK if the context can be used and is initialised. */
static int initialised(const whole_t *ctx)
{
    const int status = check(ctx);
    if (status != WHOLE_OK) {
        return status;
    }
    const whole_state_t *const state = ctx->state;
    return (state->owner == state) ? WHOLE_OK : WHOLE_ERROR_STATE;
}

/* WHOLE_OK if an inference with these tensors can start. */
static int startable(const whole_t *ctx, const whole_inputs_t *inputs, const whole_outputs_t *outputs)
{
    const int status = initialised(ctx);
    if (status != WHOLE_OK) {
        return status;
    }
    if ((inputs == NULL) || (outputs == NULL)) {
        return WHOLE_ERROR_ARGUMENT;
    }
    if (inputs->x == NULL) {
        return WHOLE_ERROR_ARGUMENT;
    }
    if (((uintptr_t)inputs->x % _Alignof(float)) != 0u) {
        return WHOLE_ERROR_ARGUMENT;
    }
    if (inputs->y == NULL) {
        return WHOLE_ERROR_ARGUMENT;
    }
    if (((uintptr_t)inputs->y % _Alignof(float)) != 0u) {
        return WHOLE_ERROR_ARGUMENT;
    }
    if (outputs->early == NULL) {
        return WHOLE_ERROR_ARGUMENT;
    }
    if (((uintptr_t)outputs->early % _Alignof(float)) != 0u) {
        return WHOLE_ERROR_ARGUMENT;
    }
    if (outputs->late == NULL) {
        return WHOLE_ERROR_ARGUMENT;
    }
    if (((uintptr_t)outputs->late % _Alignof(float)) != 0u) {
        return WHOLE_ERROR_ARGUMENT;
    }
    if (outputs->other == NULL) {
        return WHOLE_ERROR_ARGUMENT;
    }
    if (((uintptr_t)outputs->other % _Alignof(float)) != 0u) {
        return WHOLE_ERROR_ARGUMENT;
    }
    return (ctx->state->status == WHOLE_BUSY) ? WHOLE_ERROR_UNIT : WHOLE_OK;
}

int whole_init(const whole_t *ctx)
{
    const int status = check(ctx);
    if (status != WHOLE_OK) {
        return status;
    }
    whole_state_t *const state = ctx->state;
    if (state->owner == state) { /* initialised already */
        return (state->status == WHOLE_BUSY) ? WHOLE_ERROR_UNIT : WHOLE_OK;
    }
    state->status = WHOLE_OK;
    state->cancelled = 0u;
    if (engine_start() != 0) {
        return WHOLE_ERROR_UNIT;
    }
    if (whole_load_regions(state) != 0) {
        engine_stop();
        return WHOLE_ERROR_UNIT;
    }
    state->owner = state;
    return WHOLE_OK;
}

int whole_cancel(const whole_t *ctx)
{
    const int status = initialised(ctx);
    if (status == WHOLE_OK) {
        ctx->state->cancelled = 1u;
    }
    return status;
}

void whole_stop(const whole_t *ctx)
{
    if (initialised(ctx) != WHOLE_OK) {
        return;
    }
    whole_state_t *const state = ctx->state;
    state->status = WHOLE_OK;
    state->owner = NULL;
    whole_unload_regions(state);
    engine_stop();
}

int whole_run(const whole_t *ctx, const whole_inputs_t *inputs, const whole_outputs_t *outputs)
{
    const int status = whole_start(ctx, inputs, outputs);
    return (status == WHOLE_OK) ? whole_wait(ctx) : status;
}


int whole_start(const whole_t *ctx, const whole_inputs_t *inputs, const whole_outputs_t *outputs)
{
    const int status = startable(ctx, inputs, outputs);
    if (status == WHOLE_OK) {
        whole_state_t *const state = ctx->state;
        state->inputs = *inputs;
        state->outputs = *outputs;
        state->next = 0u;
        state->cancelled = 0u;
        state->status = WHOLE_BUSY;
    }
    return status;
}

/* Runs the next task. */
int whole_poll(const whole_t *ctx)
{
    const int status = initialised(ctx);
    if (status != WHOLE_OK) {
        return status;
    }
    whole_state_t *const state = ctx->state;
    uint8_t *const ram = ctx->ram;
    if (state->status != WHOLE_BUSY) {
        return state->status;
    }
    if (state->cancelled != 0u) {
        state->status = WHOLE_CANCELLED;
        return WHOLE_CANCELLED;
    }
    switch (state->next++) {

    /* 0: Add_0, Neg_6, Mul_1, Relu_2 on engine (engine_region)
     * N=72; 19 cycles (modelled) */
    case 0u: {
        const void *const in[] = {state->inputs.x, state->inputs.y};
        void *const out[] = {state->outputs.early, ram + 0u, ram + 96u};
        whole_region_task_t task = {
            .task = {.in = in, .out = out, .scratch = ram + 192u},
            .handle = state->region_handle[0],
        };
        MATCH_NODE_BEGIN(0u);
        whole_engine_00(&task);
        MATCH_NODE_END(0u);
        if (task.status != 0) {
            state->status = WHOLE_ERROR_UNIT;
        }
        break;
    }

    /* 1: Sigmoid_3 on host (host_sigmoid)
     * N=24; 2132 cycles (modelled) */
    case 1u:
        MATCH_NODE_BEGIN(1u);
        whole_host_01(ram + 96u, ram + 192u);
        MATCH_NODE_END(1u);
        break;

    /* 2: Sub_4, Mul_5, Add_7 on engine (engine_region)
     * N=48; 16 cycles (modelled) */
    case 2u: {
        const void *const in[] = {ram + 192u, state->outputs.early, ram + 0u};
        void *const out[] = {state->outputs.late, state->outputs.other};
        whole_region_task_t task = {
            .task = {.in = in, .out = out, .scratch = ram + 96u},
            .handle = state->region_handle[1],
        };
        MATCH_NODE_BEGIN(2u);
        whole_engine_02(&task);
        MATCH_NODE_END(2u);
        if (task.status != 0) {
            state->status = WHOLE_ERROR_UNIT;
        }
        break;
    }

    default:
        break;
    }
    if ((state->next >= 3u) && (state->status == WHOLE_BUSY)) {
        state->status = WHOLE_OK;
    }
    return state->status;
}

int whole_wait(const whole_t *ctx)
{
    int status = whole_poll(ctx);
    while (status == WHOLE_BUSY) {
        MATCH_YIELD();
        status = whole_poll(ctx);
    }
    return status;
}
