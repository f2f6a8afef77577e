/* pulp_nn_twin.h - arithmetic shared by the PULP-NN kernels of the twin. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_GAP9_PULP_NN_TWIN_H
#define MATCH_GAP9_PULP_NN_TWIN_H

#include <stddef.h>
#include <stdint.h>

#include "gap9_twin.h"
#include "match_gap9_charge.h"

/* The running core has executed a term of the cost model `times` times; terms cost nothing where the preset takes the
 * published formulas. */
#define PULP_NN_COUNT(kernel, term, times) \
  match_gap9_twin_count(kernel, (uint64_t)(times) * MATCH_GAP9_SDK_##term##_CYCLES)
/* A call of a kernel in a preset of published formulas. */
static inline void pulp_nn_charge(const char *kernel, uint64_t cycles) {
  gap9_charge_kernel(kernel, MATCH_GAP9_COUNTED != 0u ? 0u : cycles);
}

/* Half-open share of one core. */
typedef struct {
  int start, stop;
} pulp_nn_share_t;

/* Equal chunks over all cores, as the convolution, depthwise and linear kernels split their work. */
pulp_nn_share_t pulp_nn_share(int core, int count);

/* How sums become uint8. With both flags: (k*sum + lambda) >> shift per channel in wrapping int32. With relu only:
 * (out_mult*sum) >> shift narrowed to int16 before the clip. Without relu: sum >> shift. */
typedef struct {
  const char *kernel;
  const int32_t *k, *lambda;
  uint16_t out_mult, out_shift;
  int relu, batch_norm;
} pulp_nn_quant_t;

/* Faults on flags other than 0 and 1, shifts above 31 and parameters outside of L1 for `channels`. */
void pulp_nn_check_quant(const pulp_nn_quant_t *quant, uint32_t channels);
uint8_t pulp_nn_quantise(const pulp_nn_quant_t *quant, int32_t sum, int channel);

static inline size_t volume(int a, int b, int c) { return (size_t)a * (size_t)b * (size_t)c; }

/* Wrapping int32 arithmetic of the cores. */
static inline int32_t pulp_nn_wrap(uint32_t bits) {
  return bits <= (uint32_t)INT32_MAX ? (int32_t)bits : -(int32_t)(UINT32_MAX - bits) - 1;
}

/* `rows` rows of `length` int8 as int16, each padded with zeros to pulp_nn_padded(length). The result stays valid
 * until the next call with other data. */
const int16_t *pulp_nn_widen(const int8_t *data, size_t rows, size_t length);

static inline size_t pulp_nn_padded(size_t length) { return (length + 15u) & ~(size_t)15u; }

/* Sum of products of two zero-padded rows; `padded` is a multiple of 16, which lets the loop become SIMD. The
 * kernels keep length below 65536, so |sum| < 2^31. */
static inline int32_t pulp_nn_dot(const int16_t *a, const int16_t *b, size_t padded) {
  int32_t sum = 0;
  padded &= ~(size_t)15u;
  for (size_t i = 0u; i < padded; i++) {
    sum += (int32_t)a[i] * (int32_t)b[i];
  }
  return sum;
}

#endif
