/* SPDX-License-Identifier: Apache-2.0 */
/* beside: layers on unit cluster, one function each: steps over tiles, copies, kernel launch and wait. */
#include <stdint.h>
#include "match_gap9_api.h"
#include "match_gap9_wide.h"
#include "match_gap9_beside.h"
#include "match_runtime.h"
#include "beside_tasks.h"

/* A step of beside_cluster_00: one kernel call. */
typedef struct {
    uint32_t c; /* start of the tile, by loop */
    uint32_t c_turn; /* number of the buffer in use */
    match_transpose_t tile;
} beside_cluster_00_step_t;

/* Advances to the next tile. */
BESIDE_CLUSTER_CODE_SECTION
static void beside_cluster_00_next(const match_task_t *task, beside_cluster_00_step_t *step)
{
    uint8_t *const near = task->near;
    match_transpose_t *const tile = &step->tile;
    step->c += 288u;
    step->c_turn ^= 1u;
    tile->input = near + step->c_turn * 4608u;
    tile->output = near + 9216u + step->c_turn * 4608u;
}

/* Loads the tiles of the next step. */
BESIDE_CLUSTER_CODE_SECTION
static void beside_cluster_00_load_ahead(const match_task_t *task, const beside_cluster_00_step_t *step)
{
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    match_gap9_copy_in_2d(near + step->c_turn * 4608u, input + step->c, 16u, 288u, 576u);
}

/* Copies the result of a step to home memory. */
BESIDE_CLUSTER_CODE_SECTION
static void beside_cluster_00_store(const match_task_t *task, const beside_cluster_00_step_t *step)
{
    uint8_t *const near = task->near;
    uint8_t *const output = task->out[0];
    match_gap9_copy_out_1d(output + step->c * 16u, near + 9216u + step->c_turn * 4608u, 4608u);
}

/* n_input_dq0 on cluster (transpose)
 * R=16 C=576; tiles C:2x288; two buffers for input, output; 11479 cycles (modelled) */
void beside_cluster_00(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    beside_cluster_00_step_t steps[3];
    steps[0] = (beside_cluster_00_step_t) {
        .tile = {
            .input = near,
            .output = near + 9216u,
            .r = 16u, .c = 288u,
            .flip = 128,
        },
    };
    beside_cluster_00_step_t *now = &steps[0];
    beside_cluster_00_step_t *next = &steps[1];
    beside_cluster_00_step_t *before = &steps[2];
    match_gap9_copy_in_2d(near, input, 16u, 288u, 576u);
    for (uint32_t n = 0u; n < 2u; n++) {
        match_gap9_copy_wait();
        if (n + 1u < 2u) {
            *next = *now;
            beside_cluster_00_next(task, next);
            beside_cluster_00_load_ahead(task, next);
        }
        if (n > 0u) {
            beside_cluster_00_store(task, before);
        }
        match_gap9_transpose(&now->tile);
        beside_cluster_00_step_t *const free = before;
        before = now;
        now = next;
        next = free;
    }
    beside_cluster_00_store(task, before);
    match_gap9_copy_wait();
}

/* A step of beside_cluster_04: one kernel call. */
typedef struct {
    uint32_t r; /* start of the tile, by loop */
    uint32_t r_turn; /* number of the buffer in use */
    match_transpose_t tile;
} beside_cluster_04_step_t;

/* Advances to the next tile. */
BESIDE_CLUSTER_CODE_SECTION
static void beside_cluster_04_next(const match_task_t *task, beside_cluster_04_step_t *step)
{
    uint8_t *const near = task->near;
    match_transpose_t *const tile = &step->tile;
    step->r += 192u;
    step->r_turn ^= 1u;
    tile->r = match_min_u32(192u, 360u - step->r);
    tile->input = near + step->r_turn * 3072u;
    tile->output = near + 6144u + step->r_turn * 3072u;
}

/* Loads the tiles of the next step. */
BESIDE_CLUSTER_CODE_SECTION
static void beside_cluster_04_load_ahead(const match_task_t *task, const beside_cluster_04_step_t *step)
{
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    const match_transpose_t *const tile = &step->tile;
    match_gap9_copy_in_1d(near + step->r_turn * 3072u, input + step->r * 16u, tile->r * 16u);
}

/* Copies the result of a step to home memory. */
BESIDE_CLUSTER_CODE_SECTION
static void beside_cluster_04_store(const match_task_t *task, const beside_cluster_04_step_t *step)
{
    uint8_t *const near = task->near;
    uint8_t *const output = task->out[0];
    const match_transpose_t *const tile = &step->tile;
    match_gap9_copy_out_2d(output + step->r, near + 6144u + step->r_turn * 3072u, 16u, tile->r, 576u);
}

/* n_q3, R 0..359 of 576 on cluster (transpose)
 * R=360 C=16; tiles R:2x192; two buffers for input, output; 6987 cycles (modelled) */
void beside_cluster_04(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    beside_cluster_04_step_t steps[3];
    steps[0] = (beside_cluster_04_step_t) {
        .tile = {
            .input = near,
            .output = near + 6144u,
            .r = 192u, .c = 16u,
            .flip = 128,
        },
    };
    beside_cluster_04_step_t *now = &steps[0];
    beside_cluster_04_step_t *next = &steps[1];
    beside_cluster_04_step_t *before = &steps[2];
    match_gap9_copy_in_1d(near, input, 3072u);
    for (uint32_t n = 0u; n < 2u; n++) {
        match_gap9_copy_wait();
        if (n + 1u < 2u) {
            *next = *now;
            beside_cluster_04_next(task, next);
            beside_cluster_04_load_ahead(task, next);
        }
        if (n > 0u) {
            beside_cluster_04_store(task, before);
        }
        match_gap9_transpose(&now->tile);
        beside_cluster_04_step_t *const free = before;
        before = now;
        now = next;
        next = free;
    }
    beside_cluster_04_store(task, before);
    match_gap9_copy_wait();
}

/* n_q3, R 360..575 of 576 on cluster (transpose)
 * R=216 C=16; 4670 cycles (modelled) */
void beside_cluster_05(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    uint8_t *const output = task->out[0];
    const match_transpose_t tile = {
        .input = near,
        .output = near + 3456u,
        .r = 216u, .c = 16u,
        .flip = 128,
    };
    match_gap9_copy_in_1d(near, input + 5760u, 3456u);
    match_gap9_copy_wait();
    match_gap9_transpose(&tile);
    match_gap9_copy_out_2d(output + 360u, near + 3456u, 16u, 216u, 576u);
    match_gap9_copy_wait();
}

/* The tasks of cluster, in order. */
static const match_row_t rows[] = {
    /* 0: n_input_dq0 */
    {.run = beside_cluster_00, .node = 0u,
     .in = (const match_place_t[]){{beside_base_in_input, 0u}}, .inputs = 1u,
     .near = {beside_base_l1, 0u},
     .out = (const match_place_t[]){{beside_base_l2, 18432u}}, .outputs = 1u},
    /* 4: n_q3, R 0..359 of 576 */
    {.run = beside_cluster_04, .node = 4u,
     .in = (const match_place_t[]){{beside_base_l2, 27648u}}, .inputs = 1u,
     .near = {beside_base_l1, 0u},
     .out = (const match_place_t[]){{beside_base_out_q3, 0u}}, .outputs = 1u},
    /* 5: n_q3, R 360..575 of 576 */
    {.run = beside_cluster_05, .node = 5u,
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
    for (uint32_t n = 0u; n < 3u; n++) {
        if (match_gap9_queue_wait(queue, n + 1u) != 0) {
            return;
        }
        run_task(state, n);
        match_store(&queue->done, n + 1u);
    }
}
