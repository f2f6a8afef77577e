/* SPDX-License-Identifier: Apache-2.0 */
/* streamed: layers on unit cluster, one function each: steps over tiles, copies, kernel launch and wait. */
#include <stdint.h>
#include "match_gap9_api.h"
#include "match_gap9_wide.h"
#include "match_runtime.h"
#include "streamed_tasks.h"

/* A step of streamed_cluster_00: one kernel call. */
typedef struct {
    uint32_t c; /* where the tile begins, by loop */
    uint32_t c_turn; /* which of two buffers is in use */
    match_transpose_t tile;
} streamed_cluster_00_step_t;

/* Goes on to the next tile. */
static void streamed_cluster_00_next(const match_task_t *task, streamed_cluster_00_step_t *step)
{
    uint8_t *const near = task->near;
    match_transpose_t *const tile = &step->tile;
    step->c += 48u;
    step->c_turn ^= 1u;
    tile->c = match_min_u32(48u, 81u - step->c);
    tile->input = near + step->c_turn * 1536u;
    tile->output = near + 3072u + step->c_turn * 1536u;
}

/* Loads what the next step needs. */
static void streamed_cluster_00_load_ahead(const match_task_t *task, const streamed_cluster_00_step_t *step)
{
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    const match_transpose_t *const tile = &step->tile;
    match_gap9_copy_in_2d(near + step->c_turn * 1536u, input + step->c, 32u, tile->c, 81u);
}

/* Copies the result of a step home. */
static void streamed_cluster_00_store(const match_task_t *task, const streamed_cluster_00_step_t *step)
{
    uint8_t *const near = task->near;
    uint8_t *const output = task->out[0];
    const match_transpose_t *const tile = &step->tile;
    match_gap9_copy_out_1d(output + step->c * 32u, near + 3072u + step->c_turn * 1536u, tile->c * 32u);
}

/* n_input_dq0 on cluster (transpose)
 * R=32 C=81; tiles C:2x48; two buffers for input, output; 5530 cycles (modelled) */
void streamed_cluster_00(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    streamed_cluster_00_step_t steps[3] = {[0] = {
        .tile = {
            .input = near,
            .output = near + 3072u,
            .r = 32u, .c = 48u,
            .flip = 128,
        },
    }};
    streamed_cluster_00_step_t *now = &steps[0];
    streamed_cluster_00_step_t *next = &steps[1];
    streamed_cluster_00_step_t *before = &steps[2];
    match_gap9_copy_in_2d(near, input, 32u, 48u, 81u);
    for (uint32_t n = 0u; n < 2u; n++) {
        match_gap9_copy_wait();
        match_gap9_transpose(&now->tile);
        if (n + 1u < 2u) {
            *next = *now;
            streamed_cluster_00_next(task, next);
            streamed_cluster_00_load_ahead(task, next);
        }
        if (n > 0u) {
            streamed_cluster_00_store(task, before);
        }
        match_gap9_team_wait();
        streamed_cluster_00_step_t *const free = before;
        before = now;
        now = next;
        next = free;
    }
    streamed_cluster_00_store(task, before);
    match_gap9_copy_wait();
}

/* A step of streamed_cluster_02: one kernel call. */
typedef struct {
    uint32_t k; /* where the tile begins, by loop */
    uint32_t k_turn; /* which of two buffers is in use */
    match_conv2d_t tile;
} streamed_cluster_02_step_t;

/* Goes on to the next tile. */
static void streamed_cluster_02_next(const match_task_t *task, streamed_cluster_02_step_t *step)
{
    uint8_t *const near = task->near;
    match_conv2d_t *const tile = &step->tile;
    step->k += 24u;
    step->k_turn ^= 1u;
    tile->weight = near + 7776u + step->k_turn * 20736u;
    tile->multiplier = near + 49248u + step->k_turn * 96u;
    tile->addend = near + 49440u + step->k_turn * 192u;
    tile->output = near + 49824u + step->k_turn * 1952u;
}

/* Starts to bring the next part of weight from the store, while the one of this step is in use. */
static void streamed_cluster_02_stage_weight(const match_task_t *task, const streamed_cluster_02_step_t *step)
{
    uint8_t *const stage = task->scratch;
    streamed_cluster_02_step_t ahead = *step;
    ahead.k += 24u;
    ahead.k_turn ^= 1u;
    if (ahead.k >= 96u) {
        return;
    }
    match_gap9_store_copy_1d(stage + ahead.k_turn * 20736u, task->store + ahead.k * 864u, 20736u);
}

/* Loads what the next step needs. */
static void streamed_cluster_02_load_ahead(const match_task_t *task, const streamed_cluster_02_step_t *step)
{
    uint8_t *const near = task->near;
    uint8_t *const stage = task->scratch;
    const uint8_t *const multiplier = (const uint8_t *)streamed_02_multiplier;
    const uint8_t *const addend = (const uint8_t *)streamed_02_addend;
    match_gap9_store_wait();
    match_gap9_copy_in_1d(near + 7776u + step->k_turn * 20736u, stage + step->k_turn * 20736u, 20736u);
    match_gap9_copy_in_1d(near + 49248u + step->k_turn * 96u, multiplier + step->k * 4u, 96u);
    match_gap9_copy_in_1d(near + 49440u + step->k_turn * 192u, addend + step->k * 8u, 192u);
    streamed_cluster_02_stage_weight(task, step);
}

/* Copies the result of a step home. */
static void streamed_cluster_02_store(const match_task_t *task, const streamed_cluster_02_step_t *step)
{
    uint8_t *const near = task->near;
    uint8_t *const output = task->out[0];
    match_gap9_copy_out_2d(output + step->k, near + 49824u + step->k_turn * 1952u, 81u, 24u, 96u);
}

/* conv2, conv2_relu on cluster (conv2d_wide)
 * K=96 C=96 OY=9 OX=9 FY=3 FX=3; tiles K:4x24; two buffers for weight, multiplier, addend, output; streamed weight;
 * 453460 cycles (modelled) */
void streamed_cluster_02(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    uint8_t *const stage = task->scratch;
    const uint8_t *const input = task->in[0];
    const uint8_t *const multiplier = (const uint8_t *)streamed_02_multiplier;
    const uint8_t *const addend = (const uint8_t *)streamed_02_addend;
    streamed_cluster_02_step_t steps[3] = {[0] = {
        .tile = {
            .input = near,
            .weight = near + 7776u,
            .multiplier = near + 49248u,
            .addend = near + 49440u,
            .output = near + 49824u,
            .scratch = near + 53728u,
            .k = 24u, .c = 96u, .oy = 9u, .ox = 9u, .fy = 3u, .fx = 3u,
            .input_y = 9u, .input_y_pad_before = 1u, .input_y_pad_after = 1u,
            .input_x = 9u, .input_x_pad_before = 1u, .input_x_pad_after = 1u,
            .stride_y = 1, .stride_x = 1, .shift = 37, .pad_value = 0, .weight_bits = 8,
        },
    }};
    streamed_cluster_02_step_t *now = &steps[0];
    streamed_cluster_02_step_t *next = &steps[1];
    streamed_cluster_02_step_t *before = &steps[2];
    match_gap9_store_copy_1d(stage, task->store, 20736u);
    match_gap9_store_wait();
    match_gap9_copy_in_1d(near, input, 7776u);
    match_gap9_copy_in_1d(near + 7776u, stage, 20736u);
    match_gap9_copy_in_1d(near + 49248u, multiplier, 96u);
    match_gap9_copy_in_1d(near + 49440u, addend, 192u);
    streamed_cluster_02_stage_weight(task, now);
    for (uint32_t n = 0u; n < 4u; n++) {
        match_gap9_copy_wait();
        match_gap9_wide_conv2d(&now->tile);
        if (n + 1u < 4u) {
            *next = *now;
            streamed_cluster_02_next(task, next);
            streamed_cluster_02_load_ahead(task, next);
        }
        if (n > 0u) {
            streamed_cluster_02_store(task, before);
        }
        match_gap9_team_wait();
        streamed_cluster_02_step_t *const free = before;
        before = now;
        now = next;
        next = free;
    }
    streamed_cluster_02_store(task, before);
    match_gap9_copy_wait();
}

/* n_q5 on cluster (transpose)
 * R=81 C=24; 4895 cycles (modelled) */
void streamed_cluster_04(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    uint8_t *const output = task->out[0];
    const match_transpose_t tile = {
        .input = near,
        .output = near + 1952u,
        .r = 81u, .c = 24u,
        .flip = 128,
    };
    match_gap9_copy_in_1d(near, input, 1944u);
    match_gap9_copy_wait();
    match_gap9_transpose(&tile);
    match_gap9_team_wait();
    match_gap9_copy_out_1d(output, near + 1952u, 1944u);
    match_gap9_copy_wait();
}
