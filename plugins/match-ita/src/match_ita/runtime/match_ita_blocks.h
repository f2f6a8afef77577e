/* match_ita_blocks.h - what ITA's kernels share: short blocks, and the order of steps that ITA expects.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_ITA_BLOCKS_H
#define MATCH_ITA_BLOCKS_H

#include <stdint.h>

#include "match_ita_job.h"

/* Blocks of 64 rows, the last one may be short. */
static inline uint32_t match_ita_blocks(uint32_t rows)
{
    return (rows + MATCH_ITA_SIDE - 1u) / MATCH_ITA_SIDE;
}

/* The addresses of a nest move on by whole iterations of its outer loops. */
void match_ita_move(match_ita_nest_t *nest, uint32_t y, uint32_t x);

/* A tile whose last block of rows is short: the last blocks of the output, as far as they reach behind its end, are
 * written to scratch (two blocks), where they lie as in the tile, and moved. */
typedef struct {
    uint32_t blocks; /* 0: all are whole */
    uint32_t step, bytes;
    void *to;
    void *scratch;
} match_ita_tail_t;

/* Of `columns` column blocks of `rows` rows each. */
match_ita_tail_t match_ita_tail(void *output, uint32_t columns, uint32_t rows, void *scratch);
/* What the nest writes to scratch, if `behind` blocks of the output come later. */
void match_ita_redirect(match_ita_nest_t *nest, const match_ita_tail_t *tail, uint32_t behind);
void match_ita_move_tail(const match_ita_tail_t *tail);
/* Room for a block that nobody needs yet. */
void *match_ita_room(const match_ita_tail_t *tail, void *output);
/* Zeros behind column t of output [p1][t1][64][64], with 64 bytes of scratch. */
void match_ita_clear_columns(void *output, uint32_t p1, uint32_t t1, uint32_t t, void *scratch);

/* ITA leaves a layer of kind attention only when it has seen as many groups of rows as there are blocks of columns:
 * ends one that other kernels left unfinished. `block` is room for a block that nobody needs yet. */
void match_ita_settle(void *block);

#endif
