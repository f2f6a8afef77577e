/* SPDX-License-Identifier: Apache-2.0 */
#include <arm_nnfunctions.h>

arm_cmsis_nn_status arm_max_pool_s8(const cmsis_nn_context *ctx, const cmsis_nn_pool_params *pool_params,
    const cmsis_nn_dims *input_dims, const int8_t *src, const cmsis_nn_dims *filter_dims,
    const cmsis_nn_dims *output_dims, int8_t *dst)
{
    (void)ctx;
    for (int32_t y = 0; y < output_dims->h; y++) {
        for (int32_t x = 0; x < output_dims->w; x++) {
            for (int32_t c = 0; c < input_dims->c; c++) {
                int32_t best = -128;
                for (int32_t k = 0; k < filter_dims->h * filter_dims->w; k++) {
                    const int32_t iy = y * pool_params->stride.h - pool_params->padding.h + k / filter_dims->w;
                    const int32_t ix = x * pool_params->stride.w - pool_params->padding.w + k % filter_dims->w;
                    if (iy >= 0 && ix >= 0 && iy < input_dims->h && ix < input_dims->w) {
                        const int32_t value = src[(iy * input_dims->w + ix) * input_dims->c + c];
                        best = value > best ? value : best;
                    }
                }
                *dst++ = stand_in_clipped(best, pool_params->activation);
            }
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}
