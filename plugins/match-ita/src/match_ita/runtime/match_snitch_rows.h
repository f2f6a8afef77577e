/* match_snitch_rows.h - what the row and element kernels of the Snitch cluster share: shares of cores, requantisation.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_SNITCH_ROWS_H
#define MATCH_SNITCH_ROWS_H

#include <stdint.h>

#include "match_ita_team.h"

#define MATCH_SNITCH_INLINE static inline __attribute__((always_inline))

/* Elements or columns that a core computes at once: loops are unrolled by hand, as the cores have no hardware loops. */
#define MATCH_SNITCH_BLOCK 4u
/* The same where a loop needs few registers. */
#define MATCH_SNITCH_RUN 8u

/* Compute cores. A constant, because a division takes as long as 32 multiplications and the cores share its unit. */
#define MATCH_SNITCH_CORES 8u

typedef struct {
    uint32_t start, stop;
} match_snitch_part_t;

/* This core's part of n items, in contiguous chunks of whole blocks. */
MATCH_SNITCH_INLINE match_snitch_part_t match_snitch_part(uint32_t n, uint32_t block)
{
    const uint32_t all = MATCH_SNITCH_CORES * block;
    const uint32_t chunk = (n + all - 1u) / all * block, start = chunk * match_ita_core();
    match_snitch_part_t part;
    part.start = (start < n) ? start : n;
    part.stop = (n - part.start < chunk) ? n : part.start + chunk;
    return part;
}

MATCH_SNITCH_INLINE int32_t match_snitch_clip(int32_t value, int32_t low, int32_t high)
{
    const int32_t above = (value < low) ? low : value;
    return (above > high) ? high : above;
}

MATCH_SNITCH_INLINE int64_t match_snitch_addend(uint32_t low, int32_t high)
{
    return (int64_t)((uint64_t)(uint32_t)high << 32 | low);
}

/* (x * multiplier + addend) >> (32 + shift). */
MATCH_SNITCH_INLINE int32_t match_snitch_wide(int32_t x, int32_t multiplier, int64_t addend, uint32_t shift)
{
    return (int32_t)(((int64_t)x * multiplier + addend) >> 32) >> shift;
}

#endif
