/* SPDX-License-Identifier: Apache-2.0 */
/* side: layers on unit array, one function each: steps over tiles, copies, kernel launch and wait. */
#include <stdint.h>
#include "fake_unit.h"
#include "fake_queues.h"
#include "match_runtime.h"
#include "side_tasks.h"

/* A step of side_array_01: one kernel call. */
typedef struct {
    uint32_t oy; /* start of the tile, by loop */
    uint32_t oy_turn; /* number of the buffer in use */
    match_span_t input_y;
    match_conv2d_t tile;
} side_array_01_step_t;

/* Advances to the next tile. */
SIDE_ARRAY_CODE_SECTION
static void side_array_01_next(const match_task_t *task, side_array_01_step_t *step)
{
    uint8_t *const near = task->near;
    match_conv2d_t *const tile = &step->tile;
    step->oy += 2u;
    step->oy_turn ^= 1u;
    tile->oy = match_min_u32(2u, 5u - step->oy);
    step->input_y = match_span(step->oy, 1u, tile->oy + 2u, 6u);
    tile->input_y = step->input_y.size;
    tile->input_y_pad_before = step->input_y.before;
    tile->input_y_pad_after = step->input_y.after;
    tile->input = near + step->oy_turn * 144u;
    tile->output = near + 544u + step->oy_turn * 96u;
}

/* Loads the tiles of the next step. */
SIDE_ARRAY_CODE_SECTION
static void side_array_01_load_ahead(const match_task_t *task, const side_array_01_step_t *step)
{
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    in_1d(near + step->oy_turn * 144u, input + step->input_y.first * 36u, step->input_y.size * 36u);
}

/* Loads the tiles of a step. */
SIDE_ARRAY_CODE_SECTION
static void side_array_01_load(const match_task_t *task)
{
    uint8_t *const near = task->near;
    const uint8_t *const weight = (const uint8_t *)side_01_weight;
    const uint8_t *const multiplier = (const uint8_t *)side_01_multiplier;
    const uint8_t *const addend = (const uint8_t *)side_01_addend;
    in_1d(near + 288u, weight, 180u);
    in_1d(near + 480u, multiplier, 20u);
    in_1d(near + 512u, addend, 20u);
}

/* Copies the result of a step to home memory. */
SIDE_ARRAY_CODE_SECTION
static void side_array_01_store(const match_task_t *task, const side_array_01_step_t *step)
{
    uint8_t *const near = task->near;
    uint8_t *const output = task->out[0];
    const match_conv2d_t *const tile = &step->tile;
    out_1d(output + step->oy * 45u, near + 544u + step->oy_turn * 96u, tile->oy * 45u);
}

/* n1, OY 0..4 of 9 on array (conv0)
 * K=5 C=4 OY=5 OX=9 FY=3 FX=3; tiles OY:3x2; two buffers for input, output; 0 cycles (modelled) */
void side_array_01(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    const uint8_t *const weight = (const uint8_t *)side_01_weight;
    const uint8_t *const multiplier = (const uint8_t *)side_01_multiplier;
    const uint8_t *const addend = (const uint8_t *)side_01_addend;
    side_array_01_step_t steps[3];
    steps[0] = (side_array_01_step_t) {
        .input_y = {0u, 3u, 1u, 0u},
        .tile = {
            .input = near,
            .weight = near + 288u,
            .multiplier = near + 480u,
            .addend = near + 512u,
            .output = near + 544u,
            .k = 5u, .c = 4u, .oy = 2u, .ox = 9u, .fy = 3u, .fx = 3u,
            .input_y = 3u, .input_y_pad_before = 1u,
            .input_x = 9u, .input_x_pad_before = 1u, .input_x_pad_after = 1u,
            .stride_y = 1, .stride_x = 1, .shift = 16, .pad_value = 185, .weight_bits = 8,
        },
    };
    side_array_01_step_t *now = &steps[0];
    side_array_01_step_t *next = &steps[1];
    side_array_01_step_t *before = &steps[2];
    in_1d(near, input, 108u);
    in_1d(near + 288u, weight, 180u);
    in_1d(near + 480u, multiplier, 20u);
    in_1d(near + 512u, addend, 20u);
    for (uint32_t n = 0u; n < 3u; n++) {
        copy_wait();
        conv2d_launch(&now->tile);
        if (n + 1u < 3u) {
            *next = *now;
            side_array_01_next(task, next);
            side_array_01_load_ahead(task, next);
        }
        if (n > 0u) {
            side_array_01_store(task, before);
        }
        kernel_wait();
        side_array_01_step_t *const free = before;
        before = now;
        now = next;
        next = free;
        if (n + 1u < 3u) {
            side_array_01_load(task);
        }
    }
    side_array_01_store(task, before);
    copy_wait();
}

/* A step of side_array_03: one kernel call. */
typedef struct {
    uint32_t oy; /* start of the tile, by loop */
    match_span_t input_y;
    match_conv2d_t tile;
} side_array_03_step_t;

/* Advances to the next tile. */
SIDE_ARRAY_CODE_SECTION
static void side_array_03_next(side_array_03_step_t *step)
{
    match_conv2d_t *const tile = &step->tile;
    step->oy += 4u;
    tile->oy = match_min_u32(4u, 9u - step->oy);
    step->input_y = match_span(step->oy, 1u, tile->oy + 2u, 9u);
    tile->input_y = step->input_y.size;
    tile->input_y_pad_before = step->input_y.before;
    tile->input_y_pad_after = step->input_y.after;
}

/* Loads the tiles of a step. */
SIDE_ARRAY_CODE_SECTION
static void side_array_03_load(const match_task_t *task, const side_array_03_step_t *step)
{
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    const uint8_t *const weight = (const uint8_t *)side_03_weight;
    const uint8_t *const multiplier = (const uint8_t *)side_03_multiplier;
    const uint8_t *const addend = (const uint8_t *)side_03_addend;
    in_1d(near, input + step->input_y.first * 45u, step->input_y.size * 45u);
    in_1d(near + 272u, weight, 90u);
    in_1d(near + 368u, multiplier, 8u);
    in_1d(near + 384u, addend, 8u);
}

/* Copies the result of a step to home memory. */
SIDE_ARRAY_CODE_SECTION
static void side_array_03_store(const match_task_t *task, const side_array_03_step_t *step)
{
    uint8_t *const near = task->near;
    uint8_t *const output = task->out[0];
    const match_conv2d_t *const tile = &step->tile;
    out_2d(output + step->oy * 54u, near + 400u, tile->oy * 9u, 2u, 6u);
}

/* n2, K 0..1 of 6 on array (conv1)
 * K=2 C=5 OY=9 OX=9 FY=3 FX=3; tiles OY:3x4; 0 cycles (modelled) */
void side_array_03(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    const uint8_t *const weight = (const uint8_t *)side_03_weight;
    const uint8_t *const multiplier = (const uint8_t *)side_03_multiplier;
    const uint8_t *const addend = (const uint8_t *)side_03_addend;
    side_array_03_step_t step = {
        .input_y = {0u, 5u, 1u, 0u},
        .tile = {
            .input = near,
            .weight = near + 272u,
            .multiplier = near + 368u,
            .addend = near + 384u,
            .output = near + 400u,
            .k = 2u, .c = 5u, .oy = 4u, .ox = 9u, .fy = 3u, .fx = 3u,
            .input_y = 5u, .input_y_pad_before = 1u,
            .input_x = 9u, .input_x_pad_before = 1u, .input_x_pad_after = 1u,
            .stride_y = 1, .stride_x = 1, .shift = 16, .pad_value = 175, .weight_bits = 8,
        },
    };
    in_1d(near, input, 225u);
    in_1d(near + 272u, weight, 90u);
    in_1d(near + 368u, multiplier, 8u);
    in_1d(near + 384u, addend, 8u);
    for (uint32_t n = 0u; n < 3u; n++) {
        copy_wait();
        conv2d_launch(&step.tile);
        kernel_wait();
        side_array_03_store(task, &step);
        if (n + 1u < 3u) {
            side_array_03_next(&step);
            side_array_03_load(task, &step);
        }
    }
    copy_wait();
}

/* n3 on array (conv2)
 * K=3 C=6 OY=9 OX=9 FY=3 FX=3; 0 cycles (modelled) */
void side_array_05(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    const uint8_t *const weight = (const uint8_t *)side_05_weight;
    const uint8_t *const multiplier = (const uint8_t *)side_05_multiplier;
    const uint8_t *const addend = (const uint8_t *)side_05_addend;
    uint8_t *const output = task->out[0];
    const match_conv2d_t tile = {
        .input = near,
        .weight = near + 496u,
        .multiplier = near + 672u,
        .addend = near + 688u,
        .output = near + 704u,
        .k = 3u, .c = 6u, .oy = 9u, .ox = 9u, .fy = 3u, .fx = 3u,
        .input_y = 9u, .input_y_pad_before = 1u, .input_y_pad_after = 1u,
        .input_x = 9u, .input_x_pad_before = 1u, .input_x_pad_after = 1u,
        .stride_y = 1, .stride_x = 1, .shift = 16, .pad_value = 87, .weight_bits = 8,
    };
    in_1d(near, input, 486u);
    in_1d(near + 496u, weight, 162u);
    in_1d(near + 672u, multiplier, 12u);
    in_1d(near + 688u, addend, 12u);
    copy_wait();
    conv2d_launch(&tile);
    kernel_wait();
    out_1d(output, near + 704u, 243u);
    copy_wait();
}

/* The tasks of array, in order. */
static const match_row_t rows[] = {
    /* 1: n1, OY 0..4 of 9 */
    {.run = side_array_01, .node = 1u,
     .in = (const match_place_t[]){{side_base_home, 0u}}, .inputs = 1u,
     .near = {side_base_near, 0u},
     .out = (const match_place_t[]){{side_base_home, 1024u}}, .outputs = 1u},
    /* 3: n2, K 0..1 of 6 */
    {.run = side_array_03, .node = 3u,
     .in = (const match_place_t[]){{side_base_home, 2048u}}, .inputs = 1u,
     .near = {side_base_near, 0u},
     .out = (const match_place_t[]){{side_base_home, 1024u}}, .outputs = 1u},
    /* 5: n3 */
    {.run = side_array_05, .node = 5u,
     .in = (const match_place_t[]){{side_base_home, 1024u}}, .inputs = 1u,
     .near = {side_base_near, 0u},
     .out = (const match_place_t[]){{side_base_home, 3072u}}, .outputs = 1u},
};

/* Runs a task with the addresses of this run. */
SIDE_ARRAY_CODE_SECTION
static void run_task(const side_state_t *state, uint32_t n)
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
        .store = state->store,
    };
    MATCH_NODE_BEGIN(row->node);
    row->run(&task);
    MATCH_NODE_END(row->node);
}

/* The unit's part of a run: waits until the host has posted a task, then runs it. */
void side_array_loop(void *argument)
{
    side_state_t *const state = argument;
    match_queue_t *const queue = &state->queue[side_queue_array];
    for (uint32_t n = 0u; n < 3u; n++) {
        if (fake_queue_wait(queue, n + 1u) != 0) {
            return;
        }
        run_task(state, n);
        match_store(&queue->done, n + 1u);
        fake_notify();
    }
}
