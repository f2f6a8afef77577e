/* SPDX-License-Identifier: Apache-2.0 */
/* golden: layers on unit ne16, one function each: steps over tiles, copies, kernel launch and wait. */
#include <stdint.h>
#include "match_gap9_api.h"
#include "match_gap9_wide.h"
#include "match_runtime.h"
#include "golden_tasks.h"

/* A step of golden_ne16_01: one kernel call. */
typedef struct {
    uint32_t oy; /* start of the tile, by loop */
    uint32_t oy_turn; /* number of the buffer in use */
    match_span_t input_y;
    match_conv2d_t tile;
} golden_ne16_01_step_t;

/* Advances to the next tile. */
GOLDEN_NE16_CODE_SECTION
static void golden_ne16_01_next(const match_task_t *task, golden_ne16_01_step_t *step)
{
    uint8_t *const near = task->near;
    match_conv2d_t *const tile = &step->tile;
    step->oy += 12u;
    step->oy_turn ^= 1u;
    tile->oy = match_min_u32(12u, 61u - step->oy);
    step->input_y = match_span(step->oy, 1u, tile->oy + 2u, 61u);
    tile->input_y = step->input_y.size;
    tile->input_y_pad_before = step->input_y.before;
    tile->input_y_pad_after = step->input_y.after;
    tile->input = near + step->oy_turn * 13664u;
    tile->output = near + 34624u + step->oy_turn * 35136u;
}

/* Loads the tiles of the next step. */
GOLDEN_NE16_CODE_SECTION
static void golden_ne16_01_load_ahead(const match_task_t *task, const golden_ne16_01_step_t *step)
{
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    match_gap9_copy_in_1d(near + step->oy_turn * 13664u, input + step->input_y.first * 976u, step->input_y.size * 976u);
}

/* Copies the result of a step to home memory. */
GOLDEN_NE16_CODE_SECTION
static void golden_ne16_01_store(const match_task_t *task, const golden_ne16_01_step_t *step)
{
    uint8_t *const near = task->near;
    uint8_t *const output = task->out[0];
    const match_conv2d_t *const tile = &step->tile;
    match_gap9_copy_out_1d(output + step->oy * 2928u, near + 34624u + step->oy_turn * 35136u, tile->oy * 2928u);
}

/* conv0, conv0_relu on ne16 (conv3x3)
 * K=48 C=16 OY=61 OX=61 FY=3 FX=3; tiles OY:6x12; two buffers for input, output; 249288 cycles (modelled) */
void golden_ne16_01(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    const uint8_t *const constants = (const uint8_t *)golden_01_constants;
    golden_ne16_01_step_t steps[3];
    steps[0] = (golden_ne16_01_step_t) {
        .input_y = {0u, 13u, 1u, 0u},
        .tile = {
            .input = near,
            .multiplier = near + 27328u,
            .addend = near + 27520u,
            .weight = near + 27712u,
            .output = near + 34624u,
            .k = 48u, .c = 16u, .oy = 12u, .ox = 61u, .fy = 3u, .fx = 3u,
            .input_y = 13u, .input_y_pad_before = 1u,
            .input_x = 61u, .input_x_pad_before = 1u, .input_x_pad_after = 1u,
            .stride_y = 1, .stride_x = 1, .shift = 20, .pad_value = 0, .weight_bits = 8,
        },
    };
    golden_ne16_01_step_t *now = &steps[0];
    golden_ne16_01_step_t *next = &steps[1];
    golden_ne16_01_step_t *before = &steps[2];
    match_gap9_copy_in_1d(near, input, 12688u);
    match_gap9_copy_in_1d(near + 27328u, constants, 7296u);
    for (uint32_t n = 0u; n < 6u; n++) {
        match_gap9_copy_wait();
        match_gap9_ne16_conv3x3(&now->tile);
        if (n + 1u < 6u) {
            *next = *now;
            golden_ne16_01_next(task, next);
            golden_ne16_01_load_ahead(task, next);
        }
        if (n > 0u) {
            golden_ne16_01_store(task, before);
        }
        match_gap9_ne16_wait();
        golden_ne16_01_step_t *const free = before;
        before = now;
        now = next;
        next = free;
    }
    golden_ne16_01_store(task, before);
    match_gap9_copy_wait();
}

/* A step of golden_ne16_02: one kernel call. */
typedef struct {
    uint32_t k, oy; /* start of the tile, by loop */
    uint32_t changed; /* the outermost loop that advanced */
    uint32_t k_turn, oy_turn; /* number of the buffer in use */
    match_span_t input_y;
    match_depthwise2d_t tile;
} golden_ne16_02_step_t;

/* Advances to the next tile. */
GOLDEN_NE16_CODE_SECTION
static void golden_ne16_02_next(const match_task_t *task, golden_ne16_02_step_t *step)
{
    uint8_t *const near = task->near;
    match_depthwise2d_t *const tile = &step->tile;
    step->changed = 1u;
    step->oy += 16u;
    step->oy_turn ^= 1u;
    if (step->oy >= 31u) {
        step->oy = 0u;
        step->changed = 0u;
        step->k += 16u;
        step->k_turn ^= 1u;
    }
    tile->oy = match_min_u32(16u, 31u - step->oy);
    step->input_y = match_span(step->oy * 2u, 1u, tile->oy * 2u + 1u, 61u);
    tile->input_y = step->input_y.size;
    tile->input_y_pad_before = step->input_y.before;
    tile->input_y_pad_after = step->input_y.after;
    tile->input = near + step->oy_turn * 31232u;
    tile->multiplier = near + 62464u + step->k_turn * 320u;
    tile->addend = near + 62528u + step->k_turn * 320u;
    tile->weight = near + 62592u + step->k_turn * 320u;
    tile->output = near + 63104u + step->oy_turn * 7936u;
}

/* Loads the tiles of the next step. */
GOLDEN_NE16_CODE_SECTION
static void golden_ne16_02_load_ahead(const match_task_t *task, const golden_ne16_02_step_t *step)
{
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    const uint8_t *const constants = (const uint8_t *)golden_02_constants;
    match_gap9_copy_in_2d(near + step->oy_turn * 31232u, input + step->input_y.first * 2928u + step->k,
                          step->input_y.size * 61u, 16u, 48u);
    if (step->changed < 1u) {
        match_gap9_copy_in_1d(near + 62464u + step->k_turn * 320u, constants + step->k * 20u, 320u);
    }
}

/* Copies the result of a step to home memory. */
GOLDEN_NE16_CODE_SECTION
static void golden_ne16_02_store(const match_task_t *task, const golden_ne16_02_step_t *step)
{
    uint8_t *const near = task->near;
    uint8_t *const output = task->out[0];
    const match_depthwise2d_t *const tile = &step->tile;
    match_gap9_copy_out_2d(output + step->oy * 1488u + step->k, near + 63104u + step->oy_turn * 7936u, tile->oy * 31u,
                           16u, 48u);
}

/* conv2, conv2_relu on ne16 (depthwise3x3)
 * K=48 OY=31 OX=31 FY=3 FX=3; tiles K:3x16 OY:2x16; two buffers for input, constants, output; 183043 cycles
 * (modelled) */
void golden_ne16_02(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    const uint8_t *const constants = (const uint8_t *)golden_02_constants;
    golden_ne16_02_step_t steps[3];
    steps[0] = (golden_ne16_02_step_t) {
        .input_y = {0u, 32u, 1u, 0u},
        .tile = {
            .input = near,
            .multiplier = near + 62464u,
            .addend = near + 62528u,
            .weight = near + 62592u,
            .output = near + 63104u,
            .k = 16u, .oy = 16u, .ox = 31u, .fy = 3u, .fx = 3u,
            .input_y = 32u, .input_y_pad_before = 1u,
            .input_x = 61u, .input_x_pad_before = 1u, .input_x_pad_after = 1u,
            .stride_y = 2, .stride_x = 2, .shift = 18, .pad_value = 0, .weight_bits = 8,
        },
    };
    golden_ne16_02_step_t *now = &steps[0];
    golden_ne16_02_step_t *next = &steps[1];
    golden_ne16_02_step_t *before = &steps[2];
    match_gap9_copy_in_2d(near, input, 1952u, 16u, 48u);
    match_gap9_copy_in_1d(near + 62464u, constants, 320u);
    for (uint32_t n = 0u; n < 6u; n++) {
        match_gap9_copy_wait();
        match_gap9_ne16_depthwise(&now->tile);
        if (n + 1u < 6u) {
            *next = *now;
            golden_ne16_02_next(task, next);
            golden_ne16_02_load_ahead(task, next);
        }
        if (n > 0u) {
            golden_ne16_02_store(task, before);
        }
        match_gap9_ne16_wait();
        golden_ne16_02_step_t *const free = before;
        before = now;
        now = next;
        next = free;
    }
    golden_ne16_02_store(task, before);
    match_gap9_copy_wait();
}

/* conv6 on ne16 (conv1x1)
 * K=3 C=8 OY=11 OX=11 FY=1 FX=1; 3847 cycles (modelled) */
void golden_ne16_04(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    const uint8_t *const constants = (const uint8_t *)golden_04_constants;
    uint8_t *const output = task->out[0];
    const match_conv2d_t tile = {
        .input = near,
        .multiplier = near + 976u,
        .addend = near + 988u,
        .weight = near + 1000u,
        .output = near + 1056u,
        .k = 3u, .c = 8u, .oy = 11u, .ox = 11u, .fy = 1u, .fx = 1u,
        .input_y = 11u,
        .input_x = 11u,
        .stride_y = 1, .stride_x = 1, .shift = 17, .pad_value = 0, .weight_bits = 8,
    };
    match_gap9_copy_in_1d(near, input, 968u);
    match_gap9_copy_in_1d(near + 976u, constants, 72u);
    match_gap9_copy_wait();
    match_gap9_ne16_conv1x1(&tile);
    match_gap9_ne16_wait();
    match_gap9_copy_out_1d(output, near + 1056u, 363u);
    match_gap9_copy_wait();
}
