/* match_gap9_layout.c - see the header.
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_float.h"
#include "match_gap9_layout.h"

#include <math.h>

#include "match_gap9_cores.h"
#include "pmsis.h"

#ifndef NUM_CORES
#define NUM_CORES 8
#endif

/* The first of this core's share of n, and with core + 1 the end of it. */
static uint32_t share(uint32_t n, uint32_t core)
{
    const uint32_t chunk = (n + NUM_CORES - 1u) / NUM_CORES;
    return (core * chunk < n) ? core * chunk : n;
}

/* The same in whole words: a loop over bytes that begins at a word is compiled to one over words. */
static uint32_t share_of_words(uint32_t n, uint32_t core)
{
    const uint32_t first = 4u * share((n + 3u) / 4u, core);
    return (first < n) ? first : n;
}

void match_gap9_transpose_bytes(const uint8_t *in, uint8_t *out, uint32_t rows, uint32_t columns, uint8_t flip)
{
    const uint32_t core = (uint32_t)pi_core_id();
    const uint32_t start = share(columns, core), stop = share(columns, core + 1u);
    const uint32_t later = (rows > 16u) ? rows - 16u : 0u; /* which take less time */
    MATCH_GAP9_COUNT(TRANSPOSE_CALL, 1u);
    MATCH_GAP9_COUNT(TRANSPOSE_COLUMN, stop - start);
    MATCH_GAP9_COUNT(TRANSPOSE_ELEMENT, (stop - start) * (rows - later));
    MATCH_GAP9_COUNT(TRANSPOSE_LATER, (stop - start) * later);
    for (uint32_t column = start; column < stop; column++) {
        for (uint32_t row = 0u; row < rows; row++) {
            out[column * rows + row] = (uint8_t)(in[row * columns + column] ^ flip);
        }
    }
    pi_cl_team_barrier(0);
}

void match_gap9_flip_bytes(const uint8_t *in, uint8_t *out, uint32_t n, uint8_t flip)
{
    const uint32_t core = (uint32_t)pi_core_id();
    const uint32_t start = share_of_words(n, core), stop = share_of_words(n, core + 1u);
    MATCH_GAP9_COUNT(BYTES_CALL, 1u);
    MATCH_GAP9_COUNT(FLIP_WORD, (stop - start + 3u) / 4u);
    for (uint32_t i = start; i < stop; i++) {
        out[i] = (uint8_t)(in[i] ^ flip);
    }
    pi_cl_team_barrier(0);
}

void match_gap9_clip_bytes(const uint8_t *in, uint8_t *out, uint32_t n, uint8_t low, uint8_t high)
{
    const uint32_t core = (uint32_t)pi_core_id();
    const uint32_t start = share(n, core), stop = share(n, core + 1u);
    MATCH_GAP9_COUNT(BYTES_CALL, 1u);
    MATCH_GAP9_COUNT(CLIP_ELEMENT, stop - start);
    for (uint32_t i = start; i < stop; i++) {
        out[i] = (in[i] < low) ? low : ((in[i] > high) ? high : in[i]);
    }
    pi_cl_team_barrier(0);
}

void match_gap9_quantize(const float *in, uint8_t *out, uint32_t n, float scale, int32_t zero_point, int32_t low,
                         int32_t high)
{
    const uint32_t core = (uint32_t)pi_core_id();
    const uint32_t start = share(n, core), stop = share(n, core + 1u);
    const float least = (float)(low - zero_point), most = (float)(high - zero_point);
    MATCH_GAP9_COUNT(QUANTIZE_CALL, 1u);
    MATCH_GAP9_COUNT(QUANTIZE_ELEMENT, stop - start);
    for (uint32_t i = start; i < stop; i++) {
        const float value = in[i] / scale;
        const float kept = (value > least) ? ((value < most) ? value : most) : least; /* before rounding: also for NaN */
        out[i] = (uint8_t)((int32_t)lrintf(kept) + zero_point);
    }
    pi_cl_team_barrier(0);
}
