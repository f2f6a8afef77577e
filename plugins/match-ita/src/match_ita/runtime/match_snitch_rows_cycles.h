/* match_snitch_rows_cycles.h - the calling core's work in a kernel, of its own share of the rows or elements; figures are
 * those of match_ita_timing.h. Nothing on silicon. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_SNITCH_ROWS_CYCLES_H
#define MATCH_SNITCH_ROWS_CYCLES_H

#include "match_ita_hooks.h"

/* The twin's header of charges, which the cluster's includes there. */
#ifdef MATCH_ITA_CHARGE_H
#include <stdint.h>

#include "match_snitch_rows.h"
#include "match_snitch_rows_kernels.h"

/* Of n items in whole blocks, how many this core has. */
static inline uint64_t match_snitch_own(uint64_t n, uint64_t block)
{
    const match_snitch_part_t part = match_snitch_part((uint32_t)n, (uint32_t)block);
    return part.stop - part.start;
}

/* n items in blocks, and one by one what is left. */
static inline uint64_t match_snitch_blocks(uint64_t n, uint64_t block, uint64_t block_cycles, uint64_t single_cycles)
{
    return n / block * block_cycles + n % block * single_cycles;
}

static inline uint64_t match_snitch_flat(uint64_t n, uint64_t block_cycles, uint64_t single_cycles)
{
    return MATCH_ITA_WORK(ROWS_CALL) + match_snitch_blocks(match_snitch_own(n, 8u), 8u, block_cycles, single_cycles);
}

static inline uint64_t match_snitch_add_cycles(const match_snitch_add_t *t)
{
    const uint64_t n = (uint64_t)t->r * t->c;
    return t->wide ? match_snitch_flat(n, 8u * MATCH_ITA_WORK(ROWS_ADD_WIDE), MATCH_ITA_WORK(ROWS_ADD_WIDE))
                   : match_snitch_flat(n, MATCH_ITA_WORK(ROWS_ADD_BLOCK), MATCH_ITA_WORK(ROWS_ADD));
}

/* Columns in fours, down all rows. */
static inline uint64_t match_snitch_columns(uint64_t r, uint64_t c, uint64_t row_cycles, uint64_t single_cycles)
{
    const uint64_t column = MATCH_ITA_WORK(ROWS_COLUMN);
    return MATCH_ITA_WORK(ROWS_CALL) +
           match_snitch_blocks(match_snitch_own(c, 4u), 4u, column + r * row_cycles, column + r * single_cycles);
}

static inline uint64_t match_snitch_requant_cycles(const match_snitch_requant_t *t)
{
    return t->wide ? match_snitch_columns(t->r, t->c, 4u * MATCH_ITA_WORK(ROWS_REQUANT_WIDE),
                                          MATCH_ITA_WORK(ROWS_REQUANT_WIDE))
                   : match_snitch_columns(t->r, t->c, MATCH_ITA_WORK(ROWS_REQUANT_ROW), MATCH_ITA_WORK(ROWS_REQUANT));
}

static inline uint64_t match_snitch_requant_twice_cycles(const match_snitch_requant_twice_t *t)
{
    return match_snitch_columns(t->r, t->c, MATCH_ITA_WORK(ROWS_REQUANT_TWICE_ROW), MATCH_ITA_WORK(ROWS_REQUANT_TWICE));
}

static inline uint64_t match_snitch_add_requant_cycles(const match_snitch_add_requant_t *t)
{
    return match_snitch_columns(t->r, t->c, MATCH_ITA_WORK(ROWS_ADD_REQUANT_ROW), MATCH_ITA_WORK(ROWS_ADD_REQUANT));
}

static inline uint64_t match_snitch_add_requant_twice_cycles(const match_snitch_add_requant_twice_t *t)
{
    return match_snitch_columns(t->r, t->c, MATCH_ITA_WORK(ROWS_ADD_REQUANT_TWICE_ROW),
                                MATCH_ITA_WORK(ROWS_ADD_REQUANT_TWICE));
}

static inline uint64_t match_snitch_lut_cycles(const match_snitch_lut_t *t)
{
    return match_snitch_flat((uint64_t)t->r * t->c, MATCH_ITA_WORK(ROWS_LUT_BLOCK), MATCH_ITA_WORK(ROWS_LUT));
}

static inline uint64_t match_snitch_offset_each_cycles(const match_snitch_offset_each_t *t)
{
    return match_snitch_flat((uint64_t)t->r * t->c, MATCH_ITA_WORK(ROWS_OFFSET_BLOCK), MATCH_ITA_WORK(ROWS_OFFSET));
}

static inline uint64_t match_snitch_sum_three_cycles(const match_snitch_sum_three_t *t)
{
    return match_snitch_flat((uint64_t)t->r * t->c, MATCH_ITA_WORK(ROWS_SUM_THREE_BLOCK),
                             MATCH_ITA_WORK(ROWS_SUM_THREE));
}

static inline uint64_t match_snitch_sum_cycles(const match_snitch_sum_t *t)
{
    const uint64_t block = MATCH_ITA_WORK(ROWS_SUM_BLOCK) + t->n * MATCH_ITA_WORK(ROWS_SUM_PART);
    const uint64_t single = MATCH_ITA_WORK(ROWS_SUM) + t->n * MATCH_ITA_WORK(ROWS_SUM_SINGLE_PART);
    const uint64_t each = match_snitch_blocks(match_snitch_own((uint64_t)t->s * t->c, 8u), 8u, block, single);
    return MATCH_ITA_WORK(ROWS_CALL) + t->o * (MATCH_ITA_WORK(ROWS_SUM_OUTER) + each);
}

static inline uint64_t match_snitch_sum_add_cycles(const match_snitch_sum_add_t *t)
{
    const uint64_t block = MATCH_ITA_WORK(ROWS_SUM_ADD_BLOCK) + t->n * MATCH_ITA_WORK(ROWS_SUM_PART);
    const uint64_t single = MATCH_ITA_WORK(ROWS_SUM_ADD) + t->n * MATCH_ITA_WORK(ROWS_SUM_SINGLE_PART);
    return MATCH_ITA_WORK(ROWS_CALL) +
           match_snitch_blocks(match_snitch_own((uint64_t)t->s * t->c, 8u), 8u, block, single);
}

/* Rows in pairs. */
static inline uint64_t match_snitch_layernorm_cycles(const match_snitch_layernorm_t *t)
{
    const uint64_t rows = match_snitch_own(t->r, 1u);
    const uint64_t pair = MATCH_ITA_WORK(ROWS_NORM_PAIR_ROW) +
                          match_snitch_blocks(t->c, 8u, MATCH_ITA_WORK(ROWS_NORM_PAIR_BLOCK),
                                              MATCH_ITA_WORK(ROWS_NORM_PAIR));
    const uint64_t last = MATCH_ITA_WORK(ROWS_NORM_ROW) + match_snitch_blocks(t->c, 8u, MATCH_ITA_WORK(ROWS_NORM_BLOCK),
                                                                             MATCH_ITA_WORK(ROWS_NORM));
    return MATCH_ITA_WORK(ROWS_CALL) + rows / 2u * pair + rows % 2u * last;
}

static inline uint64_t match_snitch_integer_norm_cycles(const match_snitch_integer_norm_t *t)
{
    const uint64_t element = MATCH_ITA_WORK(ROWS_INTEGER_NORM) + (t->centred ? MATCH_ITA_WORK(ROWS_MEAN) : 0u);
    return MATCH_ITA_WORK(ROWS_CALL) +
           match_snitch_own(t->r, 1u) * (MATCH_ITA_WORK(ROWS_INTEGER_NORM_ROW) + t->c * element);
}

/* A run of bytes: words in eights, words, bytes. */
static inline uint64_t match_snitch_run(uint64_t bytes, int words)
{
    if (!words) {
        return bytes * MATCH_ITA_WORK(ROWS_COPY_BYTE);
    }
    return bytes / 32u * MATCH_ITA_WORK(ROWS_COPY_BLOCK) + bytes % 32u / 4u * MATCH_ITA_WORK(ROWS_COPY_WORD) +
           bytes % 4u * MATCH_ITA_WORK(ROWS_COPY_BYTE);
}

static inline uint64_t match_snitch_copy_cycles(const match_snitch_copy_t *t)
{
    return MATCH_ITA_WORK(ROWS_CALL) +
           match_snitch_run(match_snitch_own((uint64_t)t->o * t->p * t->a * t->b * t->c, 32u), 1);
}

static inline uint64_t match_snitch_transpose_cycles(const match_snitch_transpose_t *t)
{
    const uint64_t fours = MATCH_ITA_WORK(ROWS_TURN_COLUMN) +
                           match_snitch_blocks(t->r, 4u, MATCH_ITA_WORK(ROWS_TURN_BLOCK), MATCH_ITA_WORK(ROWS_TURN_ROW));
    const uint64_t single = MATCH_ITA_WORK(ROWS_TURN_COLUMN) + t->r * MATCH_ITA_WORK(ROWS_TURN);
    const uint64_t matrix = MATCH_ITA_WORK(ROWS_TURN_MATRIX) +
                            match_snitch_blocks(match_snitch_own(t->c, 4u), 4u, fours, single);
    return MATCH_ITA_WORK(ROWS_CALL) + (uint64_t)t->p * t->a * matrix;
}

static inline uint64_t match_snitch_gather_cycles(const match_snitch_gather_t *t)
{
    const uint64_t row = MATCH_ITA_WORK(ROWS_RUN) + match_snitch_run(t->c, t->c % 4u == 0u);
    return MATCH_ITA_WORK(ROWS_CALL) + match_snitch_own(t->n, 1u) * row;
}

static inline uint64_t match_snitch_windows_cycles(const match_snitch_windows_t *t)
{
    const uint64_t row = MATCH_ITA_WORK(ROWS_WINDOW_RUN) + match_snitch_run(t->c, t->c % 4u == 0u);
    return MATCH_ITA_WORK(ROWS_CALL) + match_snitch_own(t->t, 1u) * t->k * row;
}

static inline uint64_t match_snitch_pad_cycles(const match_snitch_pad_t *t)
{
    const uint64_t before = (uint64_t)(uint32_t)t->before * t->i, after = (uint64_t)(uint32_t)t->after * t->i;
    const uint64_t bytes = (uint64_t)(uint32_t)t->size * t->i;
    const int words = (before | after | bytes) % 4u == 0u;
    const uint64_t filled = words ? (before + after) / 4u * MATCH_ITA_WORK(ROWS_FILL_WORD)
                                  : (before + after) * MATCH_ITA_WORK(ROWS_FILL_BYTE);
    const uint64_t row = MATCH_ITA_WORK(ROWS_PAD_ROW) + filled + match_snitch_run(bytes, words);
    return MATCH_ITA_WORK(ROWS_CALL) + match_snitch_own(t->o, 1u) * row;
}

static inline uint64_t match_snitch_concat_cycles(const match_snitch_concat_t *t)
{
    const uint64_t a = (uint64_t)(uint32_t)t->size_a * t->i, b = (uint64_t)(uint32_t)t->size_b * t->i;
    const int words = (a | b) % 4u == 0u;
    const uint64_t row = 2u * MATCH_ITA_WORK(ROWS_RUN) + match_snitch_run(a, words) + match_snitch_run(b, words);
    return MATCH_ITA_WORK(ROWS_CALL) + match_snitch_own(t->o, 1u) * row;
}

static inline uint64_t match_snitch_concat_three_cycles(const match_snitch_concat_three_t *t)
{
    const uint64_t a = (uint64_t)(uint32_t)t->size_a * t->i, b = (uint64_t)(uint32_t)t->size_b * t->i;
    const uint64_t c = (uint64_t)(uint32_t)t->size_c * t->i;
    const int words = (a | b | c) % 4u == 0u;
    const uint64_t row = 3u * MATCH_ITA_WORK(ROWS_RUN) + match_snitch_run(a, words) + match_snitch_run(b, words) +
                         match_snitch_run(c, words);
    return MATCH_ITA_WORK(ROWS_CALL) + match_snitch_own(t->o, 1u) * row;
}

#endif

#endif
