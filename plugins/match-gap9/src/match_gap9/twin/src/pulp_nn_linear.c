/* pulp_nn_linear.c - the PULP-NN dense layer, bit exact to the published 32-bit library, which adds an int8 bias to the
 * raw sum. SPDX-License-Identifier: Apache-2.0 */
#include "pmsis.h"
#include "pulp_nn_kernels.h"
#include "pulp_nn_twin.h"

static int32_t row_sum(const uint8_t *in, const int8_t *weights, int length) {
  int32_t sum = 0;
  for (int i = 0; i < length; i++) {
    sum += (int32_t)in[i] * (int32_t)weights[i];
  }
  return sum;
}

void pulp_nn_linear(uint8_t *pInBuffer, int8_t *bias, uint8_t *pOutBuffer, int8_t *pWeights, int32_t *k,
                    int32_t *lambda, uint16_t out_mult, int8_t out_shift, uint16_t dim_vec, uint16_t num_o_neurons,
                    int flag_relu, int flag_batch_norm) {
  const char *name = "pulp_nn_linear";
  const uint16_t shift = (uint16_t)(out_shift < 0 ? UINT16_MAX : out_shift);
  const pulp_nn_quant_t quant = {name, k, lambda, out_mult, shift, flag_relu, flag_batch_norm};
  const int core = gap9_enter_kernel(name);
  pulp_nn_charge(name, gap9_cost_linear(dim_vec, num_o_neurons));
  gap9_check_l1(pInBuffer, dim_vec, "linear input");
  gap9_check_l1(pOutBuffer, num_o_neurons, "linear output");
  gap9_check_l1(pWeights, volume(dim_vec, num_o_neurons, 1), "linear weights");
  if (bias != NULL) {
    gap9_check_l1(bias, num_o_neurons, "linear bias");
  }
  pulp_nn_check_quant(&quant, num_o_neurons);
  const pulp_nn_share_t share = pulp_nn_share(core, num_o_neurons);
  const uint64_t outputs = (uint64_t)(share.stop - share.start);
  PULP_NN_COUNT(name, LINEAR_ROW, 1u);
  PULP_NN_COUNT(name, LINEAR_OUTPUT, outputs);
  PULP_NN_COUNT(name, LINEAR_WORD, outputs * (dim_vec / 4u));
  PULP_NN_COUNT(name, LINEAR_TAP, outputs * (dim_vec % 4u));
  for (int i = share.start; i < share.stop; i++) {
    const uint32_t start = (uint32_t)(bias != NULL ? bias[i] : 0);
    const uint32_t sum = start + (uint32_t)row_sum(pInBuffer, pWeights + volume(i, dim_vec, 1), dim_vec);
    pOutBuffer[i] = pulp_nn_quantise(&quant, pulp_nn_wrap(sum), i);
  }
  pi_cl_team_barrier(0);
}
