/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors of 16 bytes on cores with Helium (MVE), and the same in plain C elsewhere. */
#ifndef MATCH_CORTEXM_MVE_H
#define MATCH_CORTEXM_MVE_H

#include <stdint.h>
#include <string.h>

#if defined(__ARM_FEATURE_MVE) && !defined(MATCH_CORTEXM_PORTABLE)

#include <arm_mve.h>

typedef int32x4_t match_cortexm_i32x4;

/* Adds the products of 16 values with 16 weights of each of four outputs. */
static inline void match_cortexm_dot_4(int32_t *sums, const int8_t *values, const int8_t *weights)
{
    const int8x16_t x = vldrbq_s8(values);
    sums[0] = vmladavaq_s8(sums[0], x, vldrbq_s8(weights));
    sums[1] = vmladavaq_s8(sums[1], x, vldrbq_s8(&weights[16]));
    sums[2] = vmladavaq_s8(sums[2], x, vldrbq_s8(&weights[32]));
    sums[3] = vmladavaq_s8(sums[3], x, vldrbq_s8(&weights[48]));
}

static inline match_cortexm_i32x4 match_cortexm_zeros(void)
{
    return vdupq_n_s32(0);
}

/* Four 32-bit values at an aligned address. */
static inline match_cortexm_i32x4 match_cortexm_load_4(const int32_t *from)
{
    return vldrwq_s32(from);
}

static inline match_cortexm_i32x4 match_cortexm_gather(const int32_t *sums)
{
    match_cortexm_i32x4 result = vdupq_n_s32(sums[0]);
    result = vsetq_lane_s32(sums[1], result, 1);
    result = vsetq_lane_s32(sums[2], result, 2);
    return vsetq_lane_s32(sums[3], result, 3);
}

/* sums + values * weights of four neighbouring channels. */
static inline match_cortexm_i32x4 match_cortexm_channels_4(
    match_cortexm_i32x4 sums, const int8_t *values, const int8_t *weights)
{
    return vaddq_s32(sums, vmulq_s32(vldrbq_s32(values), vldrbq_s32(weights)));
}

/* clip(((sums * 2^left + addend) * multiplier / 2^32) / 2^right), with saturation before the product; stores the first
 * count results. */
static inline void match_cortexm_finish_4(
    int8_t *to,
    int32_t count,
    match_cortexm_i32x4 sums,
    const int32_t *multiplier,
    const int32_t *addend,
    int32_t left,
    int32_t right,
    int32_t low,
    int32_t high)
{
    match_cortexm_i32x4 value = vqaddq_s32(vqshlq_r_s32(sums, left), vldrwq_s32(addend));
    value = vshlq_r_s32(vmulhq_s32(value, vldrwq_s32(multiplier)), -right);
    value = vminq_s32(vmaxq_s32(value, vdupq_n_s32(low)), vdupq_n_s32(high));
    if (count == 4) {
        vstrbq_s32(to, value);
    } else {
        vstrbq_p_s32(to, value, vctp32q((uint32_t)count));
    }
}

#else

typedef struct {
    int32_t lane[4];
} match_cortexm_i32x4;

static inline void match_cortexm_dot_4(int32_t *sums, const int8_t *values, const int8_t *weights)
{
    for (int o = 0; o < 4; o++) {
        for (int k = 0; k < 16; k++) {
            sums[o] += values[k] * weights[16 * o + k];
        }
    }
}

static inline match_cortexm_i32x4 match_cortexm_zeros(void)
{
    const match_cortexm_i32x4 result = {{0, 0, 0, 0}};
    return result;
}

static inline match_cortexm_i32x4 match_cortexm_load_4(const int32_t *from)
{
    match_cortexm_i32x4 result;
    memcpy(result.lane, from, sizeof result.lane);
    return result;
}

static inline match_cortexm_i32x4 match_cortexm_gather(const int32_t *sums)
{
    return match_cortexm_load_4(sums);
}

static inline match_cortexm_i32x4 match_cortexm_channels_4(
    match_cortexm_i32x4 sums, const int8_t *values, const int8_t *weights)
{
    for (int k = 0; k < 4; k++) {
        sums.lane[k] += values[k] * weights[k];
    }
    return sums;
}

static inline int32_t match_cortexm_saturate(int64_t value)
{
    return (int32_t)(value < INT32_MIN ? INT32_MIN : value > INT32_MAX ? INT32_MAX : value);
}

static inline void match_cortexm_finish_4(
    int8_t *to,
    int32_t count,
    match_cortexm_i32x4 sums,
    const int32_t *multiplier,
    const int32_t *addend,
    int32_t left,
    int32_t right,
    int32_t low,
    int32_t high)
{
    for (int32_t k = 0; k < count; k++) {
        const int32_t moved = match_cortexm_saturate((int64_t)sums.lane[k] * ((int64_t)1 << left));
        const int32_t total = match_cortexm_saturate((int64_t)moved + addend[k]);
        const int32_t value = (int32_t)(((int64_t)total * multiplier[k]) >> 32) >> right;
        to[k] = (int8_t)(value < low ? low : value > high ? high : value);
    }
}

#endif

#endif
