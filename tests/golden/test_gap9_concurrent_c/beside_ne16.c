/* SPDX-License-Identifier: Apache-2.0 */
/* beside: layers on unit ne16, one function each: steps over tiles, copies, kernel launch and wait. */
#include <stdint.h>
#include "match_gap9_api.h"
#include "match_gap9_wide.h"
#include "match_gap9_beside.h"
#include "match_runtime.h"
#include "beside_tasks.h"

/* A step of beside_ne16_01: one kernel call. */
typedef struct {
    uint32_t ox; /* where the tile begins, by loop */
    uint32_t ox_turn; /* which of two buffers is in use */
    match_span_t input_x;
    match_conv2d_t tile;
} beside_ne16_01_step_t;

/* Goes on to the next tile. */
BESIDE_NE16_CODE_SECTION
static void beside_ne16_01_next(const match_task_t *task, beside_ne16_01_step_t *step)
{
    uint8_t *const near = task->near;
    match_conv2d_t *const tile = &step->tile;
    step->ox += 9u;
    step->ox_turn ^= 1u;
    tile->ox = match_min_u32(9u, 24u - step->ox);
    step->input_x = match_span(step->ox, 1u, tile->ox + 2u, 24u);
    tile->input_x = step->input_x.size;
    tile->input_x_pad_before = step->input_x.before;
    tile->input_x_pad_after = step->input_x.after;
    tile->input = near + step->ox_turn * 4224u;
    tile->output = near + 13312u + step->ox_turn * 6912u;
}

/* Loads what the next step needs. */
BESIDE_NE16_CODE_SECTION
static void beside_ne16_01_load_ahead(const match_task_t *task, const beside_ne16_01_step_t *step)
{
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    match_gap9_copy_in_2d(near + step->ox_turn * 4224u, input + step->input_x.first * 16u, 24u,
                          step->input_x.size * 16u, 384u);
}

/* Copies the result of a step home. */
BESIDE_NE16_CODE_SECTION
static void beside_ne16_01_store(const match_task_t *task, const beside_ne16_01_step_t *step)
{
    uint8_t *const near = task->near;
    uint8_t *const output = task->out[0];
    const match_conv2d_t *const tile = &step->tile;
    match_gap9_copy_out_2d(output + step->ox * 32u, near + 13312u + step->ox_turn * 6912u, 24u, tile->ox * 32u, 768u);
}

/* conv0, conv0_relu on ne16 (conv3x3)
 * K=32 C=16 OY=24 OX=24 FY=3 FX=3; tiles OX:3x9; two buffers for input, output; 28971 cycles (modelled) */
void beside_ne16_01(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    const uint8_t *const constants = (const uint8_t *)beside_01_constants;
    beside_ne16_01_step_t steps[3] = {[0] = {
        .input_x = {0u, 10u, 1u, 0u},
        .tile = {
            .input = near,
            .multiplier = near + 8448u,
            .addend = near + 8576u,
            .weight = near + 8704u,
            .output = near + 13312u,
            .k = 32u, .c = 16u, .oy = 24u, .ox = 9u, .fy = 3u, .fx = 3u,
            .input_y = 24u, .input_y_pad_before = 1u, .input_y_pad_after = 1u,
            .input_x = 10u, .input_x_pad_before = 1u,
            .stride_y = 1, .stride_x = 1, .shift = 20, .pad_value = 0, .weight_bits = 8,
        },
    }};
    beside_ne16_01_step_t *now = &steps[0];
    beside_ne16_01_step_t *next = &steps[1];
    beside_ne16_01_step_t *before = &steps[2];
    match_gap9_copy_in_2d(near, input, 24u, 160u, 384u);
    match_gap9_copy_in_1d(near + 8448u, constants, 4864u);
    for (uint32_t n = 0u; n < 3u; n++) {
        match_gap9_copy_wait();
        match_gap9_ne16_conv3x3(&now->tile);
        if (n + 1u < 3u) {
            *next = *now;
            beside_ne16_01_next(task, next);
            beside_ne16_01_load_ahead(task, next);
        }
        if (n > 0u) {
            beside_ne16_01_store(task, before);
        }
        match_gap9_ne16_wait();
        beside_ne16_01_step_t *const free = before;
        before = now;
        now = next;
        next = free;
    }
    beside_ne16_01_store(task, before);
    match_gap9_copy_wait();
}

/* A step of beside_ne16_02: one kernel call. */
typedef struct {
    uint32_t oy; /* where the tile begins, by loop */
    uint32_t oy_turn; /* which of two buffers is in use */
    match_conv2d_t tile;
} beside_ne16_02_step_t;

/* Goes on to the next tile. */
BESIDE_NE16_CODE_SECTION
static void beside_ne16_02_next(const match_task_t *task, beside_ne16_02_step_t *step)
{
    uint8_t *const near = task->near;
    match_conv2d_t *const tile = &step->tile;
    step->oy += 8u;
    step->oy_turn ^= 1u;
    tile->input = near + step->oy_turn * 6144u;
    tile->output = near + 12928u + step->oy_turn * 3072u;
}

/* Loads what the next step needs. */
BESIDE_NE16_CODE_SECTION
static void beside_ne16_02_load_ahead(const match_task_t *task, const beside_ne16_02_step_t *step)
{
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    match_gap9_copy_in_1d(near + step->oy_turn * 6144u, input + 6144u + step->oy * 768u, 6144u);
}

/* Copies the result of a step home. */
BESIDE_NE16_CODE_SECTION
static void beside_ne16_02_store(const match_task_t *task, const beside_ne16_02_step_t *step)
{
    uint8_t *const near = task->near;
    uint8_t *const output = task->out[0];
    match_gap9_copy_out_1d(output + 3072u + step->oy * 384u, near + 12928u + step->oy_turn * 3072u, 3072u);
}

/* conv2, conv2_relu, OY 8..23 of 24 on ne16 (conv1x1)
 * K=16 C=32 OY=16 OX=24 FY=1 FX=1; tiles OY:2x8; two buffers for input, output; 11242 cycles (modelled) */
void beside_ne16_02(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    const uint8_t *const constants = (const uint8_t *)beside_02_constants;
    beside_ne16_02_step_t steps[3] = {[0] = {
        .tile = {
            .input = near,
            .multiplier = near + 12288u,
            .addend = near + 12352u,
            .weight = near + 12416u,
            .output = near + 12928u,
            .k = 16u, .c = 32u, .oy = 8u, .ox = 24u, .fy = 1u, .fx = 1u,
            .input_y = 8u,
            .input_x = 24u,
            .stride_y = 1, .stride_x = 1, .shift = 17, .pad_value = 0, .weight_bits = 8,
        },
    }};
    beside_ne16_02_step_t *now = &steps[0];
    beside_ne16_02_step_t *next = &steps[1];
    beside_ne16_02_step_t *before = &steps[2];
    match_gap9_copy_in_1d(near, input + 6144u, 6144u);
    match_gap9_copy_in_1d(near + 12288u, constants, 640u);
    for (uint32_t n = 0u; n < 2u; n++) {
        match_gap9_copy_wait();
        match_gap9_ne16_conv1x1(&now->tile);
        if (n + 1u < 2u) {
            *next = *now;
            beside_ne16_02_next(task, next);
            beside_ne16_02_load_ahead(task, next);
        }
        if (n > 0u) {
            beside_ne16_02_store(task, before);
        }
        match_gap9_ne16_wait();
        beside_ne16_02_step_t *const free = before;
        before = now;
        now = next;
        next = free;
    }
    beside_ne16_02_store(task, before);
    match_gap9_copy_wait();
}

/* The tasks of ne16, in order. */
static const match_row_t rows[] = {
    /* 1: conv0, conv0_relu */
    {.run = beside_ne16_01, .node = 1u,
     .in = (const match_place_t[]){{beside_base_l2, 18432u}}, .inputs = 1u,
     .near = {beside_base_l1, 60000u},
     .out = (const match_place_t[]){{beside_base_l2, 0u}}, .outputs = 1u},
    /* 2: conv2, conv2_relu, OY 8..23 of 24 */
    {.run = beside_ne16_02, .node = 2u,
     .in = (const match_place_t[]){{beside_base_l2, 0u}}, .inputs = 1u,
     .near = {beside_base_l1, 60000u},
     .out = (const match_place_t[]){{beside_base_l2, 27648u}}, .outputs = 1u},
};

/* Runs a task with the addresses of this run. */
BESIDE_NE16_CODE_SECTION
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
void beside_ne16_loop(void *argument)
{
    beside_state_t *const state = argument;
    match_queue_t *const queue = &state->queue[beside_queue_ne16];
    for (uint32_t n = 0u; n < 2u; n++) {
        if (match_gap9_queue_wait(queue, n + 1u) != 0) {
            return;
        }
        run_task(state, n);
        match_store(&queue->done, n + 1u);
    }
}
