/* SPDX-License-Identifier: Apache-2.0 */
/* attention: layers on unit ita, one function each: steps over tiles, copies, kernel launch and wait. */
#include <stdint.h>
#include "match_ita_api.h"
#include "match_runtime.h"
#include "attention_tasks.h"

/* matmul6_node, add7_node on ita (ita_linear)
 * S=81 K1=2 C1=1; 2478 cycles (modelled) */
void attention_ita_02(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    const uint8_t *const constants = (const uint8_t *)attention_02_constants;
    uint8_t *const output = task->out[0];
    const match_ita_linear_t tile = {
        .input = near,
        .weight = near + 5184u,
        .bias = near + 13376u,
        .output = near + 13760u,
        .scratch = near + 24128u,
        .s = 81u, .k1 = 2u, .c1 = 1u,
        .multiplier = 134, .shift = 15, .add = 0, .activation = 0, .gelu_b = 0, .gelu_c = 0,
        .act_multiplier = 1, .act_shift = 0, .act_add = 0,
    };
    match_ita_copy_in_1d(near, input, 5184u);
    match_ita_copy_in_1d(near + 5184u, constants, 8576u);
    match_ita_copy_wait();
    match_ita_linear(&tile);
    match_ita_copy_out_3d(output, near + 13760u, 2u, 81u, 64u, 128u, 64u);
    match_ita_copy_wait();
}

/* matmul13_node, add14_node on ita (ita_linear)
 * S=81 K1=2 C1=1; 2478 cycles (modelled) */
void attention_ita_04(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    const uint8_t *const constants = (const uint8_t *)attention_04_constants;
    uint8_t *const output = task->out[0];
    const match_ita_linear_t tile = {
        .input = near,
        .weight = near + 5184u,
        .bias = near + 13376u,
        .output = near + 13760u,
        .scratch = near + 24128u,
        .s = 81u, .k1 = 2u, .c1 = 1u,
        .multiplier = 132, .shift = 15, .add = 0, .activation = 0, .gelu_b = 0, .gelu_c = 0,
        .act_multiplier = 1, .act_shift = 0, .act_add = 0,
    };
    match_ita_copy_in_1d(near, input, 5184u);
    match_ita_copy_in_1d(near + 5184u, constants, 8576u);
    match_ita_copy_wait();
    match_ita_linear(&tile);
    match_ita_copy_out_3d(output, near + 13760u, 2u, 81u, 64u, 128u, 64u);
    match_ita_copy_wait();
}

/* A step of attention_ita_06: one kernel call. */
typedef struct {
    uint32_t t1; /* start of the tile, by loop */
    uint32_t t1_turn; /* number of the buffer in use */
    match_span_t input_t;
    match_ita_linear_turned_t tile;
} attention_ita_06_step_t;

/* Advances to the next tile. */
ATTENTION_ITA_CODE_SECTION
static void attention_ita_06_next(const match_task_t *task, attention_ita_06_step_t *step)
{
    uint8_t *const near = task->near;
    match_ita_linear_turned_t *const tile = &step->tile;
    step->t1 += 1u;
    step->t1_turn ^= 1u;
    step->input_t = match_span(step->t1 * 64u, 0u, 64u, 81u);
    tile->input_t = step->input_t.size;
    tile->input_t_pad_before = step->input_t.before;
    tile->input_t_pad_after = step->input_t.after;
    tile->input = near + step->input_t.first * 64u;
    tile->output = near + 13760u + step->t1_turn * 8192u;
}

/* Copies the result of a step to home memory. */
ATTENTION_ITA_CODE_SECTION
static void attention_ita_06_store(const match_task_t *task, const attention_ita_06_step_t *step)
{
    uint8_t *const near = task->near;
    uint8_t *const output = task->out[0];
    match_ita_copy_out_3d(output + step->t1 * 64u, near + 13760u + step->t1_turn * 8192u, 2u, 64u, 64u, 128u, 8192u);
}

/* matmul20_node, add21_node on ita (ita_linear_turned)
 * P1=2 T1=2 C1=1 T0=64; tiles T1:2x1; two buffers for output; 2708 cycles (modelled) */
void attention_ita_06(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    const uint8_t *const constants = (const uint8_t *)attention_06_constants;
    attention_ita_06_step_t steps[3];
    steps[0] = (attention_ita_06_step_t) {
        .input_t = {0u, 64u, 0u, 0u},
        .tile = {
            .input = near,
            .weight = near + 5184u,
            .bias = near + 13376u,
            .output = near + 13760u,
            .scratch = near + 30144u,
            .p1 = 2u, .t1 = 1u, .c1 = 1u, .t0 = 64u,
            .input_t = 64u,
            .multiplier = 138, .shift = 15, .add = 0,
        },
    };
    attention_ita_06_step_t *now = &steps[0];
    attention_ita_06_step_t *next = &steps[1];
    attention_ita_06_step_t *before = &steps[2];
    match_ita_copy_in_1d(near, input, 5184u);
    match_ita_copy_in_1d(near + 5184u, constants, 8576u);
    for (uint32_t n = 0u; n < 2u; n++) {
        match_ita_copy_wait();
        if (n + 1u < 2u) {
            *next = *now;
            attention_ita_06_next(task, next);
        }
        if (n > 0u) {
            attention_ita_06_store(task, before);
        }
        match_ita_linear_turned(&now->tile);
        attention_ita_06_step_t *const free = before;
        before = now;
        now = next;
        next = free;
    }
    attention_ita_06_store(task, before);
    match_ita_copy_wait();
}

/* A step of attention_ita_07: one kernel call. */
typedef struct {
    uint32_t h; /* start of the tile, by loop */
    uint32_t h_turn; /* number of the buffer in use */
    match_ita_attention_t tile;
} attention_ita_07_step_t;

/* Advances to the next tile. */
ATTENTION_ITA_CODE_SECTION
static void attention_ita_07_next(const match_task_t *task, attention_ita_07_step_t *step)
{
    uint8_t *const near = task->near;
    match_ita_attention_t *const tile = &step->tile;
    step->h += 1u;
    step->h_turn ^= 1u;
    tile->q = near + step->h_turn * 5184u;
    tile->k = near + 10368u + step->h_turn * 5184u;
    tile->vt = near + 20736u + step->h_turn * 8192u;
    tile->output = near + 37312u + step->h_turn * 5184u;
}

/* Loads the tiles of the next step. */
ATTENTION_ITA_CODE_SECTION
static void attention_ita_07_load_ahead(const match_task_t *task, const attention_ita_07_step_t *step)
{
    uint8_t *const near = task->near;
    const uint8_t *const q = task->in[0];
    const uint8_t *const k = task->in[1];
    const uint8_t *const vt = task->in[2];
    match_ita_copy_in_2d(near + step->h_turn * 5184u, q + step->h * 64u, 81u, 64u, 128u);
    match_ita_copy_in_2d(near + 10368u + step->h_turn * 5184u, k + step->h * 64u, 81u, 64u, 128u);
    match_ita_copy_in_3d(near + 20736u + step->h_turn * 8192u, vt + step->h * 8192u, 2u, 64u, 64u, 128u, 64u);
}

/* Copies the result of a step to home memory. */
ATTENTION_ITA_CODE_SECTION
static void attention_ita_07_store(const match_task_t *task, const attention_ita_07_step_t *step)
{
    uint8_t *const near = task->near;
    uint8_t *const output = task->out[0];
    match_ita_copy_out_2d(output + step->h * 64u, near + 37312u + step->h_turn * 5184u, 81u, 64u, 128u);
}

/* matmul27_node, mul28_node, softmax31_node, matmul34_node on ita (ita_attention)
 * H=2 S=81 T=81 T1=2 P1=1; tiles H:2x1; two buffers for q, k, vt, output; 6652 cycles (modelled) */
void attention_ita_07(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const q = task->in[0];
    const uint8_t *const k = task->in[1];
    const uint8_t *const vt = task->in[2];
    const uint8_t *const mask = (const uint8_t *)attention_07_mask;
    attention_ita_07_step_t steps[3];
    steps[0] = (attention_ita_07_step_t) {
        .tile = {
            .q = near,
            .k = near + 10368u,
            .vt = near + 20736u,
            .mask = near + 37120u,
            .output = near + 37312u,
            .scratch = near + 47680u,
            .h = 1u, .s = 81u, .t = 81u, .t1 = 2u, .p1 = 1u,
            .masked = 1, .qk_multiplier = 183, .qk_shift = 17, .qk_add = 4, .av_multiplier = 163, .av_shift = 15,
            .av_add = -7,
        },
    };
    attention_ita_07_step_t *now = &steps[0];
    attention_ita_07_step_t *next = &steps[1];
    attention_ita_07_step_t *before = &steps[2];
    match_ita_copy_in_2d(near, q, 81u, 64u, 128u);
    match_ita_copy_in_2d(near + 10368u, k, 81u, 64u, 128u);
    match_ita_copy_in_3d(near + 20736u, vt, 2u, 64u, 64u, 128u, 64u);
    match_ita_copy_in_1d(near + 37120u, mask, 192u);
    for (uint32_t n = 0u; n < 2u; n++) {
        match_ita_copy_wait();
        if (n + 1u < 2u) {
            *next = *now;
            attention_ita_07_next(task, next);
            attention_ita_07_load_ahead(task, next);
        }
        if (n > 0u) {
            attention_ita_07_store(task, before);
        }
        match_ita_attention(&now->tile);
        attention_ita_07_step_t *const free = before;
        before = now;
        now = next;
        next = free;
    }
    attention_ita_07_store(task, before);
    match_ita_copy_wait();
}

/* matmul40_node, add41_node on ita (ita_linear)
 * S=81 K1=1 C1=2; 2365 cycles (modelled) */
void attention_ita_09(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    const uint8_t *const constants = (const uint8_t *)attention_09_constants;
    uint8_t *const output = task->out[0];
    const match_ita_linear_t tile = {
        .input = near,
        .weight = near + 10368u,
        .bias = near + 18560u,
        .output = near + 18752u,
        .scratch = near + 23936u,
        .s = 81u, .k1 = 1u, .c1 = 2u,
        .multiplier = 151, .shift = 15, .add = 0, .activation = 0, .gelu_b = 0, .gelu_c = 0,
        .act_multiplier = 1, .act_shift = 0, .act_add = 0,
    };
    match_ita_copy_in_3d(near, input, 2u, 81u, 64u, 128u, 64u);
    match_ita_copy_in_1d(near + 10368u, constants, 8384u);
    match_ita_copy_wait();
    match_ita_linear(&tile);
    match_ita_copy_out_1d(output, near + 18752u, 5184u);
    match_ita_copy_wait();
}
