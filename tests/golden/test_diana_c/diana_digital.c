/* SPDX-License-Identifier: Apache-2.0 */
/* diana: layers on unit digital, one function each: steps over tiles, copies, kernel launch and wait. */
#include <stdint.h>
#include "match_diana_api.h"
#include "match_diana_digital.h"
#include "match_runtime.h"
#include "diana_tasks.h"

/* conv0, conv0_relu on digital (digital_conv_channels)
 * K=1 C=3 OY=16 OX=16 FY=3 FX=3 SPARE=1; 5773 cycles (modelled) */
void diana_digital_01(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    uint8_t *const near_digital_weights = task->private_near[0];
    const uint8_t *const input = task->in[0];
    const uint8_t *const weights = (const uint8_t *)diana_01_weights;
    uint8_t *const output = task->out[0];
    const match_digital_conv_channels_t tile = {
        .input = near,
        .weights = near_digital_weights,
        .output = near + 768u,
        .k = 1u, .c = 3u, .oy = 16u, .ox = 16u, .fy = 3u, .fx = 3u,
        .spare = 1u,
        .input_y = 16u, .input_y_pad_before = 1u, .input_y_pad_after = 1u,
        .width = 16, .stride = 1, .pad_x = 1, .columns_empty = 0, .shift = 9, .relu = 1,
        .channels = 64,
    };
    match_diana_digital_copy_in_1d(near, input, 768u);
    match_diana_digital_copy_in_1d(near_digital_weights, weights, 1984u);
    match_diana_digital_copy_wait();
    match_diana_digital_conv_channels(&tile);
    match_diana_digital_copy_out_1d(output, near + 768u, 16384u);
    match_diana_digital_copy_wait();
}

/* A step of diana_digital_04: one kernel call. */
typedef struct {
    uint32_t n; /* start of the tile, by loop */
    match_digital_add_t tile;
} diana_digital_04_step_t;

/* Advances to the next tile. */
DIANA_DIGITAL_CODE_SECTION
static void diana_digital_04_next(diana_digital_04_step_t *step)
{
    match_digital_add_t *const tile = &step->tile;
    step->n += 192u;
    tile->n = match_min_u32(192u, 512u - step->n);
}

/* Loads the tiles of a step. */
DIANA_DIGITAL_CODE_SECTION
static void diana_digital_04_load(const match_task_t *task, const diana_digital_04_step_t *step)
{
    uint8_t *const near = task->near;
    const uint8_t *const input_a = task->in[0];
    const uint8_t *const input_b = task->in[1];
    const match_digital_add_t *const tile = &step->tile;
    match_diana_digital_copy_in_1d(near, input_a + step->n * 32u, tile->n * 32u);
    match_diana_digital_copy_in_1d(near + 6144u, input_b + step->n * 32u, tile->n * 32u);
}

/* Copies the result of a step to home memory. */
DIANA_DIGITAL_CODE_SECTION
static void diana_digital_04_store(const match_task_t *task, const diana_digital_04_step_t *step)
{
    uint8_t *const near = task->near;
    uint8_t *const output = task->out[0];
    const match_digital_add_t *const tile = &step->tile;
    match_diana_digital_copy_out_1d(output + step->n * 32u, near + 12288u, tile->n * 32u);
}

/* add17 on digital (digital_add_channels)
 * N=512; tiles N:3x192; 5741 cycles (modelled) */
void diana_digital_04(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const input_a = task->in[0];
    const uint8_t *const input_b = task->in[1];
    diana_digital_04_step_t step = {
        .tile = {
            .input_a = near,
            .input_b = near + 6144u,
            .output = near + 12288u,
            .n = 192u,
            .elements = 32, .shift = 0,
        },
    };
    match_diana_digital_copy_in_1d(near, input_a, 6144u);
    match_diana_digital_copy_in_1d(near + 6144u, input_b, 6144u);
    for (uint32_t n = 0u; n < 3u; n++) {
        match_diana_digital_copy_wait();
        match_diana_digital_add(&step.tile);
        diana_digital_04_store(task, &step);
        if (n + 1u < 3u) {
            diana_digital_04_next(&step);
            diana_digital_04_load(task, &step);
        }
    }
    match_diana_digital_copy_wait();
}
