/* SPDX-License-Identifier: Apache-2.0 */
/* diana: the order of tasks. 8 tasks on analog, digital, host; 100932 cycles (modelled). */
#include "diana.h"

#include <stddef.h>
#include "match_diana_api.h"
#include "match_diana_analog.h"
#include "match_diana_digital.h"
#include "match_runtime.h"
#include "diana_port.h"
#include "diana_tasks.h"

/* DIANA_OK if the context and the memory that it names can be used. */
static int check(const diana_t *ctx)
{
    if (ctx == NULL) {
        return DIANA_ERROR_ARGUMENT;
    }
    if ((ctx->state == NULL) || (((uintptr_t)ctx->state % _Alignof(diana_state_t)) != 0u)) {
        return DIANA_ERROR_ARENA;
    }
    if ((ctx->l1 == NULL) || (((uintptr_t)ctx->l1 % DIANA_L1_ALIGN) != 0u)) {
        return DIANA_ERROR_ARENA;
    }
    if ((ctx->digital_weights == NULL) || (((uintptr_t)ctx->digital_weights % DIANA_DIGITAL_WEIGHTS_ALIGN) != 0u)) {
        return DIANA_ERROR_ARENA;
    }
    if ((ctx->analog_cells == NULL) || (((uintptr_t)ctx->analog_cells % DIANA_ANALOG_CELLS_ALIGN) != 0u)) {
        return DIANA_ERROR_ARENA;
    }
    if ((ctx->analog_norm == NULL) || (((uintptr_t)ctx->analog_norm % DIANA_ANALOG_NORM_ALIGN) != 0u)) {
        return DIANA_ERROR_ARENA;
    }
    if ((ctx->l2 == NULL) || (((uintptr_t)ctx->l2 % DIANA_L2_ALIGN) != 0u)) {
        return DIANA_ERROR_ARENA;
    }
    return DIANA_OK;
}

/* DIANA_OK if the context can be used and is initialised. */
static int initialised(const diana_t *ctx)
{
    const int status = check(ctx);
    if (status != DIANA_OK) {
        return status;
    }
    const diana_state_t *const state = ctx->state;
    return (state->owner == state) ? DIANA_OK : DIANA_ERROR_STATE;
}

/* DIANA_OK if an inference with these tensors can start. */
static int startable(const diana_t *ctx, const diana_inputs_t *inputs, const diana_outputs_t *outputs)
{
    const int status = initialised(ctx);
    if (status != DIANA_OK) {
        return status;
    }
    if ((inputs == NULL) || (outputs == NULL)) {
        return DIANA_ERROR_ARGUMENT;
    }
    if (inputs->input == NULL) {
        return DIANA_ERROR_ARGUMENT;
    }
    if (outputs->pool26_q == NULL) {
        return DIANA_ERROR_ARGUMENT;
    }
    return (ctx->state->status == DIANA_BUSY) ? DIANA_ERROR_UNIT : DIANA_OK;
}

int diana_init(const diana_t *ctx)
{
    const int status = check(ctx);
    if (status != DIANA_OK) {
        return status;
    }
    diana_state_t *const state = ctx->state;
    if (state->owner == state) { /* initialised already */
        return (state->status == DIANA_BUSY) ? DIANA_ERROR_UNIT : DIANA_OK;
    }
    state->status = DIANA_OK;
    state->cancelled = 0u;
    if (match_diana_start() != 0) {
        return DIANA_ERROR_UNIT;
    }
    state->owner = state;
    return DIANA_OK;
}

int diana_cancel(const diana_t *ctx)
{
    const int status = initialised(ctx);
    if (status == DIANA_OK) {
        ctx->state->cancelled = 1u;
    }
    return status;
}

void diana_stop(const diana_t *ctx)
{
    if (initialised(ctx) != DIANA_OK) {
        return;
    }
    diana_state_t *const state = ctx->state;
    state->status = DIANA_OK;
    state->owner = NULL;
    match_diana_stop();
}

int diana_run(const diana_t *ctx, const diana_inputs_t *inputs, const diana_outputs_t *outputs)
{
    const int status = diana_start(ctx, inputs, outputs);
    return (status == DIANA_OK) ? diana_wait(ctx) : status;
}


int diana_start(const diana_t *ctx, const diana_inputs_t *inputs, const diana_outputs_t *outputs)
{
    const int status = startable(ctx, inputs, outputs);
    if (status == DIANA_OK) {
        diana_state_t *const state = ctx->state;
        state->inputs = *inputs;
        state->outputs = *outputs;
        state->next = 0u;
        state->cancelled = 0u;
        state->status = DIANA_BUSY;
    }
    return status;
}

/* Runs the next task. */
int diana_poll(const diana_t *ctx)
{
    const int status = initialised(ctx);
    if (status != DIANA_OK) {
        return status;
    }
    diana_state_t *const state = ctx->state;
    uint8_t *const l2 = ctx->l2;
    if (state->status != DIANA_BUSY) {
        return state->status;
    }
    if (state->cancelled != 0u) {
        state->status = DIANA_CANCELLED;
        return DIANA_CANCELLED;
    }
    switch (state->next++) {

    /* 0: Convert of input (inserted) on host (host_convert)
     * N=768; 4052 cycles (modelled) */
    case 0u:
        MATCH_NODE_BEGIN(0u);
        diana_host_00(state->inputs.input, l2 + 16384u);
        MATCH_NODE_END(0u);
        break;

    /* 1: conv0, conv0_relu on digital (digital_conv_channels)
     * K=1 C=3 OY=16 OX=16 FY=3 FX=3 SPARE=1; 5773 cycles (modelled) */
    case 1u: {
        const void *const in[] = {l2 + 16384u};
        void *const out[] = {l2 + 0u};
        uint8_t *const private_near[] = {ctx->digital_weights};
        match_task_t task = {.near = ctx->l1, .private_near = private_near, .in = in, .out = out};
        MATCH_NODE_BEGIN(1u);
        if (match_diana_call(diana_digital_01, &task) != 0) {
            state->status = DIANA_ERROR_UNIT;
        }
        MATCH_NODE_END(1u);
        break;
    }

    /* 2: conv6, conv6_relu on analog (analog_conv)
     * OY=16 FY=3 G=1 B=1; tiles OY:2x8; 15756 cycles (modelled) */
    case 2u: {
        const void *const in[] = {l2 + 0u};
        void *const out[] = {l2 + 16384u};
        uint8_t *const private_near[] = {ctx->analog_cells, ctx->analog_norm};
        match_task_t task = {.near = ctx->l1, .private_near = private_near, .in = in, .out = out};
        MATCH_NODE_BEGIN(2u);
        if (match_diana_call(diana_analog_02, &task) != 0) {
            state->status = DIANA_ERROR_UNIT;
        }
        MATCH_NODE_END(2u);
        break;
    }

    /* 3: conv12 on analog (analog_conv)
     * OY=16 FY=3 G=1 B=1; tiles OY:2x8; 15756 cycles (modelled) */
    case 3u: {
        const void *const in[] = {l2 + 16384u};
        void *const out[] = {l2 + 32768u};
        uint8_t *const private_near[] = {ctx->analog_cells, ctx->analog_norm};
        match_task_t task = {.near = ctx->l1, .private_near = private_near, .in = in, .out = out};
        MATCH_NODE_BEGIN(3u);
        if (match_diana_call(diana_analog_03, &task) != 0) {
            state->status = DIANA_ERROR_UNIT;
        }
        MATCH_NODE_END(3u);
        break;
    }

    /* 4: add17 on digital (digital_add_channels)
     * N=512; tiles N:3x192; 5741 cycles (modelled) */
    case 4u: {
        const void *const in[] = {l2 + 32768u, l2 + 0u};
        void *const out[] = {l2 + 16384u};
        match_task_t task = {.near = ctx->l1, .in = in, .out = out};
        MATCH_NODE_BEGIN(4u);
        if (match_diana_call(diana_digital_04, &task) != 0) {
            state->status = DIANA_ERROR_UNIT;
        }
        MATCH_NODE_END(4u);
        break;
    }

    /* 5: conv21 on analog (analog_conv)
     * OY=8 FY=3 G=1 B=1; 8054 cycles (modelled) */
    case 5u: {
        const void *const in[] = {l2 + 16384u};
        void *const out[] = {l2 + 0u};
        uint8_t *const private_near[] = {ctx->analog_cells, ctx->analog_norm};
        match_task_t task = {.near = ctx->l1, .private_near = private_near, .in = in, .out = out};
        MATCH_NODE_BEGIN(5u);
        if (match_diana_call(diana_analog_05, &task) != 0) {
            state->status = DIANA_ERROR_UNIT;
        }
        MATCH_NODE_END(5u);
        break;
    }

    /* 6: Convert of conv21_requant_analog (inserted) on host (host_convert)
     * N=2048; 24596 cycles (modelled) */
    case 6u:
        MATCH_NODE_BEGIN(6u);
        diana_host_06(l2 + 0u, l2 + 4096u);
        MATCH_NODE_END(6u);
        break;

    /* 7: pool26 on host (host_conv_integer_requant)
     * N=32; 21204 cycles (modelled) */
    case 7u:
        MATCH_NODE_BEGIN(7u);
        diana_host_07(l2 + 4096u, state->outputs.pool26_q);
        MATCH_NODE_END(7u);
        break;

    default:
        break;
    }
    if ((state->next >= 8u) && (state->status == DIANA_BUSY)) {
        state->status = DIANA_OK;
    }
    return state->status;
}

int diana_wait(const diana_t *ctx)
{
    int status = diana_poll(ctx);
    while (status == DIANA_BUSY) {
        MATCH_YIELD();
        status = diana_poll(ctx);
    }
    return status;
}
