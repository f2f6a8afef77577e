/* SPDX-License-Identifier: Apache-2.0 */
/* beside: layers on unit cluster, one function each: steps over tiles, copies, kernel launch and wait. */
#include <stdint.h>
#include "match_gap9_api.h"
#include "match_gap9_wide.h"
#include "match_gap9_beside.h"
#include "match_runtime.h"
#include "beside_tasks.h"

/* n_input_dq0, C 0..239 of 576 on cluster (transpose)
 * R=16 C=240; 5624 cycles (modelled) */
void beside_cluster_00(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    uint8_t *const output = task->out[0];
    const match_transpose_t tile = {
        .input = near,
        .output = near + 3840u,
        .r = 16u, .c = 240u,
        .flip = 128,
    };
    match_gap9_copy_in_2d(near, input, 16u, 240u, 576u);
    match_gap9_copy_wait();
    match_gap9_transpose(&tile);
    match_gap9_copy_out_1d(output, near + 3840u, 3840u);
    match_gap9_copy_wait();
}

/* A step of beside_cluster_01: one kernel call. */
typedef struct {
    uint32_t c; /* start of the tile, by loop */
    uint32_t c_turn; /* number of the buffer in use */
    match_transpose_t tile;
} beside_cluster_01_step_t;

/* Advances to the next tile. */
BESIDE_CLUSTER_CODE_SECTION
static void beside_cluster_01_next(const match_task_t *task, beside_cluster_01_step_t *step)
{
    uint8_t *const near = task->near;
    match_transpose_t *const tile = &step->tile;
    step->c += 192u;
    step->c_turn ^= 1u;
    tile->c = match_min_u32(192u, 336u - step->c);
    tile->input = near + step->c_turn * 3072u;
    tile->output = near + 6144u + step->c_turn * 3072u;
}

/* Loads the tiles of the next step. */
BESIDE_CLUSTER_CODE_SECTION
static void beside_cluster_01_load_ahead(const match_task_t *task, const beside_cluster_01_step_t *step)
{
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    const match_transpose_t *const tile = &step->tile;
    match_gap9_copy_in_2d(near + step->c_turn * 3072u, input + 240u + step->c, 16u, tile->c, 576u);
}

/* Copies the result of a step to home memory. */
BESIDE_CLUSTER_CODE_SECTION
static void beside_cluster_01_store(const match_task_t *task, const beside_cluster_01_step_t *step)
{
    uint8_t *const near = task->near;
    uint8_t *const output = task->out[0];
    const match_transpose_t *const tile = &step->tile;
    match_gap9_copy_out_1d(output + 3840u + step->c * 16u, near + 6144u + step->c_turn * 3072u, tile->c * 16u);
}

/* n_input_dq0, C 240..575 of 576 on cluster (transpose)
 * R=16 C=336; tiles C:2x192; two buffers for input, output; 7344 cycles (modelled) */
void beside_cluster_01(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    beside_cluster_01_step_t steps[3];
    steps[0] = (beside_cluster_01_step_t) {
        .tile = {
            .input = near,
            .output = near + 6144u,
            .r = 16u, .c = 192u,
            .flip = 128,
        },
    };
    beside_cluster_01_step_t *now = &steps[0];
    beside_cluster_01_step_t *next = &steps[1];
    beside_cluster_01_step_t *before = &steps[2];
    match_gap9_copy_in_2d(near, input + 240u, 16u, 192u, 576u);
    for (uint32_t n = 0u; n < 2u; n++) {
        match_gap9_copy_wait();
        if (n + 1u < 2u) {
            *next = *now;
            beside_cluster_01_next(task, next);
            beside_cluster_01_load_ahead(task, next);
        }
        if (n > 0u) {
            beside_cluster_01_store(task, before);
        }
        match_gap9_transpose(&now->tile);
        beside_cluster_01_step_t *const free = before;
        before = now;
        now = next;
        next = free;
    }
    beside_cluster_01_store(task, before);
    match_gap9_copy_wait();
}

/* conv2, conv2_relu, OY 0..7 of 24 on cluster (pointwise)
 * K=16 C=32 OY=8 OX=24 FY=1 FX=1; 19529 cycles (modelled) */
void beside_cluster_04(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    const uint8_t *const constants = (const uint8_t *)beside_04_constants;
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

/* A step of beside_cluster_06: one kernel call. */
typedef struct {
    uint32_t c; /* start of the tile, by loop */
    uint32_t c_turn; /* number of the buffer in use */
    match_transpose_t tile;
} beside_cluster_06_step_t;

/* Advances to the next tile. */
BESIDE_CLUSTER_CODE_SECTION
static void beside_cluster_06_next(const match_task_t *task, beside_cluster_06_step_t *step)
{
    uint8_t *const near = task->near;
    match_transpose_t *const tile = &step->tile;
    step->c += 8u;
    step->c_turn ^= 1u;
    tile->input = near + step->c_turn * 4608u;
    tile->output = near + 9216u + step->c_turn * 4608u;
}

/* Loads the tiles of the next step. */
BESIDE_CLUSTER_CODE_SECTION
static void beside_cluster_06_load_ahead(const match_task_t *task, const beside_cluster_06_step_t *step)
{
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    match_gap9_copy_in_2d(near + step->c_turn * 4608u, input + step->c, 576u, 8u, 16u);
}

/* Copies the result of a step to home memory. */
BESIDE_CLUSTER_CODE_SECTION
static void beside_cluster_06_store(const match_task_t *task, const beside_cluster_06_step_t *step)
{
    uint8_t *const near = task->near;
    uint8_t *const output = task->out[0];
    match_gap9_copy_out_1d(output + step->c * 576u, near + 9216u + step->c_turn * 4608u, 4608u);
}

/* n_q3 on cluster (transpose)
 * R=576 C=16; tiles C:2x8; two buffers for input, output; 10149 cycles (modelled) */
void beside_cluster_06(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    beside_cluster_06_step_t steps[3];
    steps[0] = (beside_cluster_06_step_t) {
        .tile = {
            .input = near,
            .output = near + 9216u,
            .r = 576u, .c = 8u,
            .flip = 128,
        },
    };
    beside_cluster_06_step_t *now = &steps[0];
    beside_cluster_06_step_t *next = &steps[1];
    beside_cluster_06_step_t *before = &steps[2];
    match_gap9_copy_in_2d(near, input, 576u, 8u, 16u);
    for (uint32_t n = 0u; n < 2u; n++) {
        match_gap9_copy_wait();
        if (n + 1u < 2u) {
            *next = *now;
            beside_cluster_06_next(task, next);
            beside_cluster_06_load_ahead(task, next);
        }
        if (n > 0u) {
            beside_cluster_06_store(task, before);
        }
        match_gap9_transpose(&now->tile);
        beside_cluster_06_step_t *const free = before;
        before = now;
        now = next;
        next = free;
    }
    beside_cluster_06_store(task, before);
    match_gap9_copy_wait();
}

/* The tasks of cluster, in order. */
static const match_row_t rows[] = {
    /* 0: n_input_dq0, C 0..239 of 576 */
    {.run = beside_cluster_00, .node = 0u,
     .in = (const match_place_t[]){{beside_base_in_input, 0u}}, .inputs = 1u,
     .near = {beside_base_l1, 0u},
     .out = (const match_place_t[]){{beside_base_l2, 18432u}}, .outputs = 1u},
    /* 1: n_input_dq0, C 240..575 of 576 */
    {.run = beside_cluster_01, .node = 1u,
     .in = (const match_place_t[]){{beside_base_in_input, 0u}}, .inputs = 1u,
     .near = {beside_base_l1, 0u},
     .out = (const match_place_t[]){{beside_base_l2, 18432u}}, .outputs = 1u},
    /* 4: conv2, conv2_relu, OY 0..7 of 24 */
    {.run = beside_cluster_04, .node = 4u,
     .in = (const match_place_t[]){{beside_base_l2, 0u}}, .inputs = 1u,
     .near = {beside_base_l1, 0u},
     .out = (const match_place_t[]){{beside_base_l2, 27648u}}, .outputs = 1u},
    /* 6: n_q3 */
    {.run = beside_cluster_06, .node = 6u,
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

/* The unit's part of a run: waits until the host has posted a task, then runs it. */
void beside_cluster_loop(void *argument)
{
    beside_state_t *const state = argument;
    match_queue_t *const queue = &state->queue[beside_queue_cluster];
    for (uint32_t n = 0u; n < 4u; n++) {
        if (match_gap9_queue_wait(queue, n + 1u) != 0) {
            return;
        }
        run_task(state, n);
        match_store(&queue->done, n + 1u);
    }
}
