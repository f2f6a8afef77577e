/* ita_steps.c - the order of steps that ITA goes through, job by job, and what a job must look like in its step
 * (ita_controller.sv, ita_hwpe_ctrl.sv). The order outlives kernels: nothing but the last job of a layer ends it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ita_twin.h"

enum { ATTENTION, FEEDFORWARD, LAYER_LINEAR, SINGLE_ATTENTION };
enum { S, E, P, F };

#define ALIGNMENT 8u /* of a bank of L1: the streamers do not realign */

static const char *const step_names[] = {"idle", "Q", "K", "V", "QK", "AV", "OW", "F1", "F2", "linear"};

static struct {
  ita_step_t step;
  uint32_t layer;
  uint32_t tile, inner, group;
  bool has_weights; /* the first 16 columns of `weights` are in the weight buffer */
  uint32_t weights;
} now;

/* ---- order ------------------------------------------------------------------------------------------------------ */

static ita_step_t first_step(uint32_t layer) {
  static const ita_step_t steps[] = {ITA_Q, ITA_F1, ITA_LINEAR, ITA_QK};
  return steps[layer];
}

/* Inner blocks and output blocks of the step. */
static void extents(ita_step_t step, const uint32_t *t, uint32_t *inner, uint32_t *blocks) {
  const uint32_t inners[] = {0u, t[E], t[E], t[E], t[P], t[S], t[P], t[E], t[F], t[E]};
  const uint32_t outputs[] = {0u,   t[S] * t[P], t[S] * t[P], t[S] * t[P], t[S],
                              t[P], t[S] * t[E], t[S] * t[F], t[S] * t[E], t[S] * t[P]};
  *inner = inners[step];
  *blocks = outputs[step];
}

static ita_step_t after(ita_step_t step, uint32_t layer, uint32_t groups) {
  static const ita_step_t next[] = {ITA_IDLE, ITA_K,    ITA_V,  ITA_QK,   ITA_AV,
                                    ITA_QK,   ITA_IDLE, ITA_F2, ITA_IDLE, ITA_IDLE};
  if (step != ITA_AV) {
    return next[step];
  }
  now.group++;
  if (now.group != groups) {
    return ITA_QK;
  }
  now.group = 0u;
  return layer == ATTENTION ? ITA_OW : ITA_IDLE;
}

static void go_on(const uint32_t *tiles, uint32_t inner, uint32_t blocks) {
  now.inner++;
  if (now.inner != inner) {
    return;
  }
  now.inner = 0u;
  now.tile++;
  if (now.tile == blocks) {
    now.tile = 0u;
    now.step = after(now.step, now.layer, tiles[S]);
  }
}

/* ---- checks ----------------------------------------------------------------------------------------------------- */

static void check_address(uint32_t address, size_t bytes, const char *what) {
  if (address % ALIGNMENT != 0u) {
    match_twin_faultf("ITA: the address 0x%08x of its %s is not a multiple of %u", (unsigned)address, what, ALIGNMENT);
  }
  (void)ita_l1_pointer(address, bytes, what);
}

static void check_streams(const ita_job_t *job) {
  check_address(job->input, ITA_BLOCK_BYTES, "input");
  check_address(job->weight, ITA_BLOCK_BYTES, "weights");
  if (job->nextload) {
    check_address(job->next_weight, ITA_BUFFER_BYTES, "next weights");
  }
  if (job->has_bias) {
    check_address(job->bias, ITA_BIAS_BYTES, "bias");
  }
  if (job->has_output) {
    check_address(job->output, ITA_BLOCK_BYTES, "output");
  }
  if (job->has_output != job->last_inner) {
    match_twin_faultf("ITA: a job of step %s %s an output, but is%s the last one of its sum", step_names[job->step],
                      job->has_output ? "has" : "has not", job->last_inner ? "" : " not");
  }
}

static void check_weights(const ita_job_t *job) {
  if (job->preload && now.has_weights) {
    match_twin_fault("ITA: weights are preloaded, but the job before has loaded some for this one");
  }
  if (!job->preload && !now.has_weights) {
    match_twin_fault("ITA: no weights are in the buffer: the job neither preloads them nor did the one before");
  }
  if (!job->preload && now.weights != job->weight) {
    match_twin_faultf("ITA: the job before has loaded weights from 0x%08x, this one's are at 0x%08x",
                      (unsigned)now.weights, (unsigned)job->weight);
  }
  now.has_weights = job->nextload;
  now.weights = job->next_weight;
}

static void check_scaling(const ita_job_t *job) {
  if (job->requant.shift > MATCH_ITA_SHIFT_MAX || job->activation_requant.shift > MATCH_ITA_SHIFT_MAX) {
    match_twin_faultf("ITA: a shift by %u or %u; %u is the most", (unsigned)job->requant.shift,
                      (unsigned)job->activation_requant.shift, MATCH_ITA_SHIFT_MAX);
  }
  if (job->activation > ITA_RELU) {
    match_twin_faultf("ITA: activation %u does not exist", (unsigned)job->activation);
  }
  if (job->activation != ITA_IDENTITY && job->step != ITA_F1 && job->step != ITA_LINEAR) {
    match_twin_faultf("ITA: an activation in step %s", step_names[job->step]);
  }
}

/* ---- words ------------------------------------------------------------------------------------------------------ */

static uint32_t byte_of(const uint32_t *words, uint32_t index) {
  return (words[index / 4u] >> (index % 4u * 8u)) & 0xFFu;
}

static uint32_t slot(ita_step_t step) { return step == ITA_LINEAR ? 0u : (uint32_t)step - 1u; }

static void decode(const uint32_t *w, ita_job_t *job) {
  const uint32_t place = slot(job->step);
  job->input = w[0], job->weight = w[1], job->next_weight = w[2], job->bias = w[3], job->output = w[4];
  job->requant = (ita_requant_t){byte_of(&w[7], place), byte_of(&w[9], place), (int8_t)byte_of(&w[11], place)};
  job->activation = (w[13] >> 2) & 3u;
  job->preload = (w[14] & 0x01u) != 0u;
  job->nextload = (w[14] & 0x02u) != 0u;
  job->has_bias = (w[14] & 0x04u) == 0u;
  job->bias_by_row = (w[14] & 0x08u) != 0u;
  job->has_output = (w[14] & 0x10u) == 0u;
  job->gelu_b = (int16_t)(w[15] & 0xFFFFu);
  job->gelu_c = (int16_t)(w[15] >> 16);
  job->activation_requant = (ita_requant_t){byte_of(&w[16], 0u), byte_of(&w[16], 1u), (int8_t)byte_of(&w[16], 2u)};
}

ita_job_t ita_next_job(const uint32_t *words) {
  const uint32_t layer = words[13] & 3u;
  uint32_t tiles[4], inner, blocks;
  for (uint32_t i = 0u; i < 4u; i++) {
    const uint32_t count = (words[6] >> (4u * i)) & 0xFu;
    tiles[i] = count == 0u ? 1u : count;
  }
  if (now.step == ITA_IDLE) {
    now.step = first_step(layer);
    now.layer = layer;
  } else if (layer != now.layer) {
    match_twin_faultf("ITA: a job of layer kind %u in step %s of a layer of kind %u", (unsigned)layer,
                      step_names[now.step], (unsigned)now.layer);
  }
  extents(now.step, tiles, &inner, &blocks);
  if (now.inner >= inner || now.tile >= blocks) {
    match_twin_faultf("ITA: block %u, inner block %u of step %s; its tile counts say %u and %u", (unsigned)now.tile,
                      (unsigned)now.inner, step_names[now.step], (unsigned)blocks, (unsigned)inner);
  }
  ita_job_t job = {.step = now.step, .first_inner = now.inner == 0u, .last_inner = now.inner + 1u == inner,
                   .tile = now.tile, .columns = tiles[S]};
  decode(words, &job);
  check_streams(&job);
  check_weights(&job);
  check_scaling(&job);
  go_on(tiles, inner, blocks);
  return job;
}
