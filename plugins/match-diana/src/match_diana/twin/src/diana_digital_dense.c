/* diana_digital_dense.c - fully connected layers and sums of two tensors on the digital array.
 * SPDX-License-Identifier: Apache-2.0 */
#include "diana_digital.h"

#define BLOCK (DIANA_LANES * DIANA_LANES)

/* 128 bits, of which only the low 32 are used: the rest has to be their sign. */
static int32_t bias(const uint8_t *container) {
  uint32_t value = 0u;
  for (uint32_t byte = 0u; byte < 4u; byte++) {
    value |= (uint32_t)container[DIANA_REVERSED(byte)] << (8u * byte);
  }
  for (uint32_t byte = 4u; byte < DIANA_FC_BIAS_BYTES; byte++) {
    if (container[byte] != ((value >> 31) != 0u ? 0xFFu : 0u)) {
      match_twin_fault("a bias of a fully connected layer has more than 32 bits");
    }
  }
  return (int32_t)value;
}

static int32_t product(const diana_digital_job_t *job, const uint8_t *input, const uint8_t *weights, uint32_t lane) {
  uint32_t sum = 0u;
  for (uint32_t c = 0u; c < job->c; c++) {
    const uint32_t place = c / DIANA_LANES * BLOCK + lane * DIANA_LANES + c % DIANA_LANES;
    sum += (uint32_t)((int8_t)input[DIANA_REVERSED(c)] * (int8_t)weights[DIANA_REVERSED(place)]);
  }
  return (int32_t)sum;
}

void diana_digital_fully_connected(const diana_digital_job_t *job, const uint8_t *weights) {
  const uint8_t *const input = diana_l1(job->input, job->c, "input");
  uint8_t *const output = diana_l1(job->output, job->k, "output");
  const size_t block_bytes = DIANA_LANES * ((size_t)job->c + DIANA_FC_BIAS_BYTES);
  for (uint32_t k = 0u; k < job->k; k++) {
    const uint8_t *const block = weights + k / DIANA_LANES * block_bytes;
    const uint32_t lane = k % DIANA_LANES;
    const uint8_t *const container = block + (size_t)job->c * DIANA_LANES + lane * DIANA_FC_BIAS_BYTES;
    const uint32_t sum = (uint32_t)product(job, input, block, lane) + (uint32_t)bias(container);
    output[DIANA_REVERSED(k)] = diana_digital_output(job, (int32_t)sum);
  }
}

/* All three tensors lie in the same order, whichever that is. */
void diana_digital_sum(const diana_digital_job_t *job) {
  const uint8_t *const input = diana_l1(job->input, job->c, "input");
  const uint8_t *const other = diana_l1(job->other, job->c, "second input");
  uint8_t *const output = diana_l1(job->output, job->c, "output");
  for (uint32_t i = 0u; i < job->c; i++) {
    output[i] = diana_digital_output(job, (int8_t)input[i] + (int8_t)other[i]);
  }
}
