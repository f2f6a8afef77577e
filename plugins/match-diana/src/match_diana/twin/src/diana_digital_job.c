/* diana_digital_job.c - a trigger of the digital array: instruction and configuration from L2, weights into the weight
 * memory, and the job. SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "diana_digital.h"
#include "hwme_digital.h"

#define WORDS 32u
#define INSTRUCTIONS_WORDS 64u
#define CONFIGURATION_WORDS 16u

/* Words of an instruction, in order (sheet 4.2). */
enum {
  MODE, WEIGHT, INPUT, OUTPUT, C, K, CX, CY, PADDED_CX, SIZE_CHANNEL, FX, FY, OX, OY, ACTIVATION, WRITE,
  OUTPUT_CHANNEL_SIZE, DILATION, STOP, SHIFT, ZERO_PADDING, FIRST_UNKNOWN, STRIDED = 24
};

enum { NOWHERE = 0, CHANNELS = 1, ROWS = 2 };

static struct {
  uint8_t bytes[MATCH_DIANA_DIGITAL_WEIGHT_BYTES];
  size_t loaded;
} weight_memory;

/* ---- what nothing is known of ----------------------------------------------------------------------------------- */

static void need(bool holds, const char *field, uint32_t value) {
  if (!holds) {
    match_twin_faultf("digital instruction: %s is %u: public code writes nothing of the kind", field, (unsigned)value);
  }
}

static void check_unknown_words(const uint32_t *word) {
  for (uint32_t i = FIRST_UNKNOWN; i < WORDS; i++) {
    need(i == STRIDED || word[i] == 0u, "a word without public meaning", word[i]);
  }
}

/* Registers that public code leaves at 0: activations, output data, tiles, tables, sparsity, the weights' place. */
static void check_unknown_registers(void) {
  for (uint32_t offset = HWME_CONF_N + 4u; offset <= HWME_WT_MEM_ADDR; offset += 4u) {
    const bool is_copy = offset >= HWME_MEMCPY_OP && offset <= HWME_MEMCPY_ROW_LENGTH;
    if (!is_copy && diana_register(DIANA_DIGITAL, offset) != 0u) {
      match_twin_faultf("register 0x%02x of the digital array is not 0: what it does is not public", (unsigned)offset);
    }
  }
  if (diana_register(DIANA_DIGITAL, HWME_ACT_N) != 0u) {
    match_twin_fault("the digital array is told to load activations by itself: how is not public");
  }
}

static void check_configuration(uint32_t mode) {
  uint32_t words[CONFIGURATION_WORDS];
  if (diana_register(DIANA_DIGITAL, HWME_CONF_N) != CONFIGURATION_WORDS) {
    match_twin_fault("digital configuration: not 16 words");
  }
  diana_l2_words(diana_register(DIANA_DIGITAL, HWME_CONF_ADDR), words, CONFIGURATION_WORDS, "digital configuration");
  const bool conv = words[0] == 0x800u && words[1] == 0xFu && words[2] == 0u;
  const bool dense = words[0] == 0u && words[1] == 0u && words[2] == 0u;
  if (mode == DIANA_CONV ? !conv : mode == DIANA_FC ? !dense : false) {
    match_twin_faultf("digital configuration of mode %u: words 0x%x, 0x%x, 0x%x are not those of the kernel library",
                      (unsigned)mode, (unsigned)words[0], (unsigned)words[1], (unsigned)words[2]);
  }
}

/* ---- decoding --------------------------------------------------------------------------------------------------- */

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

static diana_digital_job_t decode(const uint32_t *word) {
  diana_digital_job_t job = {.mode = (diana_mode_t)word[MODE], .input = word[INPUT], .output = word[OUTPUT]};
  need(word[STOP] == 0u && word[WORDS + STOP] == 1u, "the stop bit, or that of the second one,", word[STOP]);
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

/* ---- weights ---------------------------------------------------------------------------------------------------- */

size_t diana_digital_weight_need(const diana_digital_job_t *job) {
  if (job->mode == DIANA_CONV) {
    return (size_t)job->k * ((size_t)job->c * job->fx * job->fy + DIANA_CONV_BIAS_BYTES);
  }
  return job->mode == DIANA_FC ? (size_t)job->k * (job->c + DIANA_FC_BIAS_BYTES) : 0u;
}

/* A count of 0 loads nothing. */
static void plan_fetch(diana_digital_job_t *job) {
  const bool conv = job->mode == DIANA_CONV;
  const uint32_t words = diana_register(DIANA_DIGITAL, conv ? HWME_WT_CONV_N : HWME_WT_FC_N);
  if (job->mode == DIANA_SUM) {
    return;
  }
  job->weights = diana_register(DIANA_DIGITAL, conv ? HWME_WT_CONV_ADDR : HWME_WT_FC_ADDR);
  if (words > MATCH_DIANA_DIGITAL_WEIGHT_BYTES / 4u || job->weights % 4u != 0u) {
    match_twin_faultf("%u words of weights at 0x%08x: the weight memory has %u bytes, addresses are multiples of 4",
                      (unsigned)words, (unsigned)job->weights, MATCH_DIANA_DIGITAL_WEIGHT_BYTES);
  }
  job->weight_bytes = 4u * words;
  weight_memory.loaded = words != 0u ? job->weight_bytes : weight_memory.loaded;
  if (diana_digital_weight_need(job) > weight_memory.loaded) {
    match_twin_faultf("a job uses %zu bytes of weights, and %zu are loaded", diana_digital_weight_need(job),
                      weight_memory.loaded);
  }
}

static void run(void *argument) {
  diana_digital_job_t job;
  memcpy(&job, argument, sizeof job);
  if (job.weight_bytes != 0u) {
    memcpy(weight_memory.bytes, diana_l2(job.weights, job.weight_bytes, false, "weights"), job.weight_bytes);
  }
  if (job.mode == DIANA_CONV) {
    diana_digital_conv(&job, weight_memory.bytes);
  } else if (job.mode == DIANA_FC) {
    diana_digital_fully_connected(&job, weight_memory.bytes);
  } else {
    diana_digital_sum(&job);
  }
}

void diana_digital_trigger(void) {
  uint32_t words[INSTRUCTIONS_WORDS];
  if (diana_register(DIANA_DIGITAL, HWME_IM_N) != INSTRUCTIONS_WORDS) {
    match_twin_fault("digital instructions: not 64 words");
  }
  diana_l2_words(diana_register(DIANA_DIGITAL, HWME_IM_ADDR), words, INSTRUCTIONS_WORDS, "digital instructions");
  check_unknown_registers();
  check_configuration(words[MODE]);
  diana_digital_job_t job = decode(words);
  diana_digital_check(&job);
  plan_fetch(&job);
  if (job.mode == DIANA_CONV) {
    job.valid_columns = (job.columns + 2u * job.side - job.fx) / job.stride + 1u;
  }
  const diana_step_t steps[] = {
      {MATCH_TWIN_CLOCK_DIGITAL, MATCH_DIANA_JOB_LOAD_CYCLES, "instructions"},
      {MATCH_TWIN_CLOCK_DIGITAL, job.weight_bytes != 0u ? diana_fetch_cycles(job.weight_bytes) : 0u, "weights"},
      {MATCH_TWIN_CLOCK_DIGITAL, diana_digital_cycles(&job), "digital job"},
  };
  if (job.mode != DIANA_SUM) { /* a sum may lie on one of its operands */
    diana_poison(diana_l1(job.output, diana_digital_output_bytes(&job), "output"), diana_digital_output_bytes(&job));
  }
  diana_run(DIANA_DIGITAL, steps, sizeof steps / sizeof steps[0], run, &job, sizeof job);
}
