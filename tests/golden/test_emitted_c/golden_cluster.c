/* SPDX-License-Identifier: Apache-2.0 */
/* golden: layers on unit cluster, one function each: loops over tiles, copies, kernel launch and wait. */
#include <stdint.h>
#include "match_gap9_api.h"
#include "match_gap9_wide.h"
#include "match_runtime.h"
#include "golden_tasks.h"

/* n_input_dq0 on cluster (transpose)
 * R=16 C=3721; 62571 cycles (modelled) */
void golden_cluster_00(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    uint8_t *const output = task->out[0];
    match_transpose_t tile = {
        .input = near + 0u,
        .output = near + 59536u,
        .r = 16u, .c = 3721u,
        .flip = 128,
    };
    match_gap9_copy_in_1d(near + 0u, input, 59536u);
    match_gap9_copy_wait();
    match_gap9_transpose(&tile);
    match_gap9_copy_out_1d(output, near + 59536u, 59536u);
    match_gap9_copy_wait();
}

/* conv4, conv4_relu on cluster (conv2d_wide)
 * K=8 C=48 OY=11 OX=11 FY=5 FX=5; 205551 cycles (modelled) */
void golden_cluster_03(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    const uint8_t *const weight = (const uint8_t *)golden_03_weight;
    const uint8_t *const multiplier = (const uint8_t *)golden_03_multiplier;
    const uint8_t *const addend = (const uint8_t *)golden_03_addend;
    uint8_t *const output = task->out[0];
    match_conv2d_t tile = {
        .input = near + 0u,
        .weight = near + 46128u,
        .multiplier = near + 55728u,
        .addend = near + 55760u,
        .output = near + 55824u,
        .scratch = near + 56800u,
        .k = 8u, .c = 48u, .oy = 11u, .ox = 11u, .fy = 5u, .fx = 5u,
        .input_y = 31u, .input_y_pad_before = 2u, .input_y_pad_after = 2u,
        .input_x = 31u, .input_x_pad_before = 2u, .input_x_pad_after = 2u,
        .stride_y = 3, .stride_x = 3, .shift = 40, .pad_value = 0, .weight_bits = 8,
    };
    match_gap9_copy_in_1d(near + 0u, input, 46128u);
    match_gap9_copy_in_1d(near + 46128u, weight, 9600u);
    match_gap9_copy_in_1d(near + 55728u, multiplier, 32u);
    match_gap9_copy_in_1d(near + 55760u, addend, 64u);
    match_gap9_copy_wait();
    match_gap9_wide_conv2d(&tile);
    match_gap9_copy_out_1d(output, near + 55824u, 968u);
    match_gap9_copy_wait();
}

/* conv6 on cluster (conv2d)
 * K=3 C=8 OY=11 OX=11 FY=1 FX=1; 8321 cycles (modelled) */
void golden_cluster_04(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    const uint8_t *const weight = (const uint8_t *)golden_04_weight;
    const uint8_t *const multiplier = (const uint8_t *)golden_04_multiplier;
    const uint8_t *const addend = (const uint8_t *)golden_04_addend;
    uint8_t *const output = task->out[0];
    match_conv2d_t tile = {
        .input = near + 0u,
        .weight = near + 976u,
        .multiplier = near + 1008u,
        .addend = near + 1024u,
        .output = near + 1040u,
        .scratch = near + 1408u,
        .k = 3u, .c = 8u, .oy = 11u, .ox = 11u, .fy = 1u, .fx = 1u,
        .input_y = 11u, .input_x = 11u,
        .stride_y = 1, .stride_x = 1, .shift = 17, .pad_value = 0, .weight_bits = 8,
    };
    match_gap9_copy_in_1d(near + 0u, input, 968u);
    match_gap9_copy_in_1d(near + 976u, weight, 24u);
    match_gap9_copy_in_1d(near + 1008u, multiplier, 12u);
    match_gap9_copy_in_1d(near + 1024u, addend, 12u);
    match_gap9_copy_wait();
    match_gap9_conv2d(&tile);
    match_gap9_copy_out_1d(output, near + 1040u, 363u);
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
    match_transpose_t tile = {
        .input = near + 0u,
        .output = near + 368u,
        .r = 121u, .c = 3u,
        .flip = 128,
    };
    match_gap9_copy_in_1d(near + 0u, input, 363u);
    match_gap9_copy_wait();
    match_gap9_transpose(&tile);
    match_gap9_copy_out_1d(output, near + 368u, 363u);
    match_gap9_copy_wait();
}
