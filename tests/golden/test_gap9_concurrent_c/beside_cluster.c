/* SPDX-License-Identifier: Apache-2.0 */
/* beside: layers on unit cluster, one function each: steps over tiles, copies, kernel launch and wait. */
#include <stdint.h>
#include "match_gap9_api.h"
#include "match_gap9_wide.h"
#include "match_gap9_beside.h"
#include "match_runtime.h"
#include "beside_tasks.h"

/* n_input_dq0 on cluster (transpose)
 * R=16 C=576; 11109 cycles (modelled) */
void beside_cluster_00(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    uint8_t *const output = task->out[0];
    const match_transpose_t tile = {
        .input = near,
        .output = near + 9216u,
        .r = 16u, .c = 576u,
        .flip = 128,
    };
    match_gap9_copy_in_1d(near, input, 9216u);
    match_gap9_copy_wait();
    match_gap9_transpose(&tile);
    match_gap9_copy_out_1d(output, near + 9216u, 9216u);
    match_gap9_copy_wait();
}

/* conv2, conv2_relu, OY 0..7 of 24 on cluster (pointwise)
 * K=16 C=32 OY=8 OX=24 FY=1 FX=1; 10093 cycles (modelled) */
void beside_cluster_03(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    const uint8_t *const constants = (const uint8_t *)beside_03_constants;
    uint8_t *const output = task->out[0];
    const match_conv2d_t tile = {
        .input = near,
        .multiplier = near + 6144u,
        .addend = near + 6208u,
        .weight = near + 6272u,
        .output = near + 6784u,
        .k = 16u, .c = 32u, .oy = 8u, .ox = 24u, .fy = 1u, .fx = 1u,
        .input_y = 8u,
        .input_x = 24u,
        .stride_y = 1, .stride_x = 1, .shift = 17, .pad_value = 0, .weight_bits = 8,
    };
    match_gap9_copy_in_1d(near, input, 6144u);
    match_gap9_copy_in_1d(near + 6144u, constants, 640u);
    match_gap9_copy_wait();
    match_gap9_pointwise(&tile);
    match_gap9_copy_out_1d(output, near + 6784u, 3072u);
    match_gap9_copy_wait();
}

/* n_q3 on cluster (transpose)
 * R=576 C=16; 11109 cycles (modelled) */
void beside_cluster_04(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    uint8_t *const output = task->out[0];
    const match_transpose_t tile = {
        .input = near,
        .output = near + 9216u,
        .r = 576u, .c = 16u,
        .flip = 128,
    };
    match_gap9_copy_in_1d(near, input, 9216u);
    match_gap9_copy_wait();
    match_gap9_transpose(&tile);
    match_gap9_copy_out_1d(output, near + 9216u, 9216u);
    match_gap9_copy_wait();
}

/* The tasks of cluster, in order. */
static const match_row_t rows[] = {
    /* 0: n_input_dq0 */
    {.run = beside_cluster_00, .node = 0u,
     .in = (const match_place_t[]){{beside_base_in_input, 0u}}, .inputs = 1u,
     .near = {beside_base_l1, 0u},
     .out = (const match_place_t[]){{beside_base_l2, 18432u}}, .outputs = 1u},
    /* 3: conv2, conv2_relu, OY 0..7 of 24 */
    {.run = beside_cluster_03, .node = 3u,
     .in = (const match_place_t[]){{beside_base_l2, 0u}}, .inputs = 1u,
     .near = {beside_base_l1, 0u},
     .out = (const match_place_t[]){{beside_base_l2, 27648u}}, .outputs = 1u},
    /* 4: n_q3 */
    {.run = beside_cluster_04, .node = 4u,
     .in = (const match_place_t[]){{beside_base_l2, 27648u}}, .inputs = 1u,
     .near = {beside_base_l1, 0u},
     .out = (const match_place_t[]){{beside_base_out_q3, 0u}}, .outputs = 1u},
};

/* Runs a task with the addresses of this run. */
BESIDE_CLUSTER_CODE_SECTION
static void run_task(const beside_state_t *state, uint32_t n)
{
    const match_row_t *const row = &rows[n];
    const void *in[1];
    void *out[1];
    for (uint32_t i = 0u; i < row->inputs; i++) {
        in[i] = match_at(state->base, row->in[i]);
    }
    for (uint32_t i = 0u; i < row->outputs; i++) {
        out[i] = match_at(state->base, row->out[i]);
    }
    match_task_t task = {
        .near = match_at(state->base, row->near),
        .in = in,
        .out = out,
        .scratch = match_at(state->base, row->scratch),
    };
    MATCH_NODE_BEGIN(row->node);
    row->run(&task);
    MATCH_NODE_END(row->node);
}

/* The unit's part of a run: waits for each task until the host has posted it. */
void beside_cluster_loop(void *argument)
{
    beside_state_t *const state = argument;
    match_queue_t *const queue = &state->queue[beside_queue_cluster];
    for (uint32_t n = 0u; n < 3u; n++) {
        if (match_gap9_queue_wait(queue, n + 1u) != 0) {
            return;
        }
        run_task(state, n);
        match_store(&queue->done, n + 1u);
    }
}
