/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax as in match_cortexm_softmax.h, of lines whose sums may not fit 32 bits: pieces are summed up, whose sums do.
 * Vectors leave out the lowest bits of sums and values. */
#ifndef MATCH_CORTEXM_SOFTMAX_LONG_H
#define MATCH_CORTEXM_SOFTMAX_LONG_H

#include "match_cortexm_softmax.h"

MATCH_CORTEXM_OWN static uint32_t match_cortexm_long_share(uint32_t value, uint64_t sum, uint32_t levels)
{
    return (uint32_t)(((uint64_t)value * (2u * levels) + sum) / (2u * sum));
}

static inline uint64_t match_cortexm_long_sum(
    const int8_t *from, const int32_t *table, int32_t size, int32_t piece, int32_t top)
{
    uint64_t sum = 0;
    for (int32_t k = 0; k < size; k += piece) {
        sum += match_cortexm_sum(&from[k], table, (size - k < piece) ? (size - k) : piece, top);
    }
    return sum;
}

/* The numbers of a line, of whose sum the lowest bits are left out, rounded up. */
static inline match_cortexm_line_t match_cortexm_long_line(uint64_t sum, uint32_t down, uint32_t levels)
{
    return match_cortexm_line((uint32_t)((sum + (((uint64_t)1 << down) - 1u)) >> down), levels);
}

/* `piece`: values whose sum fits 32 bits; `down`: bits of the sum that do not; `error`: by less than so many of their
 * last bits quotients are too small. */
static inline void match_cortexm_softmax_long(
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
    const int32_t top = match_cortexm_top(from, size);
    const uint64_t sum = match_cortexm_long_sum(from, table, size, piece, top);
#if defined(__ARM_FEATURE_MVE) && !defined(MATCH_CORTEXM_PORTABLE)
    const match_cortexm_line_t line = match_cortexm_long_line(sum, down, levels);
    for (int32_t k = 0; k < size; k += 4) {
        const mve_pred16_t some = vctp32q((uint32_t)(size - k));
        const uint32x4_t places = vreinterpretq_u32_s32(vsubq_s32(vdupq_n_s32(top), vldrbq_z_s32(&from[k], some)));
        uint32x4_t values = vreinterpretq_u32_s32(vldrwq_gather_shifted_offset_z_s32(table, places, some));
        values = vshlq_r_u32(vshlq_r_u32(values, -(int32_t)down), line.shift);
        const uint32x4_t quotient = vaddq_n_u32(vmulhq_u32(values, vdupq_n_u32(line.factor)), MATCH_CORTEXM_HALF);
        const uint32x4_t shares = vshrq_n_u32(quotient, MATCH_CORTEXM_POINT);
        const uint32x4_t near = vshrq_n_u32(vaddq_n_u32(quotient, error), MATCH_CORTEXM_POINT);
        if (vcmpneq_m_u32(shares, near, some) != 0u) {
            for (int32_t lane = k; (lane < k + 4) && (lane < size); lane++) {
                const uint32_t share = match_cortexm_long_share((uint32_t)table[top - from[lane]], sum, levels);
                to[lane] = (int8_t)match_cortexm_clip((int32_t)share + zero, low, high);
            }
        } else {
            int32x4_t value = vaddq_n_s32(vreinterpretq_s32_u32(shares), zero);
            value = vminq_s32(vmaxq_s32(value, vdupq_n_s32(low)), vdupq_n_s32(high));
            vstrbq_p_s32(&to[k], value, some);
        }
    }
#else
    (void)down;
    (void)error;
    for (int32_t k = 0; k < size; k++) {
        const uint32_t share = match_cortexm_long_share((uint32_t)table[top - from[k]], sum, levels);
        to[k] = (int8_t)match_cortexm_clip((int32_t)share + zero, low, high);
    }
#endif
}

#endif
