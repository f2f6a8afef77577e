/* match_carfield_int8_core.h - what each core does in the 8-bit kernels: its share, windows, requantisation.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_CARFIELD_INT8_CORE_H
#define MATCH_CARFIELD_INT8_CORE_H

#include <stdint.h>

#include "match_carfield_pulp.h"

#define MATCH_CARFIELD_WORD_BYTES 4u

typedef struct {
    uint32_t start, stop;
} match_carfield_part_t;

/* This core's part of n items, in equal contiguous chunks. */
static inline match_carfield_part_t match_carfield_part(uint32_t n)
{
    const uint32_t cores = (uint32_t)get_core_num(), core = (uint32_t)rt_core_id();
    const uint32_t chunk = (n + cores - 1u) / cores, start = chunk * core;
    match_carfield_part_t part;
    part.start = (start < n) ? start : n;
    part.stop = (n - part.start < chunk) ? n : part.start + chunk;
    return part;
}

static inline uint32_t match_carfield_least(uint32_t a, uint32_t b)
{
    return (a < b) ? a : b;
}

/* clip((sum * multiplier + addend) >> shift), as a byte: the bounds say whether it has a sign. */
static inline uint8_t match_carfield_requant(int32_t sum, int32_t multiplier, int64_t addend, uint32_t shift,
                                             int32_t low, int32_t high)
{
    const int64_t value = ((int64_t)sum * multiplier + addend) >> shift;
    return (uint8_t)((value < low) ? low : ((value > high) ? high : value));
}

/* sum + products of four values, with and without a sign, and signed weights, both at multiples of four. */
static inline int32_t match_carfield_dot(const uint8_t *x, const int8_t *weight, int32_t sum, int input_signed)
{
#ifdef MATCH_CARFIELD_XPULP
    typedef uint8_t unsigned_bytes __attribute__((vector_size(4)));
    typedef int8_t signed_bytes __attribute__((vector_size(4)));
    const unsigned_bytes *const inputs = (const void *)x;
    const signed_bytes *const weights = (const void *)weight;
    if (input_signed) {
        return __builtin_pulp_sdotsp4((signed_bytes)*inputs, *weights, sum);
    }
    return __builtin_pulp_sdotusp4(*inputs, *weights, sum);
#else
    if (input_signed) {
        const int8_t *const s = (const int8_t *)x;
        return sum + s[0] * weight[0] + s[1] * weight[1] + s[2] * weight[2] + s[3] * weight[3];
    }
    return sum + x[0] * weight[0] + x[1] * weight[1] + x[2] * weight[2] + x[3] * weight[3];
#endif
}

/* Row or column of the input under a tap, or -1 where there is padding. */
static inline int32_t match_carfield_under(uint32_t output, int32_t stride, uint32_t tap, int32_t dilation,
                                           uint32_t pad_before, uint32_t size)
{
    const int32_t at = (int32_t)output * stride + (int32_t)tap * dilation - (int32_t)pad_before;
    return ((at < 0) || (at >= (int32_t)size)) ? -1 : at;
}

#endif
