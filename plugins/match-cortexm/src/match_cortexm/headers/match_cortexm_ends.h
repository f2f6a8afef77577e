/* SPDX-License-Identifier: Apache-2.0 */
/* Between float32 and bytes for cores without an FPU, by tables of all 256 results. Sizes are arguments of functions that
 * compilers do not specialise (match_cortexm_moves.h). */
#ifndef MATCH_CORTEXM_ENDS_H
#define MATCH_CORTEXM_ENDS_H

#include "match_cortexm_moves.h"

#include <stdint.h>
#include <string.h>

/* The bits of infinity: of positive numbers, those above are none. */
#define MATCH_CORTEXM_INFINITY 0x7f800000

/* Results from low on: each is the last one whose entry of the table, the least number that gives it, is not above the
 * number. Numbers have the order of their bits; negative ones, of all bits but the sign inverted. */
MATCH_CORTEXM_OWN static void match_cortexm_quantize(
    uint8_t *to, const float *from, const int32_t *least, int32_t low, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        int32_t number;
        memcpy(&number, &from[i], sizeof number);
        number ^= (int32_t)((uint32_t)(number >> 31) >> 1);
        const int32_t *at = least;
        if (number <= MATCH_CORTEXM_INFINITY) {
            for (int32_t step = 128; step > 0; step >>= 1) {
                at = number >= at[step] ? &at[step] : at;
                MATCH_CORTEXM_TURN;
            }
        }
        to[i] = (uint8_t)(low + (int32_t)(at - least));
    }
}

/* The table's index is the byte as an unsigned number. */
MATCH_CORTEXM_OWN static void match_cortexm_dequantize(
    float *restrict to, const uint8_t *restrict from, const float *restrict table, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        to[i] = table[from[i]];
        MATCH_CORTEXM_TURN;
    }
}

#endif
