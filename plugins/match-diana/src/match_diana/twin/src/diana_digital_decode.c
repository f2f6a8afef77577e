/* diana_digital_decode.c - an instruction of the digital array (sheet 4.2). What public code never writes is a fault:
 * what it would do is not public. SPDX-License-Identifier: Apache-2.0 */
#include "diana_digital.h"

/* Words of an instruction, in order. */
enum {
  MODE, WEIGHT, INPUT, OUTPUT, C, K, CX, CY, PADDED_CX, SIZE_CHANNEL, FX, FY, OX, OY, ACTIVATION, WRITE,
  OUTPUT_CHANNEL_SIZE, DILATION, STOP, SHIFT, ZERO_PADDING, FIRST_UNKNOWN, STRIDED = 24
};

enum { NOWHERE = 0, CHANNELS = 1, ROWS = 2 };

static void need(bool holds, const char *field, uint32_t value) {
  if (!holds) {
    match_twin_faultf("digital instruction: %s is %u: public code writes nothing of the kind", field, (unsigned)value);
  }
}

static void check_unknown_words(const uint32_t *word) {
  for (uint32_t i = FIRST_UNKNOWN; i < DIANA_INSTRUCTION_WORDS; i++) {
    need(i == STRIDED || word[i] == 0u, "a word without public meaning", word[i]);
  }
}

static void decode_conv(const uint32_t *word, diana_digital_job_t *job) {
  const uint32_t pad = word[ZERO_PADDING], empty = pad >> 4 & 15u;
  job->c = word[C];
  job->k = word[K] * DIANA_LANES;
  job->cx = word[CX];
  job->cy = word[CY];
  job->fx = word[FX];
  job->fy = word[FY];
  job->stride = word[STRIDED] + 1u;
  job->side = pad & 15u;
  job->top = pad >> 8 & 15u;
  job->bottom = pad >> 12 & 15u;
  job->ox = word[OX] * DIANA_LANES;
  job->oy = word[OY];
  job->by_channels = word[WRITE] == CHANNELS;
  need(pad >> 16 == 0u, "padding", pad);
  need(empty < job->cx, "the number of empty columns (padding, bits 4 to 7)", empty);
  job->columns = job->cx - empty;
  need(word[PADDED_CX] == word[CX], "padded cx, unlike cx", word[PADDED_CX]);
  need(word[SIZE_CHANNEL] == word[CX] * word[CY], "channel size, unlike cx * cy", word[SIZE_CHANNEL]);
  need(word[OUTPUT_CHANNEL_SIZE] == job->ox * job->oy, "output channel size, unlike 16 * (ox / 16) * oy",
       word[OUTPUT_CHANNEL_SIZE]);
  need(word[WRITE] == ROWS || word[WRITE] == CHANNELS, "write_l2_l1", word[WRITE]);
  need(word[DILATION] == 1u, "dilation", word[DILATION]);
  need(word[STRIDED] <= 1u, "stride - 1", word[STRIDED]);
  need(word[WEIGHT] == 0u, "the weights' pointer", word[WEIGHT]);
}

static void check_no_shape(const uint32_t *word) {
  for (uint32_t i = CX; i <= OUTPUT_CHANNEL_SIZE; i++) {
    need(i == ACTIVATION || i == WRITE || word[i] == 0u, "a size in a job without columns", word[i]);
  }
  need(word[ZERO_PADDING] == 0u && word[STRIDED] == 0u, "padding or stride in a job without columns",
       word[ZERO_PADDING]);
}

static void decode_dense(const uint32_t *word, diana_digital_job_t *job) {
  check_no_shape(word);
  need(word[WRITE] == ROWS && word[DILATION] == 1u, "write_l2_l1 or dilation", word[WRITE]);
  need(word[WEIGHT] == 0u, "the weights' pointer", word[WEIGHT]);
  job->c = word[C] * DIANA_LANES;
  job->k = word[K] * DIANA_LANES;
}

static void decode_sum(const uint32_t *word, diana_digital_job_t *job) {
  check_no_shape(word);
  need(word[K] == 0u && word[WRITE] == NOWHERE && word[DILATION] == 0u, "k, write_l2_l1 or dilation", word[K]);
  need(word[ACTIVATION] == 0u, "the activation of a sum", word[ACTIVATION]);
  job->c = word[C] * DIANA_LANES;
  job->other = word[WEIGHT];
}

diana_digital_job_t diana_digital_decode(const uint32_t *word) {
  diana_digital_job_t job = {.mode = (diana_mode_t)word[MODE], .input = word[INPUT], .output = word[OUTPUT]};
  need(word[STOP] == 0u && word[DIANA_INSTRUCTION_WORDS + STOP] == 1u, "the stop bit, or that of the second one,",
       word[STOP]);
  need(word[ACTIVATION] <= 1u, "the activation", word[ACTIVATION]);
  need(word[SHIFT] <= 31u, "the shift", word[SHIFT]);
  check_unknown_words(word);
  job.relu = word[ACTIVATION] == 1u;
  job.shift = word[SHIFT];
  if (word[MODE] == DIANA_CONV) {
    decode_conv(word, &job);
  } else if (word[MODE] == DIANA_FC) {
    decode_dense(word, &job);
  } else {
    need(word[MODE] == DIANA_SUM, "the mode", word[MODE]);
    decode_sum(word, &job);
  }
  return job;
}
