/* ita_engine.c - the arithmetic of a job, from blocks in L1 to a block in L1 (ita_sumdotp.sv, ita_accumulator.sv,
 * ita_requantizer.sv, ita_gelu.sv). Sums have 26 bits and wrap. SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "ita_twin.h"

static struct {
  int8_t weights[ITA_SIDE][ITA_SIDE]; /* the first 16 lines come with the job before, or are preloaded */
  int16_t wide_input[ITA_SIDE][ITA_SIDE], wide_weights[ITA_SIDE][ITA_SIDE];
  int32_t sums[ITA_SIDE][ITA_SIDE]; /* the partial sums of a block */
  int8_t result[ITA_SIDE][ITA_SIDE];
} engine;

/* ---- L1 --------------------------------------------------------------------------------------------------------- */

/* ITA reads whole blocks, also behind a short one, where others may write: that is no race. */
#if defined(__SANITIZE_THREAD__)
__attribute__((no_sanitize("thread")))
#endif
static void read_l1(int8_t *to, const uint8_t *from, size_t bytes) {
  for (size_t i = 0u; i < bytes; i++) {
    to[i] = (int8_t)from[i];
  }
}

static void load_weights(uint32_t address, size_t first, size_t bytes) {
  read_l1(engine.weights[0] + first, ita_l1_pointer(address, bytes, "weights"), bytes);
}

/* ---- scaling ---------------------------------------------------------------------------------------------------- */

/* To the accumulator's bits. */
static int32_t wrap(int32_t value) {
  const uint32_t above = 32u - MATCH_ITA_ACCUMULATOR_BITS;
  return (int32_t)((uint32_t)value << above) >> above;
}

static int8_t clip(int64_t value) {
  return (int8_t)(value > INT8_MAX ? INT8_MAX : value < INT8_MIN ? INT8_MIN : value);
}

static int8_t requantise(const ita_requant_t *r, int32_t sum) {
  const int64_t product = (int64_t)r->multiplier * sum;
  const int64_t half = r->shift > 0u ? (product >> (r->shift - 1u)) & 1 : 0;
  return clip((product >> r->shift) + half + r->add);
}

static int32_t gelu(const ita_job_t *job, int32_t x) {
  const int64_t size = x < 0 ? -x : x;
  const int64_t edge = (size < -job->gelu_b ? size : -job->gelu_b) + job->gelu_b;
  const int64_t even = edge * edge + job->gelu_c;
  const int64_t result = x * ((x < 0 ? -even : even) + job->gelu_c);
  return wrap((int32_t)((uint64_t)result & UINT32_MAX));
}

static int8_t activate(const ita_job_t *job, int8_t x) {
  if (job->activation == ITA_IDENTITY) {
    return x;
  }
  return requantise(&job->activation_requant, job->activation == ITA_GELU ? gelu(job, x) : x > 0 ? x : 0);
}

/* ---- a job ------------------------------------------------------------------------------------------------------ */

static void widen(int16_t *to, const int8_t *from, size_t count) {
  for (size_t i = 0u; i < count; i++) {
    to[i] = from[i];
  }
}

/* Probabilities are made from the logits while they are read. */
static void load_input(const ita_job_t *job) {
  int8_t block[ITA_SIDE][ITA_SIDE];
  read_l1(block[0], ita_l1_pointer(job->input, sizeof block, "input"), sizeof block);
  for (uint32_t row = 0u; row < ITA_SIDE; row++) {
    if (job->step == ITA_AV) {
      ita_softmax_read(row, block[row], engine.wide_input[row]);
    } else {
      widen(engine.wide_input[row], block[row], ITA_SIDE);
    }
  }
}

static int32_t dot(const int16_t *a, const int16_t *b) {
  int32_t sum = 0;
  for (uint32_t i = 0u; i < ITA_SIDE; i++) {
    sum += a[i] * b[i];
  }
  return sum;
}

static void multiply(bool first) {
  for (uint32_t row = 0u; row < ITA_SIDE; row++) {
    for (uint32_t column = 0u; column < ITA_SIDE; column++) {
      const int32_t before = first ? 0 : engine.sums[row][column];
      engine.sums[row][column] = wrap(before + dot(engine.wide_input[row], engine.wide_weights[column]));
    }
  }
}

/* Bias `index` of 64: 24 bits, three bytes. */
static int32_t bias_at(const uint8_t *bias, uint32_t index) {
  const uint32_t bits = bias[3u * index] | (uint32_t)bias[3u * index + 1u] << 8 | (uint32_t)bias[3u * index + 2u] << 16;
  return (int32_t)(bits << 8) >> 8;
}

static void finish_rows(const ita_job_t *job) {
  int32_t bias[ITA_SIDE] = {0};
  const uint8_t *packed = job->has_bias ? ita_l1_pointer(job->bias, ITA_BIAS_BYTES, "bias") : NULL;
  for (uint32_t i = 0u; i < ITA_SIDE && packed != NULL; i++) {
    bias[i] = bias_at(packed, i);
  }
  for (uint32_t row = 0u; row < ITA_SIDE; row++) {
    for (uint32_t column = 0u; column < ITA_SIDE; column++) {
      const int32_t sum = wrap(engine.sums[row][column] + bias[job->bias_by_row ? row : column]);
      engine.result[row][column] = requantise(&job->requant, sum);
    }
  }
}

static void add_to_softmax(const ita_job_t *job) {
  for (uint32_t row = 0u; row < ITA_SIDE; row++) {
    for (uint32_t column = 0u; column < ITA_SIDE; column += ITA_GROUP) {
      const bool first = job->tile == 0u && column == 0u;
      const bool last = job->tile + 1u == job->columns && column + ITA_GROUP == ITA_SIDE;
      ita_softmax_add(row, &engine.result[row][column], first, last);
    }
  }
}

static void finish(const ita_job_t *job) {
  finish_rows(job);
  if (job->step == ITA_QK) {
    add_to_softmax(job);
  }
  for (uint32_t row = 0u; row < ITA_SIDE && job->activation != ITA_IDENTITY; row++) {
    for (uint32_t column = 0u; column < ITA_SIDE; column++) {
      engine.result[row][column] = activate(job, engine.result[row][column]);
    }
  }
  memcpy(ita_l1_pointer(job->output, ITA_BLOCK_BYTES, "output"), engine.result, ITA_BLOCK_BYTES);
}

void ita_compute(const ita_job_t *job) {
  const size_t here = job->preload ? 0u : ITA_BUFFER_BYTES;
  load_input(job);
  load_weights(job->weight + (uint32_t)here, here, ITA_BLOCK_BYTES - here);
  widen(engine.wide_weights[0], engine.weights[0], ITA_BLOCK_BYTES);
  if (job->nextload) {
    load_weights(job->next_weight, 0u, ITA_BUFFER_BYTES);
  }
  multiply(job->first_inner);
  if (job->last_inner) {
    finish(job);
  }
}
