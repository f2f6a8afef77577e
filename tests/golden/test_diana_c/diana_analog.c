/* SPDX-License-Identifier: Apache-2.0 */
/* diana: layers on unit analog, one function each: steps over tiles, copies, kernel launch and wait. */
#include <stdint.h>
#include "match_diana_api.h"
#include "match_diana_analog.h"
#include "match_runtime.h"
#include "diana_tasks.h"

/* A step of diana_analog_02: one kernel call. */
typedef struct {
    uint32_t oy; /* start of the tile, by loop */
    match_span_t input_y;
    match_analog_conv_t tile;
} diana_analog_02_step_t;

/* Advances to the next tile. */
DIANA_ANALOG_CODE_SECTION
static void diana_analog_02_next(diana_analog_02_step_t *step)
{
    match_analog_conv_t *const tile = &step->tile;
    step->oy += 8u;
    step->input_y = match_span(step->oy, 1u, 10u, 16u);
    tile->input_y = step->input_y.size;
    tile->input_y_pad_before = step->input_y.before;
    tile->input_y_pad_after = step->input_y.after;
}

/* Loads the tiles of a step. */
DIANA_ANALOG_CODE_SECTION
static void diana_analog_02_load(const match_task_t *task, const diana_analog_02_step_t *step)
{
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    match_diana_analog_copy_in_1d(near, input + step->input_y.first * 1024u, step->input_y.size * 1024u);
}

/* Copies the result of a step to home memory. */
DIANA_ANALOG_CODE_SECTION
static void diana_analog_02_store(const match_task_t *task, const diana_analog_02_step_t *step)
{
    uint8_t *const near = task->near;
    uint8_t *const output = task->out[0];
    match_diana_analog_copy_out_1d(output + step->oy * 1024u, near + 9216u, 8192u);
}

/* conv6, conv6_relu on analog (analog_conv)
 * OY=16 FY=3 G=1 B=1; tiles OY:2x8; 15756 cycles (modelled) */
void diana_analog_02(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    uint8_t *const near_analog_cells = task->private_near[0];
    uint8_t *const near_analog_norm = task->private_near[1];
    const uint8_t *const input = task->in[0];
    const uint8_t *const weights = (const uint8_t *)diana_02_weights;
    const uint8_t *const norm = (const uint8_t *)diana_02_norm;
    diana_analog_02_step_t step = {
        .input_y = {0u, 9u, 1u, 0u},
        .tile = {
            .input = near,
            .weights = near_analog_cells,
            .norm = near_analog_norm,
            .output = near + 9216u,
            .oy = 8u, .fy = 3u, .g = 1u, .b = 1u,
            .input_words = 1u,
            .input_y = 9u, .input_y_pad_before = 1u,
            .channels = 64, .last_channels = 64, .k = 64, .fx = 3, .stride = 1, .ix = 16,
            .ox = 16, .unroll = 4, .pad_left = 1, .pad_right = 1, .weight_bytes = 18432, .gain_shift = 5,
            .shift = 2, .relu = 1,
            .first = 1u, .last = 1u,
        },
    };
    match_diana_analog_copy_in_1d(near, input, 9216u);
    match_diana_analog_copy_in_1d(near_analog_cells, weights, 18432u);
    match_diana_analog_copy_in_1d(near_analog_norm, norm, 512u);
    for (uint32_t n = 0u; n < 2u; n++) {
        match_diana_analog_copy_wait();
        match_diana_analog_conv(&step.tile);
        diana_analog_02_store(task, &step);
        if (n + 1u < 2u) {
            diana_analog_02_next(&step);
            diana_analog_02_load(task, &step);
        }
    }
    match_diana_analog_copy_wait();
}

/* A step of diana_analog_03: one kernel call. */
typedef struct {
    uint32_t oy; /* start of the tile, by loop */
    match_span_t input_y;
    match_analog_conv_t tile;
} diana_analog_03_step_t;

/* Advances to the next tile. */
DIANA_ANALOG_CODE_SECTION
static void diana_analog_03_next(diana_analog_03_step_t *step)
{
    match_analog_conv_t *const tile = &step->tile;
    step->oy += 8u;
    step->input_y = match_span(step->oy, 1u, 10u, 16u);
    tile->input_y = step->input_y.size;
    tile->input_y_pad_before = step->input_y.before;
    tile->input_y_pad_after = step->input_y.after;
}

/* Loads the tiles of a step. */
DIANA_ANALOG_CODE_SECTION
static void diana_analog_03_load(const match_task_t *task, const diana_analog_03_step_t *step)
{
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    match_diana_analog_copy_in_1d(near, input + step->input_y.first * 1024u, step->input_y.size * 1024u);
}

/* Copies the result of a step to home memory. */
DIANA_ANALOG_CODE_SECTION
static void diana_analog_03_store(const match_task_t *task, const diana_analog_03_step_t *step)
{
    uint8_t *const near = task->near;
    uint8_t *const output = task->out[0];
    match_diana_analog_copy_out_1d(output + step->oy * 1024u, near + 9216u, 8192u);
}

/* conv12 on analog (analog_conv)
 * OY=16 FY=3 G=1 B=1; tiles OY:2x8; 15756 cycles (modelled) */
void diana_analog_03(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    uint8_t *const near_analog_cells = task->private_near[0];
    uint8_t *const near_analog_norm = task->private_near[1];
    const uint8_t *const input = task->in[0];
    const uint8_t *const weights = (const uint8_t *)diana_03_weights;
    const uint8_t *const norm = (const uint8_t *)diana_03_norm;
    diana_analog_03_step_t step = {
        .input_y = {0u, 9u, 1u, 0u},
        .tile = {
            .input = near,
            .weights = near_analog_cells,
            .norm = near_analog_norm,
            .output = near + 9216u,
            .oy = 8u, .fy = 3u, .g = 1u, .b = 1u,
            .input_words = 1u,
            .input_y = 9u, .input_y_pad_before = 1u,
            .channels = 64, .last_channels = 64, .k = 64, .fx = 3, .stride = 1, .ix = 16,
            .ox = 16, .unroll = 4, .pad_left = 1, .pad_right = 1, .weight_bytes = 18432, .gain_shift = 5,
            .shift = 2, .relu = 0,
            .first = 1u, .last = 1u,
        },
    };
    match_diana_analog_copy_in_1d(near, input, 9216u);
    match_diana_analog_copy_in_1d(near_analog_cells, weights, 18432u);
    match_diana_analog_copy_in_1d(near_analog_norm, norm, 512u);
    for (uint32_t n = 0u; n < 2u; n++) {
        match_diana_analog_copy_wait();
        match_diana_analog_conv(&step.tile);
        diana_analog_03_store(task, &step);
        if (n + 1u < 2u) {
            diana_analog_03_next(&step);
            diana_analog_03_load(task, &step);
        }
    }
    match_diana_analog_copy_wait();
}

/* conv21 on analog (analog_conv)
 * OY=8 FY=3 G=1 B=1; 8054 cycles (modelled) */
void diana_analog_05(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    uint8_t *const near_analog_cells = task->private_near[0];
    uint8_t *const near_analog_norm = task->private_near[1];
    const uint8_t *const input = task->in[0];
    const uint8_t *const weights = (const uint8_t *)diana_05_weights;
    const uint8_t *const norm = (const uint8_t *)diana_05_norm;
    uint8_t *const output = task->out[0];
    const match_analog_conv_t tile = {
        .input = near,
        .weights = near_analog_cells,
        .norm = near_analog_norm,
        .output = near + 16384u,
        .oy = 8u, .fy = 3u, .g = 1u, .b = 1u,
        .input_words = 1u,
        .input_y = 16u, .input_y_pad_before = 1u,
        .channels = 64, .last_channels = 64, .k = 32, .fx = 3, .stride = 2, .ix = 16,
        .ox = 8, .unroll = 2, .pad_left = 1, .pad_right = 0, .weight_bytes = 18432, .gain_shift = 6,
        .shift = 4, .relu = 0,
        .first = 1u, .last = 1u,
    };
    match_diana_analog_copy_in_1d(near, input, 16384u);
    match_diana_analog_copy_in_1d(near_analog_cells, weights, 18432u);
    match_diana_analog_copy_in_1d(near_analog_norm, norm, 256u);
    match_diana_analog_copy_wait();
    match_diana_analog_conv(&tile);
    match_diana_analog_copy_out_1d(output, near + 16384u, 4096u);
    match_diana_analog_copy_wait();
}
