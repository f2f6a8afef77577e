/* ita_twin.h - what the twin's source files share. Not for emitted programs. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_ITA_TWIN_H
#define MATCH_ITA_TWIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Clock numbers of the program, if its build generated them; the timing header has defaults. */
#if defined(__has_include)
#if __has_include("match_twin_clocks.h")
#include "match_twin_clocks.h"
#endif
#endif
#include "match_ita_timing.h"
#include "match_twin.h"
#include "match_twin_context.h"

/* ---- cores (ita_cores.c) ---------------------------------------------------------------------------------------- */

bool ita_on_dm_core(void);
/* Whether the running thread is that of the compute cores. */
bool ita_on_compute_cores(void);
/* Faults unless the DM core runs; `what` names the caller. */
void ita_check_dm_core(const char *what);
/* Whether core 0 may ask the DM core for copies. */
bool ita_is_beside(void);

/* ---- compute cores (ita_team.c) --------------------------------------------------------------------------------- */

/* The thread of core 0 begins (the other cores wait for it) or ends. */
void ita_team_begin(void);
void ita_team_end(void);

/* ---- memory (ita_memory.c) -------------------------------------------------------------------------------------- */

bool ita_in_l1(const void *data, size_t bytes);
/* Host pointer of an L1 address; faults outside of L1. `what` names the operand. */
uint8_t *ita_l1_pointer(uint32_t address, size_t bytes, const char *what);

/* ---- ITA -------------------------------------------------------------------------------------------------------- */

#define ITA_WORDS 17u
#define ITA_SIDE MATCH_ITA_BLOCK
#define ITA_BLOCK_BYTES (ITA_SIDE * ITA_SIDE)
#define ITA_BIAS_BYTES (ITA_SIDE * MATCH_ITA_BIAS_BITS / 8u)
/* A weight buffer holds the weights of as many columns as there are dot products at once. */
#define ITA_GROUP MATCH_ITA_DOT_PRODUCTS
#define ITA_BUFFER_BYTES (ITA_GROUP * ITA_SIDE)

typedef enum {
  ITA_IDLE, ITA_Q, ITA_K, ITA_V, ITA_QK, ITA_AV, ITA_OW, ITA_F1, ITA_F2, ITA_LINEAR
} ita_step_t;

typedef struct {
  uint32_t multiplier, shift;
  int32_t add;
} ita_requant_t;

/* A job: its words, decoded, and the place in the order of steps that it has. */
typedef struct {
  uint32_t input, weight, next_weight, bias, output;
  bool preload, nextload, has_bias, bias_by_row, has_output;
  ita_step_t step;
  bool first_inner, last_inner;
  uint32_t tile; /* of the step's output blocks */
  uint32_t columns; /* blocks of columns of a row of logits */
  ita_requant_t requant, activation_requant;
  uint32_t activation;
  int32_t gelu_b, gelu_c;
} ita_job_t;

enum { ITA_IDENTITY, ITA_GELU, ITA_RELU };

/* ita_steps.c: the job that these words mean now; the order of steps goes on. Faults where ITA cannot do it. */
ita_job_t ita_next_job(const uint32_t *words);
/* ita_engine.c: computes a job. */
void ita_compute(const ita_job_t *job);
/* ita_softmax.c: 16 more logits of a row; the last ones give its inverse. And what is left of the row's logits. */
void ita_softmax_add(uint32_t row, const int8_t *logits, bool first, bool last);
void ita_softmax_read(uint32_t row, const int8_t *logits, int16_t *probabilities);

#endif
