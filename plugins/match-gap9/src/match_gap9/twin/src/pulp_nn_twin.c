/* pulp_nn_twin.c - arithmetic shared by the PULP-NN kernels of the twin. SPDX-License-Identifier: Apache-2.0 */
#include "pulp_nn_twin.h"

#include <string.h>

#include "pmsis.h"

static int smaller(int a, int b) { return a < b ? a : b; }

pulp_nn_share_t pulp_nn_share(int core, int count) {
  const int chunk = (count + NUM_CORES - 1) / NUM_CORES;
  const int start = smaller(chunk * core, count);
  return (pulp_nn_share_t){start, smaller(start + chunk, count)};
}

void pulp_nn_check_quant(const pulp_nn_quant_t *quant, uint32_t channels) {
  if (quant->relu < 0 || quant->relu > 1 || quant->batch_norm < 0 || quant->batch_norm > 1) {
    match_twin_faultf("%s: flags relu %d, batch norm %d; only 0 and 1 are defined", quant->kernel, quant->relu,
                      quant->batch_norm);
  }
  if (quant->out_shift > 31u) {
    match_twin_faultf("%s: a shift by %u", quant->kernel, quant->out_shift);
  }
  if (quant->batch_norm != 0 && quant->relu == 0) {
    match_twin_faultf("%s: batch norm without relu ignores kappa and lambda", quant->kernel);
  }
  if (quant->batch_norm != 0) {
    gap9_check_l1(quant->k, channels * sizeof(int32_t), "kappa");
    gap9_check_l1(quant->lambda, channels * sizeof(int32_t), "lambda");
  }
}

static uint8_t clip_u8(int32_t value) { return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value); }

static int16_t narrow(int32_t value) {
  const uint32_t low = (uint32_t)value & 0xFFFFu;
  return (int16_t)(low <= 0x7FFFu ? (int32_t)low : (int32_t)low - 0x10000);
}

uint8_t pulp_nn_quantise(const pulp_nn_quant_t *quant, int32_t sum, int channel) {
  if (quant->batch_norm != 0 && quant->relu != 0) {
    const uint32_t scaled = (uint32_t)quant->k[channel] * (uint32_t)sum + (uint32_t)quant->lambda[channel];
    return clip_u8(pulp_nn_wrap(scaled) >> quant->out_shift);
  }
  if (quant->relu != 0) {
    const int32_t multiplier = narrow(quant->out_mult);
    const int32_t scaled = pulp_nn_wrap((uint32_t)multiplier * (uint32_t)sum);
    return clip_u8(narrow(scaled >> quant->out_shift));
  }
  return clip_u8(sum >> quant->out_shift);
}

/* Weights are the same for all cores of a call and often for many calls: the last ones are kept. Their bytes are
 * compared, since L1 is reused. A row of one byte grows to 16 int16. */
static struct {
  const int8_t *data;
  size_t rows, length;
  int8_t bytes[MATCH_GAP9_L1_BYTES];
  int16_t wide[16u * MATCH_GAP9_L1_BYTES];
} widened;

const int16_t *pulp_nn_widen(const int8_t *data, size_t rows, size_t length) {
  const size_t padded = pulp_nn_padded(length);
  gap9_check_l1(data, rows * length, "weights");
  if (data == widened.data && rows == widened.rows && length == widened.length &&
      memcmp(data, widened.bytes, rows * length) == 0) {
    return widened.wide;
  }
  widened.data = data;
  widened.rows = rows;
  widened.length = length;
  memcpy(widened.bytes, data, rows * length);
  for (size_t row = 0u; row < rows; row++) {
    for (size_t i = 0u; i < length; i++) {
      widened.wide[row * padded + i] = data[row * length + i];
    }
    memset(&widened.wide[row * padded + length], 0, (padded - length) * sizeof(int16_t));
  }
  return widened.wide;
}
