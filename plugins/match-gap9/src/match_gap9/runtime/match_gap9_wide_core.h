/* match_gap9_wide_core.h - what each core does in the kernels of match_gap9_wide.h: its share, 64-bit requantisation.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_GAP9_WIDE_CORE_H
#define MATCH_GAP9_WIDE_CORE_H

#include <stdint.h>

#include "match_depthwise2d.h"
#include "match_gap9_clip.h"
#include "match_gap9_cores.h"
#include "pmsis.h"

#ifndef NUM_CORES
#define NUM_CORES 8
#endif

typedef struct {
    uint32_t start, stop;
} match_gap9_share_t;

/* This core's part of n items, in equal chunks. */
static inline match_gap9_share_t match_gap9_wide_share(uint32_t n)
{
    const uint32_t chunk = (n + NUM_CORES - 1u) / NUM_CORES, start = chunk * (uint32_t)pi_core_id();
    match_gap9_share_t share;
    share.start = (start < n) ? start : n;
    share.stop = (n - share.start < chunk) ? n : share.start + chunk;
    return share;
}

/* sum + products of the four bytes of two words: unsigned inputs, signed weights. */
static inline int32_t match_gap9_wide_dot(uint32_t inputs, uint32_t weights, int32_t sum)
{
#ifdef MATCH_GAP9_XPULP
    typedef uint8_t unsigned_bytes __attribute__((vector_size(4)));
    typedef int8_t signed_bytes __attribute__((vector_size(4)));
    return __builtin_pulp_sdotusp4((unsigned_bytes)inputs, (signed_bytes)weights, sum);
#else
    for (uint32_t bit = 0u; bit < 32u; bit += 8u) {
        sum += (int32_t)((inputs >> bit) & 255u) * (int8_t)(uint8_t)(weights >> bit);
    }
    return sum;
#endif
}

/* With shift >= 32 only the upper word of the 64-bit value counts. */
static inline uint8_t match_gap9_wide_upper(int32_t sum, int32_t multiplier, int64_t addend, uint32_t shift)
{
    const int64_t value = (int64_t)sum * multiplier + addend;
    return match_gap9_clip_u8((int32_t)(value >> 32) >> (shift - 32u));
}

static inline uint8_t match_gap9_wide_lower(int32_t sum, int32_t multiplier, int64_t addend, uint32_t shift)
{
    const int64_t result = ((int64_t)sum * multiplier + addend) >> shift;
    return (uint8_t)((result < 0) ? 0 : ((result > 255) ? 255 : result));
}

static inline uint8_t match_gap9_wide_requant(int32_t sum, int32_t multiplier, int64_t addend, uint32_t shift)
{
    return (shift >= 32u) ? match_gap9_wide_upper(sum, multiplier, addend, shift)
                          : match_gap9_wide_lower(sum, multiplier, addend, shift);
}

/* This core's part of a depthwise convolution with a 3x3 kernel (match_gap9_wide_depthwise_rows.c). */
void match_gap9_wide_depthwise_rows(const match_depthwise2d_t *tile);

#endif
