/* diana_digital_job.c - a trigger of the digital array: instruction and configuration from L2, weights into the weight
 * memory, and the job. SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "diana_digital.h"
#include "hwme_digital.h"

#define LOADED_WORDS (2u * DIANA_INSTRUCTION_WORDS)
#define CONFIGURATION_WORDS 16u

static struct {
  uint8_t bytes[MATCH_DIANA_DIGITAL_WEIGHT_BYTES];
  size_t loaded;
} weight_memory;

/* ---- registers -------------------------------------------------------------------------------------------------- */

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

static void check_configuration(diana_mode_t mode) {
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
  uint32_t words[LOADED_WORDS];
  if (diana_register(DIANA_DIGITAL, HWME_IM_N) != LOADED_WORDS) {
    match_twin_fault("digital instructions: not 64 words");
  }
  diana_l2_words(diana_register(DIANA_DIGITAL, HWME_IM_ADDR), words, LOADED_WORDS, "digital instructions");
  diana_digital_job_t job = diana_digital_decode(words);
  check_unknown_registers();
  check_configuration(job.mode);
  diana_digital_check(&job);
  plan_fetch(&job);
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
