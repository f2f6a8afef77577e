/* SPDX-License-Identifier: Apache-2.0 */
#include <arm_nnfunctions.h>

int32_t arm_avgpool_s8_get_buffer_size(const int output_x, const int ch_src)
{
    (void)output_x;
    return 4 * ch_src;
}

arm_cmsis_nn_status arm_avgpool_s8(const cmsis_nn_context *ctx, const cmsis_nn_pool_params *pool_params,
    const cmsis_nn_dims *input_dims, const int8_t *src, const cmsis_nn_dims *filter_dims,
    const cmsis_nn_dims *output_dims, int8_t *dst)
{
    const int32_t count = filter_dims->h * filter_dims->w;
    (void)ctx;
    for (int32_t y = 0; y < output_dims->h; y++) {
        for (int32_t x = 0; x < output_dims->w; x++) {
            for (int32_t c = 0; c < input_dims->c; c++) {
                int32_t sum = 0;
                for (int32_t k = 0; k < count; k++) {
                    const int32_t row = y * pool_params->stride.h + k / filter_dims->w;
                    const int32_t column = x * pool_params->stride.w + k % filter_dims->w;
                    sum += src[(row * input_dims->w + column) * input_dims->c + c];
                }
                sum = (sum > 0 ? sum + count / 2 : sum - count / 2) / count;
                *dst++ = stand_in_clipped(sum, pool_params->activation);
            }
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}
