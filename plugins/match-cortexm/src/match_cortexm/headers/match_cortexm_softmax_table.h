/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax as in match_cortexm_softmax.h, of lines with more values than results that are not 0: the result of each
 * distance from the largest value is computed once, up to the first that is 0, as results never grow with the distance.
 * Sums may not fit 32 bits: pieces are summed up, whose sums do, and quotients leave out the lowest bits. */
#ifndef MATCH_CORTEXM_SOFTMAX_TABLE_H
#define MATCH_CORTEXM_SOFTMAX_TABLE_H

#include "match_cortexm_softmax_long.h"

/* `piece`: values whose sum fits 32 bits; `down`: bits of the sum that do not; `error`: by less than so many of their
 * last bits quotients are too small. */
MATCH_CORTEXM_LINES void match_cortexm_softmax_table(
    int8_t *restrict to,
    const int8_t *restrict from,
    const int32_t *restrict table,
    int32_t size,
    int32_t piece,
    uint32_t levels,
    uint32_t down,
    uint32_t error,
    int32_t zero,
    int32_t low,
    int32_t high)
{
    int8_t results[256];
    const int32_t top = match_cortexm_top(from, size);
    const uint64_t sum = match_cortexm_long_sum(from, table, size, piece, top);
    const match_cortexm_line_t line = match_cortexm_long_line(sum, down, levels);
    int32_t distance = 0;
    for (; distance < 256; distance++) {
        const uint32_t value = (uint32_t)table[distance];
        const uint32_t quotient = match_cortexm_quotient(value >> down, &line);
        uint32_t share = quotient >> MATCH_CORTEXM_POINT;
        if (((quotient + error) >> MATCH_CORTEXM_POINT) != share) {
            share = match_cortexm_long_share(value, sum, levels);
        }
        if (share == 0u) {
            break;
        }
        results[distance] = (int8_t)match_cortexm_clip((int32_t)share + zero, low, high);
    }
    memset(&results[distance], match_cortexm_clip(zero, low, high), (size_t)(256 - distance));
    for (int32_t k = 0; k < size; k++) {
        to[k] = results[top - from[k]];
        MATCH_CORTEXM_TURN;
    }
}

#endif
