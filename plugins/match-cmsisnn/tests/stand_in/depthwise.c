/* SPDX-License-Identifier: Apache-2.0 */
#include <arm_nnfunctions.h>

int32_t arm_depthwise_conv_wrapper_s8_get_buffer_size(const cmsis_nn_dw_conv_params *dw_conv_params,
    const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims, const cmsis_nn_dims *output_dims)
{
    (void)dw_conv_params;
    (void)output_dims;
    return 2 * input_dims->c * filter_dims->h * filter_dims->w;
}

arm_cmsis_nn_status arm_depthwise_conv_wrapper_s8(const cmsis_nn_context *ctx,
    const cmsis_nn_dw_conv_params *dw_conv_params, const cmsis_nn_per_channel_quant_params *quant_params,
    const cmsis_nn_dims *input_dims, const int8_t *input, const cmsis_nn_dims *filter_dims, const int8_t *filter,
    const cmsis_nn_dims *bias_dims, const int32_t *bias, const cmsis_nn_dims *output_dims, int8_t *output)
{
    (void)ctx;
    (void)bias_dims;
    for (int32_t y = 0; y < output_dims->h; y++) {
        for (int32_t x = 0; x < output_dims->w; x++) {
            for (int32_t c = 0; c < output_dims->c; c++) {
                int32_t sum = bias[c];
                for (int32_t ky = 0; ky < filter_dims->h; ky++) {
                    for (int32_t kx = 0; kx < filter_dims->w; kx++) {
                        const int32_t iy = y * dw_conv_params->stride.h - dw_conv_params->padding.h + ky;
                        const int32_t ix = x * dw_conv_params->stride.w - dw_conv_params->padding.w + kx;
                        if (iy >= 0 && ix >= 0 && iy < input_dims->h && ix < input_dims->w) {
                            sum += (input[(iy * input_dims->w + ix) * input_dims->c + c]
                                       + dw_conv_params->input_offset)
                                * filter[(ky * filter_dims->w + kx) * filter_dims->c + c];
                        }
                    }
                }
                *output++ = stand_in_clipped(
                    stand_in_scaled(sum, quant_params->multiplier[c], quant_params->shift[c])
                        + dw_conv_params->output_offset,
                    dw_conv_params->activation);
            }
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}
