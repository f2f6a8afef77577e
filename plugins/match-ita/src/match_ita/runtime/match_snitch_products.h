/* match_snitch_products.h - products of matrices on the Snitch cores: one inner loop for dense layers, attention and
 * convolutions.
 *
 * output[v][n] = clip((sum over c of panel[v][c] * stream[n][c] * multiplier + addend) >> shift). The vectors of one side
 * are packed into panels of four, with whatever gathering they need; those of the other side are read where they lie,
 * each contiguous. The cores have no dot products, so the loops save instructions elsewhere:
 *  - "pairs": two vectors in one word, a + 2^16 b. One multiplication makes two products; two such results are added,
 *    and MATCH_SNITCH_BIAS makes both halves positive, so that a shift separates them: 7 instructions for 4 products
 *    where separate ones take 8. Both sides must be int8: a half holds -32512 to 32768.
 *  - "plain": 16-bit values, one multiplication and one addition for each product.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_SNITCH_PRODUCTS_H
#define MATCH_SNITCH_PRODUCTS_H

#include <stdint.h>

#include "match_snitch_rows.h"

/* Vectors in a panel, and vectors of the other side that are computed at once. */
#define MATCH_SNITCH_PANEL 4u
#define MATCH_SNITCH_COLUMNS 2u
#define MATCH_SNITCH_BIAS 0x7FFF7FFFu

/* A panel: the sums of its four vectors, then for each index the four values: as int16_t (plain), or as two words, each
 * the sum of one value and 2^16 times the next (pairs). */
typedef struct {
    int32_t sums[MATCH_SNITCH_PANEL];
    uint32_t words[];
} match_snitch_panel_t;

typedef struct {
    void *panels;
    uint32_t vectors, taps, columns;
    const void *stream;
    uint32_t stream_step; /* bytes from one vector to the next */
    uint8_t *output;
    uint32_t vector_step, column_step; /* bytes from one vector's or column's result to the next */
    const int32_t *multiplier;
    const int64_t *addend;
    uint32_t parameter_step; /* 1: every column has its own multiplier and addend, 0: all share one */
    uint32_t shift;
    int32_t low, high;
    int32_t stream_zero; /* what a value of 0 is stored as in the stream */
    int wide;            /* 64-bit products, shifted by 32 + shift */
    int pairs, stream_unsigned;
} match_snitch_product_t;

/* Where four vectors begin, and how they are read. */
typedef struct {
    const uint8_t *vectors[MATCH_SNITCH_PANEL];
    uint32_t tap_step; /* bytes from one value to the next */
    uint32_t taps;
    int32_t offset; /* taken off every value */
    int is_unsigned, pairs;
} match_snitch_source_t;

static inline uint32_t match_snitch_up(uint32_t size, uint32_t divisor)
{
    return (size + divisor - 1u) / divisor;
}

static inline uint32_t match_snitch_panel_bytes(uint32_t taps)
{
    return (uint32_t)sizeof(match_snitch_panel_t) + taps * MATCH_SNITCH_PANEL * (uint32_t)sizeof(int16_t);
}

static inline match_snitch_panel_t *match_snitch_panel(void *panels, uint32_t number, uint32_t taps)
{
    return (match_snitch_panel_t *)(void *)((uint8_t *)panels + number * match_snitch_panel_bytes(taps));
}

/* The four vectors of a panel out of `count`, `step` bytes apart; beyond the last one it is repeated. */
static inline void match_snitch_vectors(match_snitch_source_t *source, const void *base, uint32_t number,
                                        uint32_t count, uint32_t step)
{
    for (uint32_t i = 0u; i < MATCH_SNITCH_PANEL; i++) {
        const uint32_t at = number * MATCH_SNITCH_PANEL + i;
        source->vectors[i] = (const uint8_t *)base + ((at < count) ? at : count - 1u) * step;
    }
}

void match_snitch_pack(match_snitch_panel_t *panel, const match_snitch_source_t *source);
/* Panel `number` by pairs of columns first to stop - 1. */
void match_snitch_block(const match_snitch_product_t *p, uint32_t number, uint32_t first, uint32_t stop);
/* This core's part of all panels and columns. */
void match_snitch_product(const match_snitch_product_t *p);

#endif
