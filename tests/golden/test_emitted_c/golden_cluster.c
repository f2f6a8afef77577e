/* SPDX-License-Identifier: Apache-2.0 */
/* golden: layers on unit cluster, one function each: steps over tiles, copies, kernel launch and wait. */
#include <stdint.h>
#include "match_gap9_api.h"
#include "match_gap9_wide.h"
#include "match_runtime.h"
#include "golden_tasks.h"

/* A step of golden_cluster_00: one kernel call. */
typedef struct {
    uint32_t c; /* where the tile begins, by loop */
    uint32_t c_turn; /* which of two buffers is in use */
    match_transpose_t tile;
} golden_cluster_00_step_t;

/* Goes on to the next tile. */
GOLDEN_CLUSTER_CODE_SECTION
static void golden_cluster_00_next(const match_task_t *task, golden_cluster_00_step_t *step)
{
    uint8_t *const near = task->near;
    match_transpose_t *const tile = &step->tile;
    step->c += 352u;
    step->c_turn ^= 1u;
    tile->c = match_min_u32(352u, 3721u - step->c);
    tile->input = near + step->c_turn * 5632u;
    tile->output = near + 11264u + step->c_turn * 5632u;
}

/* Loads what the next step needs. */
GOLDEN_CLUSTER_CODE_SECTION
static void golden_cluster_00_load_ahead(const match_task_t *task, const golden_cluster_00_step_t *step)
{
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    const match_transpose_t *const tile = &step->tile;
    match_gap9_copy_in_2d(near + step->c_turn * 5632u, input + step->c, 16u, tile->c, 3721u);
}

/* Copies the result of a step home. */
GOLDEN_CLUSTER_CODE_SECTION
static void golden_cluster_00_store(const match_task_t *task, const golden_cluster_00_step_t *step)
{
    uint8_t *const near = task->near;
    uint8_t *const output = task->out[0];
    const match_transpose_t *const tile = &step->tile;
    match_gap9_copy_out_1d(output + step->c * 16u, near + 11264u + step->c_turn * 5632u, tile->c * 16u);
}

/* n_input_dq0 on cluster (transpose)
 * R=16 C=3721; tiles C:11x352; two buffers for input, output; 49919 cycles (modelled) */
void golden_cluster_00(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    golden_cluster_00_step_t steps[3] = {[0] = {
        .tile = {
            .input = near,
            .output = near + 11264u,
            .r = 16u, .c = 352u,
            .flip = 128,
        },
    }};
    golden_cluster_00_step_t *now = &steps[0];
    golden_cluster_00_step_t *next = &steps[1];
    golden_cluster_00_step_t *before = &steps[2];
    match_gap9_copy_in_2d(near, input, 16u, 352u, 3721u);
    for (uint32_t n = 0u; n < 11u; n++) {
        match_gap9_copy_wait();
        match_gap9_transpose(&now->tile);
        if (n + 1u < 11u) {
            *next = *now;
            golden_cluster_00_next(task, next);
            golden_cluster_00_load_ahead(task, next);
        }
        if (n > 0u) {
            golden_cluster_00_store(task, before);
        }
        match_gap9_team_wait();
        golden_cluster_00_step_t *const free = before;
        before = now;
        now = next;
        next = free;
    }
    golden_cluster_00_store(task, before);
    match_gap9_copy_wait();
}

/* A step of golden_cluster_03: one kernel call. */
typedef struct {
    uint32_t oy, ox; /* where the tile begins, by loop */
    uint32_t ox_turn; /* which of two buffers is in use */
    match_span_t input_y, input_x;
    match_conv2d_t tile;
} golden_cluster_03_step_t;

/* Goes on to the next tile. */
GOLDEN_CLUSTER_CODE_SECTION
static void golden_cluster_03_next(const match_task_t *task, golden_cluster_03_step_t *step)
{
    uint8_t *const near = task->near;
    match_conv2d_t *const tile = &step->tile;
    step->ox += 8u;
    step->ox_turn ^= 1u;
    if (step->ox >= 11u) {
        step->ox = 0u;
        step->oy += 6u;
    }
    tile->oy = match_min_u32(6u, 11u - step->oy);
    tile->ox = match_min_u32(8u, 11u - step->ox);
    step->input_y = match_span(step->oy * 3u, 2u, tile->oy * 3u + 2u, 31u);
    step->input_x = match_span(step->ox * 3u, 2u, tile->ox * 3u + 2u, 31u);
    tile->input_y = step->input_y.size;
    tile->input_y_pad_before = step->input_y.before;
    tile->input_y_pad_after = step->input_y.after;
    tile->input_x = step->input_x.size;
    tile->input_x_pad_before = step->input_x.before;
    tile->input_x_pad_after = step->input_x.after;
    tile->input = near + step->ox_turn * 20736u;
    tile->output = near + 51200u + step->ox_turn * 384u;
}

/* Loads what the next step needs. */
GOLDEN_CLUSTER_CODE_SECTION
static void golden_cluster_03_load_ahead(const match_task_t *task, const golden_cluster_03_step_t *step)
{
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    match_gap9_copy_in_2d(near + step->ox_turn * 20736u,
                          input + step->input_y.first * 1488u + step->input_x.first * 48u, step->input_y.size,
                          step->input_x.size * 48u, 1488u);
}

/* Copies the result of a step home. */
GOLDEN_CLUSTER_CODE_SECTION
static void golden_cluster_03_store(const match_task_t *task, const golden_cluster_03_step_t *step)
{
    uint8_t *const near = task->near;
    uint8_t *const output = task->out[0];
    const match_conv2d_t *const tile = &step->tile;
    match_gap9_copy_out_2d(output + step->oy * 88u + step->ox * 8u, near + 51200u + step->ox_turn * 384u, tile->oy,
                           tile->ox * 8u, 88u);
}

/* conv4, conv4_relu on cluster (conv2d_wide)
 * K=8 C=48 OY=11 OX=11 FY=5 FX=5; tiles OY:2x6 OX:2x8; two buffers for input, output; 90948 cycles (modelled) */
void golden_cluster_03(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    const uint8_t *const constants = (const uint8_t *)golden_03_constants;
    golden_cluster_03_step_t steps[3] = {[0] = {
        .input_y = {0u, 18u, 2u, 0u},
        .input_x = {0u, 24u, 2u, 0u},
        .tile = {
            .input = near,
            .addend = near + 41472u,
            .multiplier = near + 41536u,
            .weight = near + 41568u,
            .output = near + 51200u,
            .scratch = near + 51968u,
            .k = 8u, .c = 48u, .oy = 6u, .ox = 8u, .fy = 5u, .fx = 5u,
            .input_y = 18u, .input_y_pad_before = 2u,
            .input_x = 24u, .input_x_pad_before = 2u,
            .stride_y = 3, .stride_x = 3, .shift = 40, .pad_value = 0, .weight_bits = 8,
        },
    }};
    golden_cluster_03_step_t *now = &steps[0];
    golden_cluster_03_step_t *next = &steps[1];
    golden_cluster_03_step_t *before = &steps[2];
    match_gap9_copy_in_2d(near, input, 18u, 1152u, 1488u);
    match_gap9_copy_in_1d(near + 41472u, constants, 9728u);
    for (uint32_t n = 0u; n < 4u; n++) {
        match_gap9_copy_wait();
        match_gap9_wide_conv2d(&now->tile);
        if (n + 1u < 4u) {
            *next = *now;
            golden_cluster_03_next(task, next);
            golden_cluster_03_load_ahead(task, next);
        }
        if (n > 0u) {
            golden_cluster_03_store(task, before);
        }
        match_gap9_team_wait();
        golden_cluster_03_step_t *const free = before;
        before = now;
        now = next;
        next = free;
    }
    golden_cluster_03_store(task, before);
    match_gap9_copy_wait();
}

/* n_q7 on cluster (transpose)
 * R=121 C=3; 3769 cycles (modelled) */
void golden_cluster_05(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    uint8_t *const output = task->out[0];
    const match_transpose_t tile = {
        .input = near,
        .output = near + 368u,
        .r = 121u, .c = 3u,
        .flip = 128,
    };
    match_gap9_copy_in_1d(near, input, 363u);
    match_gap9_copy_wait();
    match_gap9_transpose(&tile);
    match_gap9_team_wait();
    match_gap9_copy_out_1d(output, near + 368u, 363u);
    match_gap9_copy_wait();
}
