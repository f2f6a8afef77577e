/* SPDX-License-Identifier: Apache-2.0 */
/* beside: layers on unit ne16, one function each: steps over tiles, copies, kernel launch and wait. */
#include <stdint.h>
#include "match_gap9_api.h"
#include "match_gap9_wide.h"
#include "match_gap9_beside.h"
#include "match_runtime.h"
#include "beside_tasks.h"

/* A step of beside_ne16_02: one kernel call. */
typedef struct {
    uint32_t oy; /* start of the tile, by loop */
    uint32_t oy_turn; /* number of the buffer in use */
    match_span_t input_y;
    match_conv2d_t tile;
} beside_ne16_02_step_t;

/* Advances to the next tile. */
BESIDE_NE16_CODE_SECTION
static void beside_ne16_02_next(const match_task_t *task, beside_ne16_02_step_t *step)
{
    uint8_t *const near = task->near;
    match_conv2d_t *const tile = &step->tile;
    step->oy += 6u;
    step->oy_turn ^= 1u;
    tile->oy = match_min_u32(6u, 9u - step->oy);
    step->input_y = match_span(step->oy, 1u, tile->oy + 2u, 10u);
    tile->input_y = step->input_y.size;
    tile->input_y_pad_before = step->input_y.before;
    tile->input_y_pad_after = step->input_y.after;
    tile->input = near + step->oy_turn * 2688u;
    tile->output = near + 10240u + step->oy_turn * 4608u;
}

/* Loads the tiles of the next step. */
BESIDE_NE16_CODE_SECTION
static void beside_ne16_02_load_ahead(const match_task_t *task, const beside_ne16_02_step_t *step)
{
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    match_gap9_copy_in_1d(near + step->oy_turn * 2688u, input + step->input_y.first * 384u, step->input_y.size * 384u);
}

/* Copies the result of a step to home memory. */
BESIDE_NE16_CODE_SECTION
static void beside_ne16_02_store(const match_task_t *task, const beside_ne16_02_step_t *step)
{
    uint8_t *const near = task->near;
    uint8_t *const output = task->out[0];
    const match_conv2d_t *const tile = &step->tile;
    match_gap9_copy_out_1d(output + step->oy * 768u, near + 10240u + step->oy_turn * 4608u, tile->oy * 768u);
}

/* conv0, conv0_relu, OY 0..8 of 24 on ne16 (conv3x3)
 * K=32 C=16 OY=9 OX=24 FY=3 FX=3; tiles OY:2x6; two buffers for input, output; 12223 cycles (modelled) */
void beside_ne16_02(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    const uint8_t *const constants = (const uint8_t *)beside_02_constants;
    beside_ne16_02_step_t steps[3];
    steps[0] = (beside_ne16_02_step_t) {
        .input_y = {0u, 7u, 1u, 0u},
        .tile = {
            .input = near,
            .multiplier = near + 5376u,
            .addend = near + 5504u,
            .weight = near + 5632u,
            .output = near + 10240u,
            .k = 32u, .c = 16u, .oy = 6u, .ox = 24u, .fy = 3u, .fx = 3u,
            .input_y = 7u, .input_y_pad_before = 1u,
            .input_x = 24u, .input_x_pad_before = 1u, .input_x_pad_after = 1u,
            .stride_y = 1, .stride_x = 1, .shift = 20, .pad_value = 0, .weight_bits = 8,
        },
    };
    beside_ne16_02_step_t *now = &steps[0];
    beside_ne16_02_step_t *next = &steps[1];
    beside_ne16_02_step_t *before = &steps[2];
    match_gap9_copy_in_1d(near, input, 2688u);
    match_gap9_copy_in_1d(near + 5376u, constants, 4864u);
    for (uint32_t n = 0u; n < 2u; n++) {
        match_gap9_copy_wait();
        match_gap9_ne16_conv3x3(&now->tile);
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

/* A step of beside_ne16_03: one kernel call. */
typedef struct {
    uint32_t ox; /* start of the tile, by loop */
    uint32_t ox_turn; /* number of the buffer in use */
    match_span_t input_x;
    match_conv2d_t tile;
} beside_ne16_03_step_t;

/* Advances to the next tile. */
BESIDE_NE16_CODE_SECTION
static void beside_ne16_03_next(const match_task_t *task, beside_ne16_03_step_t *step)
{
    uint8_t *const near = task->near;
    match_conv2d_t *const tile = &step->tile;
    step->ox += 12u;
    step->ox_turn ^= 1u;
    step->input_x = match_span(step->ox, 1u, 14u, 24u);
    tile->input_x = step->input_x.size;
    tile->input_x_pad_before = step->input_x.before;
    tile->input_x_pad_after = step->input_x.after;
    tile->input = near + step->ox_turn * 3328u;
    tile->output = near + 11520u + step->ox_turn * 5760u;
}

/* Loads the tiles of the next step. */
BESIDE_NE16_CODE_SECTION
static void beside_ne16_03_load_ahead(const match_task_t *task, const beside_ne16_03_step_t *step)
{
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    match_gap9_copy_in_2d(near + step->ox_turn * 3328u, input + 3072u + step->input_x.first * 16u, 16u,
                          step->input_x.size * 16u, 384u);
}

/* Copies the result of a step to home memory. */
BESIDE_NE16_CODE_SECTION
static void beside_ne16_03_store(const match_task_t *task, const beside_ne16_03_step_t *step)
{
    uint8_t *const near = task->near;
    uint8_t *const output = task->out[0];
    match_gap9_copy_out_2d(output + 6912u + step->ox * 32u, near + 11520u + step->ox_turn * 5760u, 15u, 384u, 768u);
}

/* conv0, conv0_relu, OY 9..23 of 24 on ne16 (conv3x3)
 * K=32 C=16 OY=15 OX=24 FY=3 FX=3; tiles OX:2x12; two buffers for input, output; 18651 cycles (modelled) */
void beside_ne16_03(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    const uint8_t *const constants = (const uint8_t *)beside_02_constants;
    beside_ne16_03_step_t steps[3];
    steps[0] = (beside_ne16_03_step_t) {
        .input_x = {0u, 13u, 1u, 0u},
        .tile = {
            .input = near,
            .multiplier = near + 6656u,
            .addend = near + 6784u,
            .weight = near + 6912u,
            .output = near + 11520u,
            .k = 32u, .c = 16u, .oy = 15u, .ox = 12u, .fy = 3u, .fx = 3u,
            .input_y = 16u, .input_y_pad_after = 1u,
            .input_x = 13u, .input_x_pad_before = 1u,
            .stride_y = 1, .stride_x = 1, .shift = 20, .pad_value = 0, .weight_bits = 8,
        },
    };
    beside_ne16_03_step_t *now = &steps[0];
    beside_ne16_03_step_t *next = &steps[1];
    beside_ne16_03_step_t *before = &steps[2];
    match_gap9_copy_in_2d(near, input + 3072u, 16u, 208u, 384u);
    match_gap9_copy_in_1d(near + 6656u, constants, 4864u);
    for (uint32_t n = 0u; n < 2u; n++) {
        match_gap9_copy_wait();
        match_gap9_ne16_conv3x3(&now->tile);
        if (n + 1u < 2u) {
            *next = *now;
            beside_ne16_03_next(task, next);
            beside_ne16_03_load_ahead(task, next);
        }
        if (n > 0u) {
            beside_ne16_03_store(task, before);
        }
        match_gap9_ne16_wait();
        beside_ne16_03_step_t *const free = before;
        before = now;
        now = next;
        next = free;
    }
    beside_ne16_03_store(task, before);
    match_gap9_copy_wait();
}

/* A step of beside_ne16_05: one kernel call. */
typedef struct {
    uint32_t oy; /* start of the tile, by loop */
    uint32_t oy_turn; /* number of the buffer in use */
    match_conv2d_t tile;
} beside_ne16_05_step_t;

/* Advances to the next tile. */
BESIDE_NE16_CODE_SECTION
static void beside_ne16_05_next(const match_task_t *task, beside_ne16_05_step_t *step)
{
    uint8_t *const near = task->near;
    match_conv2d_t *const tile = &step->tile;
    step->oy += 8u;
    step->oy_turn ^= 1u;
    tile->input = near + step->oy_turn * 6144u;
    tile->output = near + 12928u + step->oy_turn * 3072u;
}

/* Loads the tiles of the next step. */
BESIDE_NE16_CODE_SECTION
static void beside_ne16_05_load_ahead(const match_task_t *task, const beside_ne16_05_step_t *step)
{
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    match_gap9_copy_in_1d(near + step->oy_turn * 6144u, input + 6144u + step->oy * 768u, 6144u);
}

/* Copies the result of a step to home memory. */
BESIDE_NE16_CODE_SECTION
static void beside_ne16_05_store(const match_task_t *task, const beside_ne16_05_step_t *step)
{
    uint8_t *const near = task->near;
    uint8_t *const output = task->out[0];
    match_gap9_copy_out_1d(output + 3072u + step->oy * 384u, near + 12928u + step->oy_turn * 3072u, 3072u);
}

/* conv2, conv2_relu, OY 8..23 of 24 on ne16 (conv1x1)
 * K=16 C=32 OY=16 OX=24 FY=1 FX=1; tiles OY:2x8; two buffers for input, output; 9891 cycles (modelled) */
void beside_ne16_05(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    const uint8_t *const constants = (const uint8_t *)beside_05_constants;
    beside_ne16_05_step_t steps[3];
    steps[0] = (beside_ne16_05_step_t) {
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
    };
    beside_ne16_05_step_t *now = &steps[0];
    beside_ne16_05_step_t *next = &steps[1];
    beside_ne16_05_step_t *before = &steps[2];
    match_gap9_copy_in_1d(near, input + 6144u, 6144u);
    match_gap9_copy_in_1d(near + 12288u, constants, 640u);
    for (uint32_t n = 0u; n < 2u; n++) {
        match_gap9_copy_wait();
        match_gap9_ne16_conv1x1(&now->tile);
        if (n + 1u < 2u) {
            *next = *now;
            beside_ne16_05_next(task, next);
            beside_ne16_05_load_ahead(task, next);
        }
        if (n > 0u) {
            beside_ne16_05_store(task, before);
        }
        match_gap9_ne16_wait();
        beside_ne16_05_step_t *const free = before;
        before = now;
        now = next;
        next = free;
    }
    beside_ne16_05_store(task, before);
    match_gap9_copy_wait();
}

/* The tasks of ne16, in order. */
static const match_row_t rows[] = {
    /* 2: conv0, conv0_relu, OY 0..8 of 24 */
    {.run = beside_ne16_02, .node = 2u,
     .in = (const match_place_t[]){{beside_base_l2, 18432u}}, .inputs = 1u,
     .near = {beside_base_l1, 58368u},
     .out = (const match_place_t[]){{beside_base_l2, 0u}}, .outputs = 1u},
    /* 3: conv0, conv0_relu, OY 9..23 of 24 */
    {.run = beside_ne16_03, .node = 3u,
     .in = (const match_place_t[]){{beside_base_l2, 18432u}}, .inputs = 1u,
     .near = {beside_base_l1, 58368u},
     .out = (const match_place_t[]){{beside_base_l2, 0u}}, .outputs = 1u},
    /* 5: conv2, conv2_relu, OY 8..23 of 24 */
    {.run = beside_ne16_05, .node = 5u,
     .in = (const match_place_t[]){{beside_base_l2, 0u}}, .inputs = 1u,
     .near = {beside_base_l1, 58368u},
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

/* The unit's part of a run: waits until the host has posted a task, then runs it. */
void beside_ne16_loop(void *argument)
{
    beside_state_t *const state = argument;
    match_queue_t *const queue = &state->queue[beside_queue_ne16];
    for (uint32_t n = 0u; n < 3u; n++) {
        if (match_gap9_queue_wait(queue, n + 1u) != 0) {
            return;
        }
        run_task(state, n);
        match_store(&queue->done, n + 1u);
    }
}
