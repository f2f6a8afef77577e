/* match_ita_job.h - jobs of ITA: one job is one block of 64x64x64. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_ITA_JOB_H
#define MATCH_ITA_JOB_H

#include <stdint.h>

#include "match_ita_registers.h"

#define MATCH_ITA_SIDE 64u
#define MATCH_ITA_BLOCK_BYTES 4096u
#define MATCH_ITA_BIAS_BYTES 192u
/* Blocks that a tile count of four bits can say. */
#define MATCH_ITA_MOST_TILES 15u

/* What all jobs of a kernel have in common. */
typedef struct {
    uint32_t multipliers[2], shifts[2], adds[2]; /* a byte per slot */
    uint32_t engine, gelu, activation_requant;
} match_ita_setup_t;

/* For each loop of a nest: its iterations, or by how many bytes an address moves on. */
typedef struct {
    uint32_t inner, x, y;
} match_ita_loops_t;

typedef struct {
    const void *first;
    match_ita_loops_t step;
} match_ita_stream_t;

/* Jobs in the order y, x, inner; the inner loop sums up one block of the output. */
typedef struct {
    match_ita_loops_t count;
    match_ita_stream_t input, weight, bias, output;
    uint32_t tiles;  /* the word MATCH_ITA_TILES */
    uint32_t stream; /* flags of all jobs */
    uint32_t moved;  /* so many of the last blocks go to scratch instead */
    void *scratch;
    uint32_t scratch_step; /* from one of them to the next */
} match_ita_nest_t;

void match_ita_set_slot(match_ita_setup_t *setup, uint32_t slot, int32_t multiplier, int32_t shift, int32_t add);
uint32_t match_ita_tiles(uint32_t s, uint32_t e, uint32_t p);

/* A kernel begins, programs nests one after the other, and ends when all jobs are done. */
void match_ita_begin(const match_ita_setup_t *setup);
void match_ita_program(const match_ita_nest_t *nest);
void match_ita_end(void);

#endif
