/* SPDX-License-Identifier: Apache-2.0 */
/* A stand-in for CMSIS-NN, written for these tests: the structures and functions that match-cmsisnn calls, with the
 * signatures that the library documents. Loops are plain, sizes of buffers are those of the real library's plain C. */
#ifndef STAND_IN_ARM_NNFUNCTIONS_H
#define STAND_IN_ARM_NNFUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

typedef enum { ARM_CMSIS_NN_SUCCESS = 0, ARM_CMSIS_NN_ARG_ERROR = -1 } arm_cmsis_nn_status;
typedef struct { int32_t w, h; } cmsis_nn_tile;
typedef struct { void *buf; int32_t size; } cmsis_nn_context;
typedef struct { int32_t n, h, w, c; } cmsis_nn_dims;
typedef struct { int32_t min, max; } cmsis_nn_activation;
typedef struct { int32_t *multiplier, *shift; } cmsis_nn_per_channel_quant_params;
typedef struct { int32_t *multiplier, *shift, is_per_channel; } cmsis_nn_quant_params;
typedef struct {
    int32_t input_offset, output_offset;
    cmsis_nn_tile stride, padding, dilation;
    cmsis_nn_activation activation;
} cmsis_nn_conv_params;
typedef struct {
    int32_t input_offset, output_offset, ch_mult;
    cmsis_nn_tile stride, padding, dilation;
    cmsis_nn_activation activation;
} cmsis_nn_dw_conv_params;
typedef struct {
    int32_t input_offset, filter_offset, output_offset;
    cmsis_nn_activation activation;
} cmsis_nn_fc_params;
typedef struct { cmsis_nn_tile stride, padding; cmsis_nn_activation activation; } cmsis_nn_pool_params;

/* round(value * multiplier * 2^shift / 2^31), once. */
static inline int32_t stand_in_scaled(int32_t value, int32_t multiplier, int32_t shift)
{
    return (int32_t)(((int64_t)value * multiplier + ((int64_t)1 << (30 - shift))) >> (31 - shift));
}

static inline int8_t stand_in_clipped(int32_t value, cmsis_nn_activation bounds)
{
    return (int8_t)(value < bounds.min ? bounds.min : value > bounds.max ? bounds.max : value);
}

arm_cmsis_nn_status arm_convolve_wrapper_s8(const cmsis_nn_context *, const cmsis_nn_conv_params *,
    const cmsis_nn_per_channel_quant_params *, const cmsis_nn_dims *, const int8_t *, const cmsis_nn_dims *,
    const int8_t *, const cmsis_nn_dims *, const int32_t *, const cmsis_nn_dims *, int8_t *);
int32_t arm_convolve_wrapper_s8_get_buffer_size(
    const cmsis_nn_conv_params *, const cmsis_nn_dims *, const cmsis_nn_dims *, const cmsis_nn_dims *);
arm_cmsis_nn_status arm_depthwise_conv_wrapper_s8(const cmsis_nn_context *, const cmsis_nn_dw_conv_params *,
    const cmsis_nn_per_channel_quant_params *, const cmsis_nn_dims *, const int8_t *, const cmsis_nn_dims *,
    const int8_t *, const cmsis_nn_dims *, const int32_t *, const cmsis_nn_dims *, int8_t *);
int32_t arm_depthwise_conv_wrapper_s8_get_buffer_size(
    const cmsis_nn_dw_conv_params *, const cmsis_nn_dims *, const cmsis_nn_dims *, const cmsis_nn_dims *);
arm_cmsis_nn_status arm_fully_connected_wrapper_s8(const cmsis_nn_context *, const cmsis_nn_fc_params *,
    const cmsis_nn_quant_params *, const cmsis_nn_dims *, const int8_t *, const cmsis_nn_dims *, const int8_t *,
    const cmsis_nn_dims *, const int32_t *, const cmsis_nn_dims *, int8_t *);
arm_cmsis_nn_status arm_avgpool_s8(const cmsis_nn_context *, const cmsis_nn_pool_params *, const cmsis_nn_dims *,
    const int8_t *, const cmsis_nn_dims *, const cmsis_nn_dims *, int8_t *);
int32_t arm_avgpool_s8_get_buffer_size(const int, const int);
arm_cmsis_nn_status arm_max_pool_s8(const cmsis_nn_context *, const cmsis_nn_pool_params *, const cmsis_nn_dims *,
    const int8_t *, const cmsis_nn_dims *, const cmsis_nn_dims *, int8_t *);
arm_cmsis_nn_status arm_elementwise_add_s8(const int8_t *, const int8_t *, const int32_t, const int32_t,
    const int32_t, const int32_t, const int32_t, const int32_t, const int32_t, int8_t *, const int32_t, const int32_t,
    const int32_t, const int32_t, const int32_t, const int32_t);

#endif
