/* SPDX-License-Identifier: Apache-2.0 */
/* golden: layers on unit cluster, one function each: steps over tiles, copies, kernel launch and wait. */
#include <stdint.h>
#include "match_gap9_api.h"
#include "match_gap9_wide.h"
#include "match_runtime.h"
#include "golden_tasks.h"

/* A step of golden_cluster_00: one kernel call. */
typedef struct {
    uint32_t c; /* start of the tile, by loop */
    uint32_t c_turn; /* number of the buffer in use */
    match_transpose_t tile;
} golden_cluster_00_step_t;

/* Advances to the next tile. */
GOLDEN_CLUSTER_CODE_SECTION
static void golden_cluster_00_next(const match_task_t *task, golden_cluster_00_step_t *step)
{
    uint8_t *const near = task->near;
    match_transpose_t *const tile = &step->tile;
    step->c += 640u;
    step->c_turn ^= 1u;
    tile->c = match_min_u32(640u, 3721u - step->c);
    tile->input = near + step->c_turn * 10240u;
    tile->output = near + 20480u + step->c_turn * 10240u;
}

/* Loads the tiles of the next step. */
GOLDEN_CLUSTER_CODE_SECTION
static void golden_cluster_00_load_ahead(const match_task_t *task, const golden_cluster_00_step_t *step)
{
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    const match_transpose_t *const tile = &step->tile;
    match_gap9_copy_in_2d(near + step->c_turn * 10240u, input + step->c, 16u, tile->c, 3721u);
}

/* Copies the result of a step to home memory. */
GOLDEN_CLUSTER_CODE_SECTION
static void golden_cluster_00_store(const match_task_t *task, const golden_cluster_00_step_t *step)
{
    uint8_t *const near = task->near;
    uint8_t *const output = task->out[0];
    const match_transpose_t *const tile = &step->tile;
    match_gap9_copy_out_1d(output + step->c * 16u, near + 20480u + step->c_turn * 10240u, tile->c * 16u);
}

/* n_input_dq0 on cluster (transpose)
 * R=16 C=3721; tiles C:6x640; two buffers for input, output; 59630 cycles (modelled) */
void golden_cluster_00(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    golden_cluster_00_step_t steps[3];
    steps[0] = (golden_cluster_00_step_t) {
        .tile = {
            .input = near,
            .output = near + 20480u,
            .r = 16u, .c = 640u,
            .flip = 128,
        },
    };
    golden_cluster_00_step_t *now = &steps[0];
    golden_cluster_00_step_t *next = &steps[1];
    golden_cluster_00_step_t *before = &steps[2];
    match_gap9_copy_in_2d(near, input, 16u, 640u, 3721u);
    for (uint32_t n = 0u; n < 6u; n++) {
        match_gap9_copy_wait();
        match_gap9_transpose(&now->tile);
        if (n + 1u < 6u) {
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

/* conv4, conv4_relu on cluster (conv2d_wide)
 * K=8 C=48 OY=11 OX=11 FY=5 FX=5; 166722 cycles (modelled) */
void golden_cluster_03(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    const uint8_t *const constants = (const uint8_t *)golden_03_constants;
    uint8_t *const output = task->out[0];
    const match_conv2d_t tile = {
        .input = near,
        .addend = near + 46128u,
        .multiplier = near + 46192u,
        .weight = near + 46224u,
        .output = near + 55856u,
        .scratch = near + 56832u,
        .k = 8u, .c = 48u, .oy = 11u, .ox = 11u, .fy = 5u, .fx = 5u,
        .input_y = 31u, .input_y_pad_before = 2u, .input_y_pad_after = 2u,
        .input_x = 31u, .input_x_pad_before = 2u, .input_x_pad_after = 2u,
        .stride_y = 3, .stride_x = 3, .shift = 40, .pad_value = 0, .weight_bits = 8,
    };
    match_gap9_copy_in_1d(near, input, 46128u);
    match_gap9_copy_in_1d(near + 46128u, constants, 9728u);
    match_gap9_copy_wait();
    match_gap9_wide_conv2d(&tile);
    match_gap9_team_wait();
    match_gap9_copy_out_1d(output, near + 55856u, 968u);
    match_gap9_copy_wait();
}

/* n_q7 on cluster (transpose)
 * R=121 C=3; 1868 cycles (modelled) */
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
