/* SPDX-License-Identifier: Apache-2.0 */
#include <arm_nnfunctions.h>

int32_t arm_convolve_wrapper_s8_get_buffer_size(const cmsis_nn_conv_params *conv_params,
    const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims, const cmsis_nn_dims *output_dims)
{
    const int32_t window = filter_dims->h * filter_dims->w * filter_dims->c;
    (void)input_dims;
    (void)output_dims;
    (void)conv_params;
    return filter_dims->h * filter_dims->w == 1 ? 0 : 4 * ((window + 3) / 4 * 4);
}
