/* SPDX-License-Identifier: Apache-2.0 */
/* streamed: the order of tasks. 5 tasks on cluster, ne16; 153918 cycles (modelled). */
#include "streamed.h"

#include <stddef.h>
#include "match_gap9_api.h"
#include "match_gap9_wide.h"
#include "match_runtime.h"
#include "streamed_port.h"
#include "streamed_tasks.h"

int streamed_init(const streamed_t *ctx)
{
    if ((ctx->l1 == NULL) || (((uintptr_t)ctx->l1 % STREAMED_L1_ALIGN) != 0u)) {
        return STREAMED_ERROR_ARENA;
    }
    if ((ctx->l2 == NULL) || (((uintptr_t)ctx->l2 % STREAMED_L2_ALIGN) != 0u)) {
        return STREAMED_ERROR_ARENA;
    }
    if ((ctx->l3 % STREAMED_L3_ALIGN) != 0u) {
        return STREAMED_ERROR_ARENA;
    }
    if (match_gap9_start() != 0) {
        return STREAMED_ERROR_UNIT;
    }
    if (match_gap9_ne16_start() != 0) {
        return STREAMED_ERROR_UNIT;
    }
    return STREAMED_OK;
}

int streamed_run(const streamed_t *ctx, const streamed_inputs_t *inputs, const streamed_outputs_t *outputs)
{
    uint8_t *const l2 = ctx->l2;

    /* 0: n_input_dq0 on cluster (transpose)
     * R=32 C=81; tiles C:2x48; two buffers for input, output; 5530 cycles (modelled) */
    {
        const void *const in[] = {inputs->input};
        void *const out[] = {l2 + 0u};
        match_task_t task = {.near = ctx->l1, .in = in, .out = out};
        MATCH_NODE_BEGIN(0u);
        if (match_gap9_call(streamed_cluster_00, &task) != 0) {
            return STREAMED_ERROR_UNIT;
        }
        MATCH_NODE_END(0u);
    }

    /* 1: conv0, conv0_relu on ne16 (conv3x3)
     * K=96 C=32 OY=9 OX=9 FY=3 FX=3; tiles K:3x32; two buffers for constants, output; 24900 cycles (modelled) */
    {
        const void *const in[] = {l2 + 0u};
        void *const out[] = {l2 + 35200u};
        match_task_t task = {.near = ctx->l1, .in = in, .out = out};
        MATCH_NODE_BEGIN(1u);
        if (match_gap9_call(streamed_ne16_01, &task) != 0) {
            return STREAMED_ERROR_UNIT;
        }
        MATCH_NODE_END(1u);
    }

    /* 2: conv2, conv2_relu on ne16 (conv3x3_wide)
     * K=96 C=96 OY=9 OX=9 FY=3 FX=3; tiles K:5x20; two buffers for constants, output; streamed constants; 110130
     * cycles (modelled) */
    {
        const void *const in[] = {l2 + 35200u};
        void *const out[] = {l2 + 42976u};
        match_task_t task = {.near = ctx->l1, .in = in, .out = out, .scratch = l2 + 0u, .store = ctx->l3};
        MATCH_NODE_BEGIN(2u);
        if (match_gap9_call(streamed_ne16_02, &task) != 0) {
            return STREAMED_ERROR_UNIT;
        }
        MATCH_NODE_END(2u);
    }

    /* 3: conv4, conv4_relu on ne16 (conv1x1)
     * K=24 C=96 OY=9 OX=9 FY=1 FX=1; 8463 cycles (modelled) */
    {
        const void *const in[] = {l2 + 42976u};
        void *const out[] = {l2 + 0u};
        match_task_t task = {.near = ctx->l1, .in = in, .out = out};
        MATCH_NODE_BEGIN(3u);
        if (match_gap9_call(streamed_ne16_03, &task) != 0) {
            return STREAMED_ERROR_UNIT;
        }
        MATCH_NODE_END(3u);
    }

    /* 4: n_q5 on cluster (transpose)
     * R=81 C=24; 4895 cycles (modelled) */
    {
        const void *const in[] = {l2 + 0u};
        void *const out[] = {outputs->q5};
        match_task_t task = {.near = ctx->l1, .in = in, .out = out};
        MATCH_NODE_BEGIN(4u);
        if (match_gap9_call(streamed_cluster_04, &task) != 0) {
            return STREAMED_ERROR_UNIT;
        }
        MATCH_NODE_END(4u);
    }
    return STREAMED_OK;
}

void streamed_stop(const streamed_t *ctx)
{
    (void)ctx;
    match_gap9_ne16_stop();
    match_gap9_stop();
}
