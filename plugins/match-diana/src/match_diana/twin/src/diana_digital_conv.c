/* diana_digital_conv.c - convolution of the digital array: 16 columns of a row by 16 output channels at a time, sums of
 * 32 bits that wrap (the array's own width is not public; sheet 5.1). SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "diana_digital.h"

/* Columns for which the layer has no window: what the array writes there is not public. Never 0, never the same for
 * neighbours, so that a reader who takes them for data is found. */
static uint8_t junk(uint32_t k, uint32_t y, uint32_t x) { return (uint8_t)(0x40u | ((x + 5u * y + 11u * k) & 0x3Fu)); }

uint8_t diana_digital_output(const diana_digital_job_t *job, int32_t sum) {
  const int32_t lowest = job->relu ? 0 : -128;
  const int32_t value = sum >> job->shift; /* arithmetic: rounds down */
  return (uint8_t)(value < lowest ? lowest : value > 127 ? 127 : value);
}

/* Byte planes of 16 biases behind the block's weights. */
static int32_t bias(const uint8_t *planes, uint32_t lane) {
  uint32_t value = 0u;
  for (uint32_t plane = 0u; plane < DIANA_CONV_BIAS_BYTES; plane++) {
    value |= (uint32_t)planes[plane * DIANA_LANES + DIANA_REVERSED(lane)] << (8u * plane);
  }
  return (int32_t)value;
}

static void output_place(const diana_digital_job_t *job, uint32_t k, uint32_t y, uint32_t x, uint8_t value) {
  uint32_t place = (k * job->oy + y) * job->ox + x;
  if (job->by_channels) {
    place = ((k / DIANA_GROUP * job->oy + y) * job->ox + x) * DIANA_GROUP + k % DIANA_GROUP;
  }
  diana_l1(job->output, diana_digital_output_bytes(job), "output")[DIANA_REVERSED(place)] = value;
}

/* Adds one tap: `taps` are the weights of 16 outputs, `first` is the column of the first window. */
static void add_tap(const diana_digital_job_t *job, const uint8_t *channel, uint32_t row_start, int64_t first,
                    const uint8_t *taps, uint32_t sums[DIANA_LANES][DIANA_LANES]) {
  int32_t weights[DIANA_LANES];
  for (uint32_t lane = 0u; lane < DIANA_LANES; lane++) {
    weights[lane] = (int8_t)taps[DIANA_REVERSED(lane)];
  }
  for (uint32_t column = 0u; column < DIANA_LANES; column++) {
    const int64_t x = first + (int64_t)column * job->stride;
    if (x < 0 || x >= (int64_t)job->columns) {
      continue;
    }
    const int32_t value = (int8_t)channel[DIANA_REVERSED(row_start + (uint32_t)x)];
    for (uint32_t lane = 0u; lane < DIANA_LANES; lane++) {
      sums[column][lane] += (uint32_t)(value * weights[lane]);
    }
  }
}

static void add_row(const diana_digital_job_t *job, const uint8_t *weights, uint32_t y, uint32_t x,
                    uint32_t sums[DIANA_LANES][DIANA_LANES]) {
  const uint8_t *const input = diana_l1(job->input, diana_digital_input_bytes(job), "input");
  for (uint32_t c = 0u; c < job->c; c++) {
    for (uint32_t fy = 0u; fy < job->fy; fy++) {
      const uint32_t padded = y * job->stride + fy;
      if (padded < job->top || padded - job->top >= job->cy) {
        continue;
      }
      for (uint32_t fx = 0u; fx < job->fx; fx++) {
        const uint8_t *const taps = weights + ((c * job->fy + fy) * job->fx + fx) * DIANA_LANES;
        const int64_t first = (int64_t)x * job->stride + fx - job->side;
        add_tap(job, input + (size_t)c * job->cx * job->cy, (padded - job->top) * job->cx, first, taps, sums);
      }
    }
  }
}

static void compute_tile(const diana_digital_job_t *job, const uint8_t *weights, uint32_t k, uint32_t y, uint32_t x) {
  const uint8_t *const planes = weights + (size_t)job->c * job->fx * job->fy * DIANA_LANES;
  uint32_t sums[DIANA_LANES][DIANA_LANES] = {{0u}};
  add_row(job, weights, y, x, sums);
  for (uint32_t column = 0u; column < DIANA_LANES; column++) {
    for (uint32_t lane = 0u; lane < DIANA_LANES; lane++) {
      const int32_t sum = (int32_t)(sums[column][lane] + (uint32_t)bias(planes, lane));
      const bool is_valid = x + column < diana_digital_valid_columns(job);
      const uint8_t value = is_valid ? diana_digital_output(job, sum) : junk(k + lane, y, x + column);
      output_place(job, k + lane, y, x + column, value);
    }
  }
}

void diana_digital_conv(const diana_digital_job_t *job, const uint8_t *weights) {
  const size_t block_bytes = DIANA_LANES * ((size_t)job->c * job->fx * job->fy + DIANA_CONV_BIAS_BYTES);
  for (uint32_t k = 0u; k < job->k; k += DIANA_LANES) {
    for (uint32_t y = 0u; y < job->oy; y++) {
      for (uint32_t x = 0u; x < job->ox; x += DIANA_LANES) {
        compute_tile(job, weights + k / DIANA_LANES * block_bytes, k, y, x);
      }
    }
  }
}
