/* match_gap9_ne16.c - kernel contexts to NE16 jobs through the pulp-nnx driver.
 *
 * Activations are uint8 HWC, weights of 2 to 8 bits stored without sign, scale and bias 32 bit per channel.
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_gap9_api.h"
#include "match_gap9_ne16_border.h"
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

typedef struct {
    uint32_t in_y, in_x, in_channels, out_y, out_x, out_channels;
    uint8_t top, bottom, left, right, pad_value, stride;
} window_t;

static void set_border(const window_t *w, uint32_t rows, uint32_t columns)
{
    const match_gap9_ne16_border_t border = {.top = w->top, .bottom = w->bottom, .left = w->left, .right = w->right,
                                             .value = w->pad_value, .through_registers = w->stride == 2u};
    match_gap9_ne16_set_border(&task, w->in_channels, rows, columns, w->out_channels, &border);
}

/* Starts a 3x3 layer whose task is prepared. With stride 2 the driver issues a job for each 2 by 2 outputs, which are
 * the corners of 3 by 3. */
static void start_3x3(const window_t *w, const void *input, const void *output, const void *weight)
{
    const uint32_t in_row = w->in_x * w->in_channels, out_row = w->out_x * w->out_channels;
    ne16_task_set_addr_conv(&task, address(input), w->in_x, w->in_channels, w->top, w->left, address(output),
                            address(weight));
    if (w->stride == 2u) {
        ne16_task_set_dims_stride2x2(&task, w->in_y, w->in_x, w->in_channels, in_row, w->in_channels, w->out_y,
                                     w->out_x, w->out_channels, out_row, w->out_channels, 3, 3, 0, 0, 0, 0);
        set_border(w, (w->out_y > 1u) ? 3u : 1u, (w->out_x > 1u) ? 3u : 1u);
        ne16_nnx_dispatch_stride2x2(ne16_pulp_get_dev(), &task, w->in_x, w->in_channels, w->out_y, w->out_x,
                                    w->out_channels, 3, 3);
    } else {
        ne16_task_set_dims(&task, w->in_x, w->in_channels, in_row, w->in_channels, w->out_y, w->out_x,
                           w->out_channels, out_row, w->out_channels, 0, 0, 0, 0);
        set_border(w, w->out_y, w->out_x);
        dispatch();
    }
}

void match_gap9_ne16_conv3x3(const match_conv2d_t *t)
{
    const window_t window = {
        .in_y = t->input_y, .in_x = t->input_x, .in_channels = t->c, .out_y = t->oy, .out_x = t->ox,
        .out_channels = t->k, .top = (uint8_t)t->input_y_pad_before, .bottom = (uint8_t)t->input_y_pad_after,
        .left = (uint8_t)t->input_x_pad_before, .right = (uint8_t)t->input_x_pad_after,
        .pad_value = (uint8_t)t->pad_value, .stride = (uint8_t)t->stride_x,
    };
    prepare(3, 0, window.stride, t->weight_bits, t->shift, t->multiplier, t->addend);
    start_3x3(&window, t->input, t->output, t->weight);
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
    const window_t window = {
        .in_y = t->input_y, .in_x = t->input_x, .in_channels = t->k, .out_y = t->oy, .out_x = t->ox,
        .out_channels = t->k, .top = (uint8_t)t->input_y_pad_before, .bottom = (uint8_t)t->input_y_pad_after,
        .left = (uint8_t)t->input_x_pad_before, .right = (uint8_t)t->input_x_pad_after,
        .pad_value = (uint8_t)t->pad_value, .stride = (uint8_t)t->stride_x,
    };
    prepare(3, 1, window.stride, t->weight_bits, t->shift, t->multiplier, t->addend);
    start_3x3(&window, t->input, t->output, t->weight);
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
