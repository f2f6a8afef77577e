/* SPDX-License-Identifier: Apache-2.0 */
#include <arm_nnfunctions.h>

arm_cmsis_nn_status arm_convolve_wrapper_s8(const cmsis_nn_context *ctx, const cmsis_nn_conv_params *conv_params,
    const cmsis_nn_per_channel_quant_params *quant_params, const cmsis_nn_dims *input_dims, const int8_t *input_data,
    const cmsis_nn_dims *filter_dims, const int8_t *filter_data, const cmsis_nn_dims *bias_dims,
    const int32_t *bias_data, const cmsis_nn_dims *output_dims, int8_t *output_data)
{
    (void)bias_dims;
    if (arm_convolve_wrapper_s8_get_buffer_size(conv_params, input_dims, filter_dims, output_dims) > ctx->size) {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t y = 0; y < output_dims->h; y++) {
        for (int32_t x = 0; x < output_dims->w; x++) {
            for (int32_t o = 0; o < output_dims->c; o++) {
                int32_t sum = bias_data[o];
                for (int32_t ky = 0; ky < filter_dims->h; ky++) {
                    for (int32_t kx = 0; kx < filter_dims->w; kx++) {
                        const int32_t iy = y * conv_params->stride.h - conv_params->padding.h + ky;
                        const int32_t ix = x * conv_params->stride.w - conv_params->padding.w + kx;
                        if (iy < 0 || ix < 0 || iy >= input_dims->h || ix >= input_dims->w) {
                            continue;
                        }
                        for (int32_t i = 0; i < filter_dims->c; i++) {
                            const int32_t tap = (o * filter_dims->h + ky) * filter_dims->w + kx;
                            sum += (input_data[(iy * input_dims->w + ix) * filter_dims->c + i]
                                       + conv_params->input_offset)
                                * filter_data[tap * filter_dims->c + i];
                        }
                    }
                }
                *output_data++ = stand_in_clipped(
                    stand_in_scaled(sum, quant_params->multiplier[o], quant_params->shift[o])
                        + conv_params->output_offset,
                    conv_params->activation);
            }
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}
