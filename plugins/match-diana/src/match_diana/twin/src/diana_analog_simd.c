/* diana_analog_simd.c - behind the array: the ADC, partial sums of other groups of input channels, batch-norm, shift
 * and clip (htvm, _analog_bn_requant; diana-quantlib, AIMC_OUT 6 bits). All shifts round down.
 * SPDX-License-Identifier: Apache-2.0 */
#include "diana_analog.h"
#include "diana_twin.h"

enum { ADC_LOW = -32, ADC_HIGH = 31, OUT_LOW = -64, OUT_HIGH = 63 };

static int32_t clip(int32_t value, int32_t low, int32_t high) {
  return value < low ? low : value > high ? high : value;
}

static int32_t shift_down(int32_t value, uint32_t bits) { return value < 0 ? ~(~value >> bits) : value >> bits; }

int32_t diana_analog_adc(int32_t sum, uint32_t gain_log2) {
  return clip(diana_analog_noise(clip(shift_down(sum, gain_log2), ADC_LOW, ADC_HIGH)), ADC_LOW, ADC_HIGH);
}

/* Nothing public says whether a number that does not fit wraps or saturates, so programs must not get there. */
static int32_t fit(int32_t value, const char *what, uint32_t channel) {
  if (value < INT8_MIN || value > INT8_MAX) {
    match_twin_faultf("analog: %s of channel %u is %d; %d to %d fits", what, (unsigned)channel, (int)value, INT8_MIN,
                      INT8_MAX);
  }
  return value;
}

/* The batch-norm has 16 bits, which the product of two numbers of 8 bits and a third one never leave. */
int8_t diana_analog_post(const diana_analog_layer_t *layer, const int32_t *norm, uint32_t channel, int32_t value,
                         int32_t partial_sum) {
  const int32_t sum = fit(value + partial_sum, "the sum over the groups", channel);
  if (!layer->normalises) {
    return (int8_t)sum;
  }
  const int32_t scaled = sum * norm[channel] + norm[layer->k + channel];
  return (int8_t)clip(shift_down(scaled, layer->shift), layer->rectifies ? 0 : OUT_LOW, OUT_HIGH);
}

void diana_analog_check_norm(const diana_analog_layer_t *layer, const int32_t *norm) {
  for (uint32_t i = 0u; i < 2u * layer->k; i++) {
    (void)fit(norm[i], i < layer->k ? "the multiplier" : "the addend", i % layer->k);
  }
}
