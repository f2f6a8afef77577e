/* ita_softmax.c - ITAMax: maximum and sum of 64 rows, of which one group of 16 columns after the other comes in
 * (ita_softmax.sv). SPDX-License-Identifier: Apache-2.0 */
#include "ita_twin.h"

#define SUM_MASK 0x7FFFFu /* 19 bits */
#define ONE 256u

_Static_assert(MATCH_ITA_OUTPUT_OFFSET == 0u, "probabilities are multiplied as they are");

static struct {
  int32_t largest;
  uint32_t sum; /* the inverse behind the last group */
} rows[ITA_SIDE];

/* `value` for a logit that is `difference` below the largest. */
static uint32_t scaled(uint32_t value, uint32_t difference) {
  uint32_t shift = difference >> MATCH_ITA_SOFTMAX_SHIFT;
#if MATCH_ITA_SOFTMAX_SHIFT > 0
  shift += (difference >> (MATCH_ITA_SOFTMAX_SHIFT - 1u)) & 1u;
#endif
  return shift < 32u ? value >> shift : 0u;
}

void ita_softmax_add(uint32_t row, const int8_t *logits, bool first, bool last) {
  const int32_t before = first ? INT8_MIN : rows[row].largest;
  int32_t largest = before;
  for (uint32_t i = 0u; i < ITA_GROUP; i++) {
    largest = logits[i] > largest ? logits[i] : largest;
  }
  uint32_t sum = first ? 0u : scaled(rows[row].sum, (uint32_t)(largest - before));
  for (uint32_t i = 0u; i < ITA_GROUP; i++) {
    sum += scaled(ONE, (uint32_t)(largest - logits[i]));
  }
  rows[row].largest = largest;
  rows[row].sum = last ? MATCH_ITA_SOFTMAX_NUMERATOR / (sum & SUM_MASK) : sum & SUM_MASK;
}

void ita_softmax_read(uint32_t row, const int8_t *logits, int16_t *probabilities) {
  const int32_t largest = rows[row].largest;
  const uint32_t inverse = rows[row].sum;
  for (uint32_t i = 0u; i < ITA_SIDE; i++) {
    probabilities[i] = (int16_t)(scaled(inverse, (uint32_t)(largest - logits[i]) & 0xFFu) & 0xFFu);
  }
}
