/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax of lines of int8 from a table of exponentials: clip(floor(levels * t / sum + 1/2) + zero). A division for each
 * line; its quotient gives the result of each value, unless that is so near to a half that it has to be divided. */
#ifndef MATCH_CORTEXM_SOFTMAX_H
#define MATCH_CORTEXM_SOFTMAX_H

#include <stdint.h>

#include "match_cortexm.h"
#include "match_cortexm_bytes.h"
#include "match_cortexm_moves.h"

/* Quotients have so many bits behind the point. */
#define MATCH_CORTEXM_POINT 22
#define MATCH_CORTEXM_HALF (UINT32_C(1) << (MATCH_CORTEXM_POINT - 1))
/* Errors of a quotient are below this many of its last bits. */
#define MATCH_CORTEXM_ERROR 2u

/* The numbers of a line: the sum, what shifts it to 32 bits, and levels / sum. */
typedef struct {
    uint32_t sum;
    int32_t shift;
    uint32_t factor;
    uint32_t levels;
} match_cortexm_line_t;

static inline match_cortexm_line_t match_cortexm_line(uint32_t sum, uint32_t levels)
{
    match_cortexm_line_t line = {sum, 0, 0, levels};
#if defined(__GNUC__)
    line.shift = __builtin_clz(sum);
#else
    while (((sum << line.shift) & 0x80000000u) == 0u) {
        line.shift++;
    }
#endif
    line.factor = (uint32_t)(((uint64_t)levels << (32 + MATCH_CORTEXM_POINT)) / (sum << line.shift));
    return line;
}

/* The rounded quotient, with its bits behind the point: a product, whose result is a little too small. */
static inline uint32_t match_cortexm_quotient(uint32_t value, const match_cortexm_line_t *line)
{
    const uint32_t moved = value << line->shift;
    return (uint32_t)(((uint64_t)moved * line->factor) >> 32) + MATCH_CORTEXM_HALF;
}

MATCH_CORTEXM_OWN static uint32_t match_cortexm_divided(uint32_t value, uint32_t sum, uint32_t levels)
{
    return (uint32_t)(((uint64_t)value * (2u * levels) + sum) / (2u * (uint64_t)sum));
}

static inline int32_t match_cortexm_share(uint32_t value, const match_cortexm_line_t *line)
{
    const uint32_t quotient = match_cortexm_quotient(value, line);
    uint32_t share = quotient >> MATCH_CORTEXM_POINT;
    if (((quotient + MATCH_CORTEXM_ERROR) >> MATCH_CORTEXM_POINT) != share) {
        share = match_cortexm_divided(value, line->sum, line->levels);
    }
    return (int32_t)share;
}

static inline int32_t match_cortexm_top(const int8_t *from, int32_t size)
{
    int32_t top = INT8_MIN;
    int32_t k = 0;
#if defined(__ARM_FEATURE_MVE) && !defined(MATCH_CORTEXM_PORTABLE)
    for (; k < size; k += 16) {
        top = vmaxvq_p_s8((int8_t)top, vldrbq_z_s8(&from[k], vctp8q((uint32_t)(size - k))), vctp8q((uint32_t)(size - k)));
    }
#elif defined(__ARM_FEATURE_DSP)
    if (size >= 4) {
        int32_t most = match_cortexm_word(from);
        for (k = 4; k + 4 <= size; k += 4) {
            most = match_cortexm_max_s8(most, match_cortexm_word(&from[k]));
            MATCH_CORTEXM_TURN;
        }
        for (int32_t byte = 0; byte < 4; byte++) {
            const int32_t value = (int8_t)(uint8_t)((uint32_t)most >> (8 * byte));
            top = value > top ? value : top;
        }
    }
    for (; k < size; k++) {
        top = from[k] > top ? from[k] : top;
    }
#else
    for (; k < size; k++) {
        top = from[k] > top ? from[k] : top;
        MATCH_CORTEXM_TURN;
    }
#endif
    return top;
}

/* Compilers of cores without the DSP extension do not specialise the function. */
#if defined(__ARM_FEATURE_DSP)
#define MATCH_CORTEXM_LINES static inline
#else
#define MATCH_CORTEXM_LINES MATCH_CORTEXM_OWN static
#endif

static inline uint32_t match_cortexm_sum(const int8_t *from, const int32_t *table, int32_t size, int32_t top)
{
    uint32_t sum = 0;
#if defined(__ARM_FEATURE_MVE) && !defined(MATCH_CORTEXM_PORTABLE)
    for (int32_t k = 0; k < size; k += 4) {
        const mve_pred16_t some = vctp32q((uint32_t)(size - k));
        const uint32x4_t places = vreinterpretq_u32_s32(vsubq_s32(vdupq_n_s32(top), vldrbq_z_s32(&from[k], some)));
        const int32x4_t values = vldrwq_gather_shifted_offset_z_s32(table, places, some);
        sum = vaddvaq_p_u32(sum, vreinterpretq_u32_s32(values), some);
    }
#else
    for (int32_t k = 0; k < size; k++) {
        sum += (uint32_t)table[top - from[k]];
    }
#endif
    return sum;
}

/* The table has the exponentials of all 256 distances from the largest value. */
MATCH_CORTEXM_LINES void match_cortexm_softmax(
    int8_t *restrict to,
    const int8_t *restrict from,
    const int32_t *restrict table,
    int32_t size,
    uint32_t levels,
    int32_t zero,
    int32_t low,
    int32_t high)
{
    const int32_t top = match_cortexm_top(from, size);
    const uint32_t sum = match_cortexm_sum(from, table, size, top);
#if defined(__ARM_FEATURE_MVE) && !defined(MATCH_CORTEXM_PORTABLE)
    const match_cortexm_line_t line = match_cortexm_line(sum, levels);
    for (int32_t k = 0; k < size; k += 4) {
        const mve_pred16_t some = vctp32q((uint32_t)(size - k));
        const uint32x4_t places = vreinterpretq_u32_s32(vsubq_s32(vdupq_n_s32(top), vldrbq_z_s32(&from[k], some)));
        const uint32x4_t values = vreinterpretq_u32_s32(vldrwq_gather_shifted_offset_z_s32(table, places, some));
        uint32x4_t quotient = vmulhq_u32(vshlq_r_u32(values, line.shift), vdupq_n_u32(line.factor));
        quotient = vaddq_n_u32(quotient, MATCH_CORTEXM_HALF);
        const uint32x4_t share = vshrq_n_u32(quotient, MATCH_CORTEXM_POINT);
        const uint32x4_t near = vshrq_n_u32(vaddq_n_u32(quotient, MATCH_CORTEXM_ERROR), MATCH_CORTEXM_POINT);
        if (vcmpneq_m_u32(share, near, some) != 0u) {
            for (int32_t lane = k; (lane < k + 4) && (lane < size); lane++) {
                const int32_t value = match_cortexm_share((uint32_t)table[top - from[lane]], &line) + zero;
                to[lane] = (int8_t)match_cortexm_clip(value, low, high);
            }
        } else {
            int32x4_t value = vaddq_n_s32(vreinterpretq_s32_u32(share), zero);
            value = vminq_s32(vmaxq_s32(value, vdupq_n_s32(low)), vdupq_n_s32(high));
            vstrbq_p_s32(&to[k], value, some);
        }
    }
#else
    const match_cortexm_line_t line = match_cortexm_line(sum, levels);
    for (int32_t k = 0; k < size; k++) {
        const int32_t value = match_cortexm_share((uint32_t)table[top - from[k]], &line) + zero;
        to[k] = (int8_t)match_cortexm_clip(value, low, high);
    }
#endif
}

#endif
