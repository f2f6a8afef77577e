/* match_ita_job.c - programs ITA job by job, with all contexts in use: while one job runs the next ones are
 * programmed.
 *
 * A job also loads the first weights of the next one, so a job is written when the one behind it is known.
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_ita_job.h"

#include "match_ita_cluster.h"

/* Cycles on the twin; nothing on silicon. */
#ifndef MATCH_ITA_CHARGE_LAUNCH
#define MATCH_ITA_CHARGE_LAUNCH() ((void)0)
#endif

typedef struct {
    uint32_t input, weight, bias, output, tiles, stream;
} job_t;

/* Of the DM core. Contexts keep their words from kernel to kernel. */
static struct {
    match_ita_setup_t setup;
    uint32_t tiles;
    uint32_t written; /* contexts that hold setup and tiles */
    job_t last;       /* not yet written, if there is one */
    int is_pending;
} jobs;

/* ITA addresses 32 bits; the cast is exact on the chip. */
static uint32_t address(const void *pointer)
{
    return (uint32_t)(uintptr_t)pointer;
}

void match_ita_set_slot(match_ita_setup_t *setup, uint32_t slot, int32_t multiplier, int32_t shift, int32_t add)
{
    const uint32_t word = slot / 4u, bit = slot % 4u * 8u;
    setup->multipliers[word] |= ((uint32_t)multiplier & 0xFFu) << bit;
    setup->shifts[word] |= ((uint32_t)shift & 0xFFu) << bit;
    setup->adds[word] |= ((uint32_t)add & 0xFFu) << bit;
}

uint32_t match_ita_tiles(uint32_t s, uint32_t e, uint32_t p)
{
    return s | (e << 4) | (p << 8) | (1u << 12);
}

/* ---- registers -------------------------------------------------------------------------------------------------- */

static void write_pair(uint32_t offset, const uint32_t *words)
{
    MATCH_ITA_WRITE(offset, words[0]);
    MATCH_ITA_WRITE(offset + 4u, words[1]);
}

static void write_common(const match_ita_setup_t *setup, uint32_t tiles)
{
    MATCH_ITA_WRITE(MATCH_ITA_TILES, tiles);
    write_pair(MATCH_ITA_MULTIPLIERS, setup->multipliers);
    write_pair(MATCH_ITA_SHIFTS, setup->shifts);
    write_pair(MATCH_ITA_ADDS, setup->adds);
    MATCH_ITA_WRITE(MATCH_ITA_ENGINE, setup->engine);
    MATCH_ITA_WRITE(MATCH_ITA_GELU, setup->gelu);
    MATCH_ITA_WRITE(MATCH_ITA_ACTIVATION_REQUANT, setup->activation_requant);
}

/* Contexts follow each other in a ring: what all jobs share is written once into each. */
static void write_job(const job_t *job, uint32_t next_weight)
{
    while ((int32_t)MATCH_ITA_READ(MATCH_ITA_ACQUIRE) < 0) {
        match_ita_wait_turn();
    }
    if (job->tiles != jobs.tiles) {
        jobs.tiles = job->tiles;
        jobs.written = 0u;
    }
    if (jobs.written < MATCH_ITA_CONTEXTS) {
        write_common(&jobs.setup, job->tiles);
        jobs.written++;
    }
    MATCH_ITA_WRITE(MATCH_ITA_INPUT, job->input);
    MATCH_ITA_WRITE(MATCH_ITA_WEIGHT, job->weight);
    MATCH_ITA_WRITE(MATCH_ITA_NEXT_WEIGHT, next_weight);
    MATCH_ITA_WRITE(MATCH_ITA_BIAS, job->bias);
    MATCH_ITA_WRITE(MATCH_ITA_OUTPUT, job->output);
    MATCH_ITA_WRITE(MATCH_ITA_STREAM, job->stream);
    MATCH_ITA_WRITE(MATCH_ITA_TRIGGER, 0u);
}

static void push(job_t job)
{
    if (jobs.is_pending != 0) {
        jobs.last.stream |= MATCH_ITA_NEXTLOAD;
        write_job(&jobs.last, job.weight);
    } else {
        job.stream |= MATCH_ITA_PRELOAD;
    }
    jobs.last = job;
    jobs.is_pending = 1;
}

/* ---- nests ------------------------------------------------------------------------------------------------------ */

static uint32_t at(const match_ita_stream_t *stream, uint32_t y, uint32_t x, uint32_t inner)
{
    return address(stream->first) + y * stream->step.y + x * stream->step.x + inner * stream->step.inner;
}

static uint32_t output_of(const match_ita_nest_t *nest, uint32_t y, uint32_t x)
{
    const uint32_t block = y * nest->count.x + x, stay = nest->count.y * nest->count.x - nest->moved;
    if (block >= stay) {
        return address(nest->scratch) + (block - stay) * nest->scratch_step;
    }
    return at(&nest->output, y, x, 0u);
}

static void program_block(const match_ita_nest_t *nest, uint32_t y, uint32_t x)
{
    const uint32_t output = output_of(nest, y, x);
    for (uint32_t inner = 0u; inner < nest->count.inner; inner++) {
        const uint32_t ends = (inner + 1u == nest->count.inner) ? 0u : MATCH_ITA_NO_OUTPUT;
        const job_t job = {
            .input = at(&nest->input, y, x, inner), .weight = at(&nest->weight, y, x, inner),
            .bias = at(&nest->bias, y, x, inner), .output = output, .tiles = nest->tiles,
            .stream = nest->stream | ends,
        };
        push(job);
    }
}

void match_ita_program(const match_ita_nest_t *nest)
{
    for (uint32_t y = 0u; y < nest->count.y; y++) {
        for (uint32_t x = 0u; x < nest->count.x; x++) {
            program_block(nest, y, x);
        }
    }
}

/* ---- kernels ---------------------------------------------------------------------------------------------------- */

static int is_same(const match_ita_setup_t *a, const match_ita_setup_t *b)
{
    int same = (a->engine == b->engine) && (a->gelu == b->gelu) && (a->activation_requant == b->activation_requant);
    for (uint32_t i = 0u; i < 2u; i++) {
        same = same && (a->multipliers[i] == b->multipliers[i]) && (a->shifts[i] == b->shifts[i]) &&
               (a->adds[i] == b->adds[i]);
    }
    return same;
}

void match_ita_begin(const match_ita_setup_t *setup)
{
    MATCH_ITA_CHARGE_LAUNCH();
    if (is_same(&jobs.setup, setup) == 0) {
        jobs.setup = *setup;
        jobs.written = 0u;
    }
}

void match_ita_end(void)
{
    if (jobs.is_pending != 0) {
        write_job(&jobs.last, jobs.last.weight);
        jobs.is_pending = 0;
    }
    while (MATCH_ITA_READ(MATCH_ITA_STATUS) != 0u) {
        match_ita_wait_turn();
    }
}
