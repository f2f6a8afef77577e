/* diana_analog.c - a trigger of the analog array: the job that its registers and the instruction name (sheet 4.1), and
 * the time it takes. SPDX-License-Identifier: Apache-2.0 */
#include "diana_analog.h"

#include <string.h>

#include "diana_twin.h"
#include "hwme_analog.h"

/* As the kernel library writes them: the layer's instruction and the stop, counted in words of 32 bits. */
#define INSTRUCTION_COUNT 32u
#define CONFIGURATION_COUNT 16u
#define NORM_WORDS (2u * MATCH_DIANA_ANALOG_COLUMNS)
#define CELL_WORDS (MATCH_DIANA_ANALOG_CELL_BYTES / sizeof(uint32_t))

typedef struct {
  diana_analog_layer_t layer;
  uint32_t cells, norm; /* addresses in L2 */
} job_t;

static bool is_booted;

void diana_analog_boot(void) { is_booted = true; }

/* ---- registers -------------------------------------------------------------------------------------------------- */

static void expect(uint32_t offset, uint32_t value, const char *what) {
  const uint32_t found = diana_register(DIANA_ANALOG, offset);
  if (found != value) {
    match_twin_faultf("analog: register 0x%02x, %s, is %u; a layer needs %u", (unsigned)offset, what, (unsigned)found,
                      (unsigned)value);
  }
}

/* What the configuration means is not public; the kernel library writes these two words and zeros. */
static void check_configuration(void) {
  uint32_t words[CONFIGURATION_COUNT];
  expect(HWME_ANA_CONF_N, CONFIGURATION_COUNT, "the number of words of configuration");
  diana_l2_words(diana_register(DIANA_ANALOG, HWME_ANA_CONF_ADDR), words, CONFIGURATION_COUNT, "analog configuration");
  for (uint32_t i = 0u; i < CONFIGURATION_COUNT; i++) {
    const uint32_t published = i == 0u ? 0x3000000u : i == 1u ? 0x303001fu : 0u;
    if (words[i] != published) {
      match_twin_faultf("analog: word %u of the configuration is 0x%08x; the published one is 0x%08x", (unsigned)i,
                        (unsigned)words[i], (unsigned)published);
    }
  }
}

static diana_analog_layer_t next_layer(void) {
  uint32_t words[INSTRUCTION_COUNT];
  uint16_t halves[2u * INSTRUCTION_COUNT];
  check_configuration();
  expect(HWME_ANA_IM_N, INSTRUCTION_COUNT, "the number of words of instructions");
  expect(HWME_ANA_ACT_N, 0u, "the number of activations to fetch");
  expect(HWME_ANA_NB_TILE, 0u, "the number of tiles");
  diana_l2_words(diana_register(DIANA_ANALOG, HWME_ANA_IM_ADDR), words, INSTRUCTION_COUNT, "analog instructions");
  for (uint32_t i = 0u; i < INSTRUCTION_COUNT; i++) {
    halves[2u * i] = (uint16_t)(words[i] & 0xFFFFu);
    halves[2u * i + 1u] = (uint16_t)(words[i] >> 16);
  }
  return diana_analog_decode(halves);
}

/* ---- job -------------------------------------------------------------------------------------------------------- */

static void read_norm(const job_t *job, int32_t *norm) {
  uint32_t words[NORM_WORDS];
  const size_t bytes = diana_analog_norm_bytes(&job->layer);
  diana_l2_words(job->norm, words, bytes / sizeof *words, "analog batch-norm");
  memcpy(norm, words, bytes);
}

static void run(void *argument) {
  static uint32_t encoded[CELL_WORDS];
  static int32_t norm[NORM_WORDS];
  job_t job;
  memcpy(&job, argument, sizeof job);
  diana_l2_words(job.cells, encoded, diana_analog_cell_bytes(&job.layer) / sizeof *encoded, "analog weights");
  if (job.layer.normalises) {
    read_norm(&job, norm);
  }
  diana_analog_load(&job.layer, encoded);
  diana_analog_compute(&job.layer, norm);
}

/* What the job reads and writes lies in memory; the output holds poison until the job has ended, in the lazy modes. */
static void check_job(const job_t *job) {
  const diana_analog_layer_t *const layer = &job->layer;
  const size_t output_bytes = diana_analog_output_bytes(layer);
  int32_t norm[NORM_WORDS];
  uint8_t *const output = diana_l1(layer->output, output_bytes, "analog output");
  (void)diana_l1(layer->input, diana_analog_input_bytes(layer), "analog input");
  (void)diana_l2(job->cells, diana_analog_cell_bytes(layer), false, "analog weights");
  if (layer->adds_partial_sums) {
    (void)diana_l1(layer->partial_sums, output_bytes, "analog partial sums");
  }
  if (layer->normalises) {
    read_norm(job, norm);
    diana_analog_check_norm(layer, norm);
  }
  if (!layer->adds_partial_sums || layer->partial_sums != layer->output) {
    diana_poison(output, output_bytes);
  }
}

/* The array's time is PLiNIO's (plinio, cost/diana_latency.py): a constant per row that is loaded, and 70 ns for each
 * group of unrolled pixels. That cells and batch-norm come from L2 like any contiguous chunk is an estimate. */
static void start(const job_t *job) {
  const diana_analog_layer_t *const layer = &job->layer;
  const uint64_t activations = (uint64_t)layer->oy * (layer->ox / layer->ox_unroll);
  const uint64_t norm_cycles = layer->normalises ? diana_fetch_cycles(diana_analog_norm_bytes(layer)) : 0u;
  const diana_step_t steps[] = {
      {MATCH_TWIN_CLOCK_ANALOG, MATCH_DIANA_JOB_LOAD_CYCLES, "instructions"},
      {MATCH_TWIN_CLOCK_ANALOG, norm_cycles, "batch-norm"},
      {MATCH_TWIN_CLOCK_ANALOG, diana_fetch_cycles(diana_analog_cell_bytes(layer)), "weights"},
      {MATCH_TWIN_CLOCK_ANALOG, (uint64_t)layer->rows * MATCH_DIANA_ANALOG_ROW_LOAD_CYCLES, "analog cells"},
      {MATCH_TWIN_CLOCK_ANALOG, (activations * MATCH_DIANA_ANALOG_ACTIVATION_TENTH_CYCLES + 9u) / 10u, "analog layer"},
  };
  diana_run(DIANA_ANALOG, steps, sizeof steps / sizeof steps[0], run, job, sizeof *job);
}

void diana_analog_trigger(void) {
  if (!is_booted) {
    match_twin_fault("analog: a job before boot_diana");
  }
  const job_t job = {
      .layer = next_layer(),
      .cells = diana_register(DIANA_ANALOG, HWME_ANA_WT_CONV_ADDR),
      .norm = diana_register(DIANA_ANALOG, HWME_ANA_WT_SIMD_ADDR),
  };
  check_job(&job);
  start(&job);
}
