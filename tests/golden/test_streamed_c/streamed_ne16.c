/* SPDX-License-Identifier: Apache-2.0 */
/* streamed: layers on unit ne16, one function each: steps over tiles, copies, kernel launch and wait. */
#include <stdint.h>
#include "match_gap9_api.h"
#include "match_gap9_wide.h"
#include "match_runtime.h"
#include "streamed_tasks.h"

/* A step of streamed_ne16_01: one kernel call. */
typedef struct {
    uint32_t k; /* start of the tile, by loop */
    uint32_t k_turn; /* number of the buffer in use */
    match_conv2d_t tile;
} streamed_ne16_01_step_t;

/* Advances to the next tile. */
STREAMED_NE16_CODE_SECTION
static void streamed_ne16_01_next(const match_task_t *task, streamed_ne16_01_step_t *step)
{
    uint8_t *const near = task->near;
    match_conv2d_t *const tile = &step->tile;
    step->k += 32u;
    step->k_turn ^= 1u;
    tile->multiplier = near + 2592u + step->k_turn * 9472u;
    tile->addend = near + 2720u + step->k_turn * 9472u;
    tile->weight = near + 2848u + step->k_turn * 9472u;
    tile->output = near + 21536u + step->k_turn * 2592u;
}

/* Loads the tiles of the next step. */
STREAMED_NE16_CODE_SECTION
static void streamed_ne16_01_load_ahead(const match_task_t *task, const streamed_ne16_01_step_t *step)
{
    uint8_t *const near = task->near;
    const uint8_t *const constants = (const uint8_t *)streamed_01_constants;
    match_gap9_copy_in_1d(near + 2592u + step->k_turn * 9472u, constants + step->k * 296u, 9472u);
}

/* Copies the result of a step to home memory. */
STREAMED_NE16_CODE_SECTION
static void streamed_ne16_01_store(const match_task_t *task, const streamed_ne16_01_step_t *step)
{
    uint8_t *const near = task->near;
    uint8_t *const output = task->out[0];
    match_gap9_copy_out_2d(output + step->k, near + 21536u + step->k_turn * 2592u, 81u, 32u, 96u);
}

/* conv0, conv0_relu on ne16 (conv3x3)
 * K=96 C=32 OY=9 OX=9 FY=3 FX=3; tiles K:3x32; two buffers for constants, output; 24071 cycles (modelled) */
void streamed_ne16_01(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    const uint8_t *const constants = (const uint8_t *)streamed_01_constants;
    streamed_ne16_01_step_t steps[3];
    steps[0] = (streamed_ne16_01_step_t) {
        .tile = {
            .input = near,
            .multiplier = near + 2592u,
            .addend = near + 2720u,
            .weight = near + 2848u,
            .output = near + 21536u,
            .k = 32u, .c = 32u, .oy = 9u, .ox = 9u, .fy = 3u, .fx = 3u,
            .input_y = 9u, .input_y_pad_before = 1u, .input_y_pad_after = 1u,
            .input_x = 9u, .input_x_pad_before = 1u, .input_x_pad_after = 1u,
            .stride_y = 1, .stride_x = 1, .shift = 19, .pad_value = 0, .weight_bits = 8,
        },
    };
    streamed_ne16_01_step_t *now = &steps[0];
    streamed_ne16_01_step_t *next = &steps[1];
    streamed_ne16_01_step_t *before = &steps[2];
    match_gap9_copy_in_1d(near, input, 2592u);
    match_gap9_copy_in_1d(near + 2592u, constants, 9472u);
    for (uint32_t n = 0u; n < 3u; n++) {
        match_gap9_copy_wait();
        match_gap9_ne16_conv3x3(&now->tile);
        if (n + 1u < 3u) {
            *next = *now;
            streamed_ne16_01_next(task, next);
            streamed_ne16_01_load_ahead(task, next);
        }
        if (n > 0u) {
            streamed_ne16_01_store(task, before);
        }
        match_gap9_ne16_wait();
        streamed_ne16_01_step_t *const free = before;
        before = now;
        now = next;
        next = free;
    }
    streamed_ne16_01_store(task, before);
    match_gap9_copy_wait();
}

/* A step of streamed_ne16_02: one kernel call. */
typedef struct {
    uint32_t k; /* start of the tile, by loop */
    uint32_t k_turn; /* number of the buffer in use */
    match_conv2d_t tile;
} streamed_ne16_02_step_t;

/* Advances to the next tile. */
STREAMED_NE16_CODE_SECTION
static void streamed_ne16_02_next(const match_task_t *task, streamed_ne16_02_step_t *step)
{
    uint8_t *const near = task->near;
    match_conv2d_t *const tile = &step->tile;
    step->k += 16u;
    step->k_turn ^= 1u;
    tile->addend = near + 7776u + step->k_turn * 14080u;
    tile->multiplier = near + 7904u + step->k_turn * 14080u;
    tile->weight = near + 7968u + step->k_turn * 14080u;
    tile->output = near + 35936u + step->k_turn * 1296u;
}

/* Starts copies of the next part of constants from the store while this step uses the current one. */
STREAMED_NE16_CODE_SECTION
static void streamed_ne16_02_stage_constants(const match_task_t *task, const streamed_ne16_02_step_t *step)
{
    uint8_t *const stage = task->scratch;
    streamed_ne16_02_step_t ahead = *step;
    ahead.k += 16u;
    ahead.k_turn ^= 1u;
    if (ahead.k >= 96u) {
        return;
    }
    match_gap9_store_copy_1d(stage + ahead.k_turn * 14080u, task->store + ahead.k * 880u, 14080u);
}

/* Loads the tiles of the next step. */
STREAMED_NE16_CODE_SECTION
static void streamed_ne16_02_load_ahead(const match_task_t *task, const streamed_ne16_02_step_t *step)
{
    uint8_t *const near = task->near;
    uint8_t *const stage = task->scratch;
    match_gap9_store_wait();
    match_gap9_copy_in_1d(near + 7776u + step->k_turn * 14080u, stage + step->k_turn * 14080u, 14080u);
    streamed_ne16_02_stage_constants(task, step);
}

/* Copies the result of a step to home memory. */
STREAMED_NE16_CODE_SECTION
static void streamed_ne16_02_store(const match_task_t *task, const streamed_ne16_02_step_t *step)
{
    uint8_t *const near = task->near;
    uint8_t *const output = task->out[0];
    match_gap9_copy_out_2d(output + step->k, near + 35936u + step->k_turn * 1296u, 81u, 16u, 96u);
}

/* conv2, conv2_relu on ne16 (conv3x3_wide)
 * K=96 C=96 OY=9 OX=9 FY=3 FX=3; tiles K:6x16; two buffers for constants, output; streamed constants; 107753 cycles
 * (modelled) */
void streamed_ne16_02(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    uint8_t *const stage = task->scratch;
    const uint8_t *const input = task->in[0];
    streamed_ne16_02_step_t steps[3];
    steps[0] = (streamed_ne16_02_step_t) {
        .tile = {
            .input = near,
            .addend = near + 7776u,
            .multiplier = near + 7904u,
            .weight = near + 7968u,
            .output = near + 35936u,
            .scratch = near + 38528u,
            .k = 16u, .c = 96u, .oy = 9u, .ox = 9u, .fy = 3u, .fx = 3u,
            .input_y = 9u, .input_y_pad_before = 1u, .input_y_pad_after = 1u,
            .input_x = 9u, .input_x_pad_before = 1u, .input_x_pad_after = 1u,
            .stride_y = 1, .stride_x = 1, .shift = 37, .pad_value = 0, .weight_bits = 8,
        },
    };
    streamed_ne16_02_step_t *now = &steps[0];
    streamed_ne16_02_step_t *next = &steps[1];
    streamed_ne16_02_step_t *before = &steps[2];
    match_gap9_store_copy_1d(stage, task->store, 14080u);
    match_gap9_store_wait();
    match_gap9_copy_in_1d(near, input, 7776u);
    match_gap9_copy_in_1d(near + 7776u, stage, 14080u);
    streamed_ne16_02_stage_constants(task, now);
    for (uint32_t n = 0u; n < 6u; n++) {
        match_gap9_copy_wait();
        match_gap9_ne16_wide_conv3x3(&now->tile);
        if (n + 1u < 6u) {
            *next = *now;
            streamed_ne16_02_next(task, next);
            streamed_ne16_02_load_ahead(task, next);
        }
        if (n > 0u) {
            streamed_ne16_02_store(task, before);
        }
        match_gap9_team_wait();
        streamed_ne16_02_step_t *const free = before;
        before = now;
        now = next;
        next = free;
    }
    streamed_ne16_02_store(task, before);
    match_gap9_copy_wait();
}

/* conv4, conv4_relu on ne16 (conv1x1)
 * K=24 C=96 OY=9 OX=9 FY=1 FX=1; 7700 cycles (modelled) */
void streamed_ne16_03(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    const uint8_t *const constants = (const uint8_t *)streamed_03_constants;
    uint8_t *const output = task->out[0];
    const match_conv2d_t tile = {
        .input = near,
        .multiplier = near + 7776u,
        .addend = near + 7872u,
        .weight = near + 7968u,
        .output = near + 10272u,
        .k = 24u, .c = 96u, .oy = 9u, .ox = 9u, .fy = 1u, .fx = 1u,
        .input_y = 9u,
        .input_x = 9u,
        .stride_y = 1, .stride_x = 1, .shift = 15, .pad_value = 0, .weight_bits = 8,
    };
    match_gap9_copy_in_1d(near, input, 7776u);
    match_gap9_copy_in_1d(near + 7776u, constants, 2496u);
    match_gap9_copy_wait();
    match_gap9_ne16_conv1x1(&tile);
    match_gap9_ne16_wait();
    match_gap9_copy_out_1d(output, near + 10272u, 1944u);
    match_gap9_copy_wait();
}
