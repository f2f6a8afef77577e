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

int diana_init(const diana_t *ctx)
{
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
    ctx->state->status = DIANA_OK;
    if (match_diana_start() != 0) {
        return DIANA_ERROR_UNIT;
    }
    return DIANA_OK;
}

int diana_start(const diana_t *ctx, const diana_inputs_t *inputs, const diana_outputs_t *outputs)
{
    diana_state_t *const state = ctx->state;
    if (state->status == DIANA_BUSY) {
        return DIANA_ERROR_UNIT;
    }
    state->inputs = *inputs;
    state->outputs = *outputs;
    state->next = 0u;
    state->status = DIANA_BUSY;
    return DIANA_OK;
}

/* Runs the next task. */
int diana_poll(const diana_t *ctx)
{
    diana_state_t *const state = ctx->state;
    uint8_t *const l2 = ctx->l2;
    if (state->status != DIANA_BUSY) {
        return state->status;
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
    int status = DIANA_BUSY;
    while (status == DIANA_BUSY) {
        status = diana_poll(ctx);
    }
    return status;
}

int diana_run(const diana_t *ctx, const diana_inputs_t *inputs, const diana_outputs_t *outputs)
{
    const int status = diana_start(ctx, inputs, outputs);
    return (status == DIANA_OK) ? diana_wait(ctx) : status;
}

void diana_stop(const diana_t *ctx)
{
    ctx->state->status = DIANA_OK;
    match_diana_stop();
}
