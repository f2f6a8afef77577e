/* diana_analog_noise.c - noise of the ADC's values, as in training (diana-quantlib, AnalogGaussianNoise): value times a
 * normal variate over 25, rounded. Off unless MATCH_DIANA_NOISE_SEED is set; the same seed gives the same noise.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "diana_analog.h"
#include "diana_twin.h"

#define SIGNAL_TO_NOISE 25.0 /* a ratio of amplitudes */
#define TWO_PI 6.283185307179586

static struct {
  bool is_known, is_on;
  uint64_t state;
} noise;

static void read_seed(void) {
  const char *const text = getenv("MATCH_DIANA_NOISE_SEED");
  char *end = NULL;
  noise.is_known = true;
  if (text == NULL || text[0] == '\0') {
    return;
  }
  errno = 0;
  noise.state = strtoull(text, &end, 10);
  if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0) {
    match_twin_faultf("MATCH_DIANA_NOISE_SEED is \"%s\"; it has to be a whole number of at most 64 bits", text);
  }
  noise.is_on = true;
}

/* SplitMix64 (Steele, Lea, Flood 2014): uniform in (0, 1). */
static double uniform(void) {
  uint64_t z = noise.state += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  z ^= z >> 31;
  return ((double)(z >> 11) + 0.5) / 9007199254740992.0;
}

/* Box and Muller's method; of each pair one is used. */
static double normal(void) {
  const double radius = sqrt(-2.0 * log(uniform()));
  return radius * cos(TWO_PI * uniform());
}

int32_t diana_analog_noise(int32_t value) {
  if (!noise.is_known) {
    read_seed();
  }
  return noise.is_on ? (int32_t)lrint(value + value * normal() / SIGNAL_TO_NOISE) : value;
}
