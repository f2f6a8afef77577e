/* match_gap9_cluster.c - kernel contexts to PULP-NN calls, one team of cores per call.
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_gap9_api.h"
#include "match_gap9_cores.h"
#include "match_gap9_kernels.h"
#include "match_gap9_layout.h"
#include "pmsis.h"
#include "pulp_nn_kernels.h"

/* PULP-NN takes its parameter arrays without const but does not write them. */
static int32_t *parameters(const void *pointer)
{
    return (int32_t *)(uintptr_t)pointer;
}

static void conv2d_core(void *argument)
{
    const match_conv2d_t *const t = argument;
    pulp_nn_conv_Ho_parallel(t->input, t->scratch, NULL, t->output, t->weight, parameters(t->multiplier),
                             parameters(t->addend), 1u, (uint16_t)t->shift, (uint16_t)t->input_x,
                             (uint16_t)t->input_y, (uint16_t)t->c, (uint16_t)t->ox, (uint16_t)t->oy,
                             (uint16_t)t->k, (uint16_t)t->fx, (uint16_t)t->fy, (uint16_t)t->input_y_pad_before,
                             (uint16_t)t->input_y_pad_after, (uint16_t)t->input_x_pad_before,
                             (uint16_t)t->input_x_pad_after, (uint16_t)t->stride_x, (uint16_t)t->stride_y, 1, 1);
}

void match_gap9_conv2d(const match_conv2d_t *tile)
{
    match_gap9_team_launch(conv2d_core, tile);
}

static void pointwise_core(void *argument)
{
    const match_conv2d_t *const t = argument;
    pulp_nn_pointwise_Ho_parallel(t->input, t->scratch, NULL, t->output, t->weight, parameters(t->multiplier),
                                  parameters(t->addend), 1u, (uint16_t)t->shift, (uint16_t)t->input_x,
                                  (uint16_t)t->input_y, (uint16_t)t->c, (uint16_t)t->ox, (uint16_t)t->oy,
                                  (uint16_t)t->k, 1u, 1u, 0u, 0u, 0u, 0u, 1u, 1u, 1, 1);
}

void match_gap9_pointwise(const match_conv2d_t *tile)
{
    match_gap9_team_launch(pointwise_core, tile);
}

/* pulp_nn_depthwise reads CHW: the cores first turn the HWC tile round and pad it, each its own channels. */
static void depthwise_core(void *argument)
{
    const match_depthwise2d_t *const t = argument;
    const match_gap9_planes_t shape = {
        .in_y = t->input_y, .in_x = t->input_x, .channels = t->k, .pad_top = t->input_y_pad_before,
        .pad_bottom = t->input_y_pad_after, .pad_left = t->input_x_pad_before, .pad_right = t->input_x_pad_after,
        .pad_value = (uint8_t)t->pad_value,
    };
    const uint32_t height = shape.pad_top + shape.in_y + shape.pad_bottom;
    const uint32_t width = shape.pad_left + shape.in_x + shape.pad_right;
    uint8_t *const planes = t->scratch;
    uint8_t *const columns = planes + (t->k * height * width + 15u) / 16u * 16u;
    match_gap9_hwc_to_chw(t->input, planes, &shape);
    if (t->fx * t->fy < 4u) {
        pulp_nn_depthwise_generic_less_4_weights(
            planes, columns, NULL, t->output, t->weight, NULL, parameters(t->multiplier), parameters(t->addend), 1u,
            (uint16_t)t->shift, (uint16_t)width, (uint16_t)height, (uint16_t)t->k, (uint16_t)t->ox, (uint16_t)t->oy,
            (uint16_t)t->k, (uint16_t)t->fx, (uint16_t)t->fy, 0u, 0u, 0u, 0u, (uint16_t)t->stride_x,
            (uint16_t)t->stride_y, 1, 1);
    } else {
        pulp_nn_depthwise_generic(
            planes, columns, NULL, t->output, t->weight, NULL, parameters(t->multiplier), parameters(t->addend), 1u,
            (uint16_t)t->shift, (uint16_t)width, (uint16_t)height, (uint16_t)t->k, (uint16_t)t->ox, (uint16_t)t->oy,
            (uint16_t)t->k, (uint16_t)t->fx, (uint16_t)t->fy, 0u, 0u, 0u, 0u, (uint16_t)t->stride_x,
            (uint16_t)t->stride_y, 1, 1);
    }
}

void match_gap9_depthwise(const match_depthwise2d_t *tile)
{
    match_gap9_team_launch(depthwise_core, tile);
}

static void linear_core(void *argument)
{
    const match_linear_t *const t = argument;
    const uint8_t *const input = t->input;
    uint8_t *const output = t->output;
    MATCH_GAP9_COUNT(LINEAR_CALL, 1u);
    for (uint32_t row = 0u; row < t->n; row++) {
        pulp_nn_linear((uint8_t *)(uintptr_t)(input + row * t->c), NULL, output + row * t->k,
                       (int8_t *)(uintptr_t)t->weight, parameters(t->multiplier), parameters(t->addend), 1u,
                       (int8_t)t->shift, (uint16_t)t->c, (uint16_t)t->k, 1, 1);
    }
}

void match_gap9_linear(const match_linear_t *tile)
{
    match_gap9_team_launch(linear_core, tile);
}

static void add_core(void *argument)
{
    const match_add_t *const t = argument;
    match_gap9_add_requant(t->input_a, t->input_b, t->output, t->multiplier_a, t->multiplier_b, t->addend,
                           (uint32_t)t->shift, t->y * t->x * t->c);
}

void match_gap9_add(const match_add_t *tile)
{
    match_gap9_team_launch(add_core, tile);
}

static match_gap9_pool_t pool_of(const match_pool2d_t *t)
{
    const match_gap9_pool_t pool = {
        .in_x = (uint16_t)t->input_x, .in_y = (uint16_t)t->input_y, .channels = (uint16_t)t->c,
        .out_x = (uint16_t)t->ox, .out_y = (uint16_t)t->oy, .kernel_x = (uint16_t)t->fx,
        .kernel_y = (uint16_t)t->fy, .pad_top = (uint16_t)t->input_y_pad_before,
        .pad_left = (uint16_t)t->input_x_pad_before, .stride_x = (uint16_t)t->stride_x,
        .stride_y = (uint16_t)t->stride_y, .pad_value = 0u,
    };
    return pool;
}

static void avgpool_core(void *argument)
{
    const match_pool2d_t *const t = argument;
    const match_gap9_pool_t pool = pool_of(t);
    if (t->ties_even != 0) {
        match_gap9_avgpool_even(t->input, t->output, &pool, (uint32_t)t->shift);
    } else {
        match_gap9_avgpool_requant(t->input, t->output, &pool, t->multiplier, t->addend, (uint32_t)t->shift);
    }
}

void match_gap9_avgpool(const match_pool2d_t *tile)
{
    match_gap9_team_launch(avgpool_core, tile);
}

static void maxpool_core(void *argument)
{
    const match_pool2d_t *const t = argument;
    const match_gap9_pool_t pool = pool_of(t);
    match_gap9_maxpool(t->input, t->output, &pool);
}

void match_gap9_maxpool2d(const match_pool2d_t *tile)
{
    match_gap9_team_launch(maxpool_core, tile);
}

static void transpose_core(void *argument)
{
    const match_transpose_t *const t = argument;
    match_gap9_transpose_bytes(t->input, t->output, t->r, t->c, (uint8_t)t->flip);
}

void match_gap9_transpose(const match_transpose_t *tile)
{
    match_gap9_team_launch(transpose_core, tile);
}

static void quantize_core(void *argument)
{
    const match_quantize_t *const t = argument;
    const union {
        int32_t bits;
        float value;
    } scale = {.bits = t->scale_bits};
    match_gap9_quantize(t->input, t->output, t->n, scale.value, t->zero_point, t->low, t->high);
}

void match_gap9_quantize_tensor(const match_quantize_t *tile)
{
    match_gap9_team_launch(quantize_core, tile);
}

static void flip_core(void *argument)
{
    const match_flip_t *const t = argument;
    match_gap9_flip_bytes(t->input, t->output, t->n, (uint8_t)t->flip);
}

void match_gap9_flip(const match_flip_t *tile)
{
    match_gap9_team_launch(flip_core, tile);
}

static void clip_core(void *argument)
{
    const match_clip_t *const t = argument;
    match_gap9_clip_bytes(t->input, t->output, t->n, (uint8_t)t->low, (uint8_t)t->high);
}

void match_gap9_clip(const match_clip_t *tile)
{
    match_gap9_team_launch(clip_core, tile);
}
