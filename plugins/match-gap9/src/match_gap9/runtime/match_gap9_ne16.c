/* match_gap9_ne16.c - kernel contexts to NE16 jobs through the pulp-nnx driver.
 *
 * Activations are uint8 HWC, weights of 2 to 8 bits stored without sign, scale and bias 32 bit per channel.
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_gap9_api.h"
#include "ne16_pulp_bsp.h"
#include "ne16_task.h"
#include "pmsis.h"
#include "pulp_nnx_ne16.h"

/* Bus cycles that NE16 may hold the cores off; the value of the published driver's examples. */
#define MAX_STALL 8

static ne16_task_t task; /* the job that match_gap9_ne16_wait waits for */

static void open_device(void *argument)
{
    ne16_pulp_conf_t conf = {.max_stall = MAX_STALL};
    (void)argument;
    ne16_nnx_init(ne16_pulp_get_dev(), &conf);
}

static void close_device(void *argument)
{
    (void)argument;
    ne16_nnx_term(ne16_pulp_get_dev());
}

int match_gap9_ne16_start(void)
{
    const int status = match_gap9_start();
    return (status == 0) ? match_gap9_call(open_device, NULL) : status;
}

void match_gap9_ne16_stop(void)
{
    (void)match_gap9_call(close_device, NULL);
    match_gap9_stop();
}

static uint32_t address(const void *pointer)
{
    return (uint32_t)(uintptr_t)pointer;
}

static void prepare(uint8_t kernel, uint8_t depthwise, uint8_t stride, int32_t weight_bits, int32_t shift,
                    const void *scale, const void *bias)
{
    const ne16_quant_t quant = {
        .shift_amount = (uint8_t)shift, .function = quantFunctionRelu, .flag_rounding = ne16TaskFlagFalse};
    const ne16_norm_t norm = {
        .mode = normMode32Bit, .flag_bias = ne16TaskFlagTrue, .flag_shift = ne16TaskFlagFalse};
    ne16_task_init(&task);
    ne16_task_set_op_to_conv(&task, kernel, depthwise, stride);
    ne16_task_set_bits(&task, 8, 8, (uint8_t)weight_bits);
    ne16_task_set_norm_quant(&task, quant, norm);
    ne16_task_set_weight_offset(&task, weightOffsetModeLayerWise, -(1 << (weight_bits - 1)));
    ne16_task_set_addr_norm_quant(&task, address(scale), 0u, address(bias));
}

static void dispatch(void)
{
    const ne16_dev_t *const device = ne16_pulp_get_dev();
    ne16_nnx_dispatch_wait(device);
    (void)ne16_nnx_dispatch(device, &task);
}

/* Sizes of a stride-1 layer. Rows and columns that the counters leave out at the bottom and right read as zero, so a
 * padding value needs full counters and padding up to the end of the last subtile of 3x3 outputs. */
static void set_sizes(uint32_t in_x, uint32_t in_channels, uint32_t out_y, uint32_t out_x, uint32_t out_channels,
                      const uint8_t pads[4], int32_t value)
{
    ne16_task_set_dims(&task, in_x, in_channels, in_x * in_channels, in_channels, out_y, out_x, out_channels,
                       out_x * out_channels, out_channels, pads[0], pads[1], pads[2], pads[3]);
    if (value != 0) {
        ne16_task_set_counters(&task, in_channels, out_y, out_x, out_channels, 0, 0);
        ne16_task_set_padding(&task, pads[0], (uint8_t)(pads[1] + (3u - out_y % 3u) % 3u), pads[2],
                              (uint8_t)(pads[3] + (3u - out_x % 3u) % 3u), (uint8_t)value);
    }
}

void match_gap9_ne16_conv3x3(const match_conv2d_t *t)
{
    const uint8_t stride = (uint8_t)t->stride_x;
    const uint8_t top = (uint8_t)t->input_y_pad_before, bottom = (uint8_t)t->input_y_pad_after;
    const uint8_t left = (uint8_t)t->input_x_pad_before, right = (uint8_t)t->input_x_pad_after;
    prepare(3, 0, stride, t->weight_bits, t->shift, t->multiplier, t->addend);
    if (stride == 2) {
        ne16_task_set_dims_stride2x2(&task, t->input_y, t->input_x, t->c, t->input_x * t->c, t->c, t->oy, t->ox, t->k,
                                     t->ox * t->k, t->k, 3, 3, top, bottom, left, right);
    } else {
        set_sizes(t->input_x, t->c, t->oy, t->ox, t->k, (const uint8_t[]){top, bottom, left, right}, t->pad_value);
    }
    ne16_task_set_addr_conv(&task, address(t->input), t->input_x, t->c, top, left, address(t->output),
                            address(t->weight));
    if (stride == 2) {
        ne16_nnx_dispatch_stride2x2(ne16_pulp_get_dev(), &task, t->input_x, t->c, t->oy, t->ox, t->k, 3, 3);
    } else {
        dispatch();
    }
}

/* A stride of a 1x1 kernel is only a stride of the input addresses. */
void match_gap9_ne16_conv1x1(const match_conv2d_t *t)
{
    const uint32_t pixel = t->c * (uint32_t)t->stride_x, row = t->input_x * t->c * (uint32_t)t->stride_y;
    prepare(1, 0, 1, t->weight_bits, t->shift, t->multiplier, t->addend);
    ne16_task_set_dims(&task, t->input_x, t->c, row, pixel, t->oy, t->ox, t->k, t->ox * t->k, t->k, 0, 0, 0, 0);
    ne16_task_set_addr_conv(&task, address(t->input), t->input_x, pixel, 0, 0, address(t->output),
                            address(t->weight));
    dispatch();
}

void match_gap9_ne16_depthwise(const match_depthwise2d_t *t)
{
    const uint8_t stride = (uint8_t)t->stride_x;
    const uint8_t top = (uint8_t)t->input_y_pad_before, bottom = (uint8_t)t->input_y_pad_after;
    const uint8_t left = (uint8_t)t->input_x_pad_before, right = (uint8_t)t->input_x_pad_after;
    prepare(3, 1, stride, t->weight_bits, t->shift, t->multiplier, t->addend);
    if (stride == 2) {
        ne16_task_set_dims_stride2x2(&task, t->input_y, t->input_x, t->k, t->input_x * t->k, t->k, t->oy, t->ox, t->k,
                                     t->ox * t->k, t->k, 3, 3, top, bottom, left, right);
    } else {
        set_sizes(t->input_x, t->k, t->oy, t->ox, t->k, (const uint8_t[]){top, bottom, left, right}, t->pad_value);
    }
    ne16_task_set_addr_conv(&task, address(t->input), t->input_x, t->k, top, left, address(t->output),
                            address(t->weight));
    if (stride == 2) {
        ne16_nnx_dispatch_stride2x2(ne16_pulp_get_dev(), &task, t->input_x, t->k, t->oy, t->ox, t->k, 3, 3);
    } else {
        dispatch();
    }
}

/* N rows of C values are an N by 1 image of C channels. */
void match_gap9_ne16_linear(const match_linear_t *t)
{
    prepare(1, 0, 1, t->weight_bits, t->shift, t->multiplier, t->addend);
    ne16_task_set_dims(&task, 1u, t->c, t->c, t->c, t->n, 1u, t->k, t->k, t->k, 0, 0, 0, 0);
    ne16_task_set_addr_conv(&task, address(t->input), 1u, t->c, 0, 0, address(t->output), address(t->weight));
    dispatch();
}

void match_gap9_ne16_wait(void)
{
    ne16_nnx_resolve_wait(ne16_pulp_get_dev(), &task);
}
