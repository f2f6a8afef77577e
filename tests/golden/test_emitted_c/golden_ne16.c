/* SPDX-License-Identifier: Apache-2.0 */
/* golden: layers on unit ne16, one function each: loops over tiles, copies, kernel launch and wait. */
#include <stdint.h>
#include "match_gap9_api.h"
#include "match_gap9_wide.h"
#include "match_runtime.h"
#include "golden_tasks.h"

/* conv0, conv0_relu on ne16 (conv3x3)
 * K=48 C=16 OY=61 OX=61 FY=3 FX=3; tiles OY:3x21; 305741 cycles (modelled) */
void golden_ne16_01(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    const uint8_t *const weight = (const uint8_t *)golden_01_weight;
    const uint8_t *const multiplier = (const uint8_t *)golden_01_multiplier;
    const uint8_t *const addend = (const uint8_t *)golden_01_addend;
    uint8_t *const output = task->out[0];
    match_conv2d_t tile = {
        .input = near + 0u,
        .weight = near + 22448u,
        .multiplier = near + 29360u,
        .addend = near + 29552u,
        .output = near + 29744u,
        .k = 48u, .c = 16u, .oy = 21u, .ox = 61u, .fy = 3u, .fx = 3u,
        .input_x = 61u, .input_x_pad_before = 1u, .input_x_pad_after = 1u,
        .stride_y = 1, .stride_x = 1, .shift = 20, .pad_value = 0, .weight_bits = 8,
    };
    match_gap9_copy_in_1d(near + 22448u, weight, 6912u);
    match_gap9_copy_in_1d(near + 29360u, multiplier, 192u);
    match_gap9_copy_in_1d(near + 29552u, addend, 192u);
    for (uint32_t oy = 0u; oy < 61u; oy += 21u) {
        tile.oy = match_min_u32(21u, 61u - oy);
        const match_span_t input_y = match_span(oy, 1u, tile.oy + 2u, 61u);
        tile.input_y = input_y.size;
        tile.input_y_pad_before = input_y.before;
        tile.input_y_pad_after = input_y.after;
        match_gap9_copy_in_1d(near + 0u, input + input_y.first * 976u, input_y.size * 976u);
        match_gap9_copy_wait();
        match_gap9_ne16_conv3x3(&tile);
        match_gap9_ne16_wait();
        match_gap9_copy_out_1d(output + oy * 2928u, near + 29744u, tile.oy * 2928u);
        match_gap9_copy_wait();
    }
}

/* conv2, conv2_relu on ne16 (depthwise3x3)
 * K=48 OY=31 OX=31 FY=3 FX=3; tiles OY:2x16; 222006 cycles (modelled) */
void golden_ne16_02(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
    const uint8_t *const input = task->in[0];
    const uint8_t *const weight = (const uint8_t *)golden_02_weight;
    const uint8_t *const multiplier = (const uint8_t *)golden_02_multiplier;
    const uint8_t *const addend = (const uint8_t *)golden_02_addend;
    uint8_t *const output = task->out[0];
    match_depthwise2d_t tile = {
        .input = near + 0u,
        .weight = near + 93696u,
        .multiplier = near + 94128u,
        .addend = near + 94320u,
        .output = near + 94512u,
        .k = 48u, .oy = 16u, .ox = 31u, .fy = 3u, .fx = 3u,
        .input_x = 61u, .input_x_pad_before = 1u, .input_x_pad_after = 1u,
        .stride_y = 2, .stride_x = 2, .shift = 18, .pad_value = 0, .weight_bits = 8,
    };
    match_gap9_copy_in_1d(near + 93696u, weight, 432u);
    match_gap9_copy_in_1d(near + 94128u, multiplier, 192u);
    match_gap9_copy_in_1d(near + 94320u, addend, 192u);
    for (uint32_t oy = 0u; oy < 31u; oy += 16u) {
        tile.oy = match_min_u32(16u, 31u - oy);
        const match_span_t input_y = match_span(oy * 2u, 1u, (tile.oy - 1u) * 2u + 3u, 61u);
        tile.input_y = input_y.size;
        tile.input_y_pad_before = input_y.before;
        tile.input_y_pad_after = input_y.after;
        match_gap9_copy_in_1d(near + 0u, input + input_y.first * 2928u, input_y.size * 2928u);
        match_gap9_copy_wait();
        match_gap9_ne16_depthwise(&tile);
        match_gap9_ne16_wait();
        match_gap9_copy_out_1d(output + oy * 1488u, near + 94512u, tile.oy * 1488u);
        match_gap9_copy_wait();
    }
}
