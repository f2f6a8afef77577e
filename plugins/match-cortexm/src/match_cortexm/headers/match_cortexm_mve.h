/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors of 16 bytes on cores with Helium (MVE), and the same in plain C elsewhere. */
#ifndef MATCH_CORTEXM_MVE_H
#define MATCH_CORTEXM_MVE_H

#include <stdint.h>
#include <string.h>

#if defined(__ARM_FEATURE_MVE) && !defined(MATCH_CORTEXM_PORTABLE)

#include <arm_mve.h>

typedef int32x4_t match_cortexm_i32x4;

#define MATCH_CORTEXM_DOT                                                                                              \
    "vldrb.8 %q[x], [%[from]], #16\n\t"                                                                                \
    "vldrb.8 %q[w], [%[weights]], #16\n\t"                                                                             \
    "vmladava.s8 %[s0], %q[x], %q[w]\n\t"                                                                              \
    "vldrb.8 %q[w], [%[weights]], #16\n\t"                                                                             \
    "vmladava.s8 %[s1], %q[x], %q[w]\n\t"                                                                              \
    "vldrb.8 %q[w], [%[weights]], #16\n\t"                                                                             \
    "vmladava.s8 %[s2], %q[x], %q[w]\n\t"                                                                              \
    "vldrb.8 %q[w], [%[weights]], #16\n\t"                                                                             \
    "vmladava.s8 %[s3], %q[x], %q[w]\n\t"
#define MATCH_CORTEXM_DOT_1 MATCH_CORTEXM_DOT
#define MATCH_CORTEXM_DOT_2 MATCH_CORTEXM_DOT_1 MATCH_CORTEXM_DOT
#define MATCH_CORTEXM_DOT_3 MATCH_CORTEXM_DOT_2 MATCH_CORTEXM_DOT
#define MATCH_CORTEXM_DOT_4 MATCH_CORTEXM_DOT_3 MATCH_CORTEXM_DOT

/* Adds the products of 16 values with 16 weights of each of four outputs, STEPS times (1 to 4); VALUES and WEIGHTS
 * advance. The order of the instructions is fixed: compilers load all weights first, and have to spill them. All steps
 * are one statement, between which compilers would exchange the registers of the sums. */
#define MATCH_CORTEXM_DOTS(SUMS, VALUES, WEIGHTS, STEPS)                                                               \
    do {                                                                                                               \
        int8x16_t match_x, match_w;                                                                                    \
        __asm__ volatile(MATCH_CORTEXM_DOT_##STEPS                                                                     \
                         : [x] "=&w"(match_x), [w] "=&w"(match_w), [from] "+r"(VALUES), [weights] "+r"(WEIGHTS),       \
                           [s0] "+Te"((SUMS)[0]), [s1] "+Te"((SUMS)[1]), [s2] "+Te"((SUMS)[2]), [s3] "+Te"((SUMS)[3])  \
                         :                                                                                             \
                         : "memory");                                                                                  \
    } while (0)

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

/* Adds the products of four neighbouring channels; WEIGHTS advance. */
#define MATCH_CORTEXM_CHANNELS_4(SUMS, ADDRESS, WEIGHTS)                                                               \
    do {                                                                                                               \
        int32x4_t match_x, match_w;                                                                                    \
        __asm__ volatile("vldrb.s32 %q[x], [%[from]]\n\t"                                                              \
                         "vldrb.s32 %q[w], [%[weights]], #4\n\t"                                                       \
                         "vmul.i32 %q[x], %q[x], %q[w]\n\t"                                                            \
                         "vadd.i32 %q[s], %q[s], %q[x]"                                                                \
                         : [x] "=&w"(match_x), [w] "=&w"(match_w), [weights] "+l"(WEIGHTS), [s] "+w"(SUMS)             \
                         : [from] "l"(ADDRESS)                                                                         \
                         : "memory");                                                                                  \
    } while (0)

/* Adds the values of four neighbouring channels. */
static inline match_cortexm_i32x4 match_cortexm_sum_4(match_cortexm_i32x4 sums, const int8_t *from)
{
    return vaddq_s32(sums, vldrbq_s32(from));
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

/* clip((a * a_factor + b * b_factor + addend) >> shift) of four pairs of values. */
static inline void match_cortexm_add_4(
    int8_t *to,
    const int8_t *a,
    const int8_t *b,
    int32_t a_factor,
    int32_t b_factor,
    int32_t addend,
    int32_t shift,
    int32_t low,
    int32_t high)
{
    int32x4_t value = vmlaq_n_s32(vdupq_n_s32(addend), vldrbq_s32(a), a_factor);
    value = vshlq_r_s32(vmlaq_n_s32(value, vldrbq_s32(b), b_factor), -shift);
    vstrbq_s32(to, vminq_s32(vmaxq_s32(value, vdupq_n_s32(low)), vdupq_n_s32(high)));
}

#else

typedef struct {
    int32_t lane[4];
} match_cortexm_i32x4;

#define MATCH_CORTEXM_DOTS(SUMS, VALUES, WEIGHTS, STEPS)                                                               \
    do {                                                                                                               \
        for (int match_step = 0; match_step < (STEPS); match_step++) {                                                 \
            for (int match_o = 0; match_o < 4; match_o++) {                                                            \
                for (int match_k = 0; match_k < 16; match_k++) {                                                       \
                    (SUMS)[match_o] += (VALUES)[match_k] * (WEIGHTS)[16 * match_o + match_k];                          \
                }                                                                                                      \
            }                                                                                                          \
            (VALUES) += 16;                                                                                            \
            (WEIGHTS) += 64;                                                                                           \
        }                                                                                                              \
    } while (0)

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

#define MATCH_CORTEXM_CHANNELS_4(SUMS, ADDRESS, WEIGHTS)                                                               \
    do {                                                                                                               \
        for (int match_k = 0; match_k < 4; match_k++) {                                                                \
            (SUMS).lane[match_k] += (ADDRESS)[match_k] * (WEIGHTS)[match_k];                                           \
        }                                                                                                              \
        (WEIGHTS) += 4;                                                                                                \
    } while (0)

static inline match_cortexm_i32x4 match_cortexm_sum_4(match_cortexm_i32x4 sums, const int8_t *from)
{
    for (int k = 0; k < 4; k++) {
        sums.lane[k] += from[k];
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

static inline void match_cortexm_add_4(
    int8_t *to,
    const int8_t *a,
    const int8_t *b,
    int32_t a_factor,
    int32_t b_factor,
    int32_t addend,
    int32_t shift,
    int32_t low,
    int32_t high)
{
    for (int32_t k = 0; k < 4; k++) {
        const int32_t value = (a[k] * a_factor + b[k] * b_factor + addend) >> shift;
        to[k] = (int8_t)(value < low ? low : value > high ? high : value);
    }
}

#endif

#endif
