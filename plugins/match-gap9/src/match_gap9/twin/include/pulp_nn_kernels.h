/* pulp_nn_kernels.h - PULP-NN (32-bit library) kernels that emitted programs call; GAP9 twin version.
 *
 * Prototypes agree with the published header in name, order and type. All functions are called by every core of
 * the team (pi_cl_team_fork with NUM_CORES) and end in a barrier. All data lie in L1.
 * Activations are uint8 HWC, weights int8 (Ko, Ky, Kx, Ci), outputs uint8. The real header includes nothing and
 * expects pmsis.h before it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_GAP9_TWIN_PULP_NN_KERNELS_H
#define MATCH_GAP9_TWIN_PULP_NN_KERNELS_H

#include <stdint.h>

void pulp_nn_conv_Ho_parallel(
    const uint8_t *pInBuffer, uint8_t *pIm2ColBuffer, const int8_t *bias, uint8_t *pOutBuffer, const int8_t *pWeight,
    int32_t *k, int32_t *lambda, const uint16_t out_mult, const uint16_t out_shift, const uint16_t dim_in_x,
    const uint16_t dim_in_y, const uint16_t ch_in, const uint16_t dim_out_x, const uint16_t dim_out_y,
    const uint16_t ch_out, const uint16_t dim_kernel_x, const uint16_t dim_kernel_y, const uint16_t padding_y_top,
    const uint16_t padding_y_bottom, const uint16_t padding_x_left, const uint16_t padding_x_right,
    const uint16_t stride_x, const uint16_t stride_y, int flag_relu, int flag_batch_norm);

void pulp_nn_pointwise_Ho_parallel(
    const uint8_t *pInBuffer, uint8_t *pIm2ColBuffer, const int8_t *bias, uint8_t *pOutBuffer, const int8_t *pWeight,
    int32_t *k, int32_t *lambda, const uint16_t out_mult, const uint16_t out_shift, const uint16_t dim_in_x,
    const uint16_t dim_in_y, const uint16_t ch_in, const uint16_t dim_out_x, const uint16_t dim_out_y,
    const uint16_t ch_out, const uint16_t dim_kernel_x, const uint16_t dim_kernel_y, const uint16_t padding_y_top,
    const uint16_t padding_y_bottom, const uint16_t padding_x_left, const uint16_t padding_x_right,
    const uint16_t stride_x, const uint16_t stride_y, int flag_relu, int flag_batch_norm);

/* Input CHW, output HWC, weights (C, Ky, Kx). */
void pulp_nn_depthwise_generic(
    const uint8_t *Im_in, uint8_t *bufferC, const int8_t *bias, uint8_t *Im_out, const int8_t *wt, uint8_t *bufferB,
    int32_t *k, int32_t *lambda, uint16_t out_mult, uint16_t out_shift, const uint16_t dim_im_in_x,
    const uint16_t dim_im_in_y, const uint16_t ch_im_in, const uint16_t dim_im_out_x, const uint16_t dim_im_out_y,
    const uint16_t ch_im_out, const uint16_t dim_kernel_x, const uint16_t dim_kernel_y,
    const uint16_t padding_y_top, const uint16_t padding_y_bottom, const uint16_t padding_x_left,
    const uint16_t padding_x_right, const uint16_t stride_x, const uint16_t stride_y, int8_t FLAG_RELU,
    int8_t FLAG_BATCH_NORM);

void pulp_nn_depthwise_generic_less_4_weights(
    const uint8_t *Im_in, uint8_t *bufferC, const int8_t *bias, uint8_t *Im_out, const int8_t *wt, uint8_t *bufferB,
    int32_t *k, int32_t *lambda, uint16_t out_mult, uint16_t out_shift, const uint16_t dim_im_in_x,
    const uint16_t dim_im_in_y, const uint16_t ch_im_in, const uint16_t dim_im_out_x, const uint16_t dim_im_out_y,
    const uint16_t ch_im_out, const uint16_t dim_kernel_x, const uint16_t dim_kernel_y,
    const uint16_t padding_y_top, const uint16_t padding_y_bottom, const uint16_t padding_x_left,
    const uint16_t padding_x_right, const uint16_t stride_x, const uint16_t stride_y, int8_t FLAG_RELU,
    int8_t FLAG_BATCH_NORM);

void pulp_nn_linear(uint8_t *pInBuffer, int8_t *bias, uint8_t *pOutBuffer, int8_t *pWeights, int32_t *k,
                    int32_t *lambda, uint16_t out_mult, int8_t out_shift, uint16_t dim_vec, uint16_t num_o_neurons,
                    int flag_relu, int flag_batch_norm);

#endif
