/* SPDX-License-Identifier: Apache-2.0 */
/* Products of int16 values and int8 weights, for SMLAD, for vectors of eight, and in plain C.
 *
 * A word holds two values, which SMLAD takes as they are. Weights are stored for it: 16 bytes for four outputs
 * (a, b, c, d) and four values, in the order a0 b0 a1 b1, c0 d0 c1 d1, a2 b2 a3 b3, c2 d2 c3 d3, so that SXTB16 gives
 * pairs of an output. */
#ifndef MATCH_CORTEXM_INT16_H
#define MATCH_CORTEXM_INT16_H

#include "match_cortexm.h"
#include "match_cortexm_dsp.h"
#include "match_cortexm_mve.h"

#include <stdint.h>
#include <string.h>

/* Value k at any address. */
static inline int32_t match_cortexm_value(const void *at, int k)
{
    int16_t value;
    memcpy(&value, (const int8_t *)at + 2 * k, sizeof value);
    return value;
}

/* Clips to the bounds of int16, and to 0 to its upper one. */
static inline int32_t match_cortexm_to_int16(int32_t value)
{
#if defined(MATCH_CORTEXM_DSP)
    __asm__("ssat %0, #16, %0" : "+r"(value));
    return value;
#else
    return value < INT16_MIN ? INT16_MIN : value > INT16_MAX ? INT16_MAX : value;
#endif
}

static inline int32_t match_cortexm_to_uint15(int32_t value)
{
#if defined(MATCH_CORTEXM_DSP)
    __asm__("usat %0, #15, %0" : "+r"(value));
    return value;
#else
    return value < 0 ? 0 : value > INT16_MAX ? INT16_MAX : value;
#endif
}

/* Adds the products of four values with the weights of four outputs. */
#define MATCH_CORTEXM_SUMS_16(SUMS, VALUES, WEIGHTS, OFFSET)                                                           \
    for (int match_k = 0; match_k < 4; match_k++) {                                                                    \
        const int32_t match_value = match_cortexm_value((VALUES) + (OFFSET), match_k);                                 \
        for (int match_o = 0; match_o < 4; match_o++) {                                                                \
            const int match_place =                                                                                    \
                (match_k >> 1) * 8 + (match_o >> 1) * 4 + (match_k & 1) * 2 + (match_o & 1);                           \
            (SUMS)[match_o] += match_value * ((const int8_t *)(WEIGHTS))[match_place];                                 \
        }                                                                                                              \
    }

#if defined(MATCH_CORTEXM_DSP) && defined(__OPTIMIZE__)

/* Four values of one position for four outputs: 16 products in 20 instructions. */
#define MATCH_CORTEXM_STEP_16(SUMS, VALUES, WEIGHTS)                                                                   \
    do {                                                                                                               \
        int32_t match_a, match_v, match_u, match_t;                                                                    \
        __asm__ volatile("ldr %[a], [%[x]], #4\n\t" MATCH_CORTEXM_PAIRS_1("%[a]")                                      \
                         "ldr %[a], [%[x]], #4\n\t" MATCH_CORTEXM_PAIRS_1("%[a]")                                      \
                         : [a] "=&r"(match_a), [v] "=&r"(match_v), [u] "=&r"(match_u), [t] "=&r"(match_t),             \
                           [x] "+r"(VALUES), [w] "+r"(WEIGHTS), [s0] "+r"((SUMS)[0]), [s1] "+r"((SUMS)[1]),            \
                           [s2] "+r"((SUMS)[2]), [s3] "+r"((SUMS)[3])                                                  \
                         :                                                                                             \
                         : "memory");                                                                                  \
    } while (0)

/* Four channels of one tap of a depthwise convolution: four products in 7 instructions. Weights have 16 bits. */
#define MATCH_CORTEXM_CHANNELS_16(SUMS, ADDRESS, WEIGHTS)                                                              \
    do {                                                                                                               \
        int32_t match_a, match_t, match_v, match_u;                                                                    \
        __asm__ volatile("ldr %[t], [%[x]]\n\tldr %[a], [%[x], #4]\n\tldrd %[v], %[u], [%[w]], #8\n\t"                 \
                         "smlabb %[s0], %[t], %[v], %[s0]\n\t"                                                         \
                         "smlatt %[s1], %[t], %[v], %[s1]\n\t"                                                         \
                         "smlabb %[s2], %[a], %[u], %[s2]\n\t"                                                         \
                         "smlatt %[s3], %[a], %[u], %[s3]"                                                             \
                         : [a] "=&r"(match_a), [t] "=&r"(match_t), [v] "=&r"(match_v), [u] "=&r"(match_u),             \
                           [w] "+r"(WEIGHTS), [s0] "+r"((SUMS)[0]), [s1] "+r"((SUMS)[1]), [s2] "+r"((SUMS)[2]),        \
                           [s3] "+r"((SUMS)[3])                                                                        \
                         : [x] "r"(ADDRESS)                                                                            \
                         : "memory");                                                                                  \
    } while (0)

/* Adds the values of four channels, in 6 instructions. */
#define MATCH_CORTEXM_ADD_16(SUMS, ADDRESS)                                                                            \
    do {                                                                                                               \
        int32_t match_a, match_t;                                                                                      \
        __asm__ volatile("ldr %[t], [%[x]]\n\tldr %[a], [%[x], #4]\n\t"                                                \
                         "sxtah %[s0], %[s0], %[t]\n\t"                                                               \
                         "sxtah %[s1], %[s1], %[t], ror #16\n\t"                                                      \
                         "sxtah %[s2], %[s2], %[a]\n\t"                                                               \
                         "sxtah %[s3], %[s3], %[a], ror #16"                                                           \
                         : [a] "=&r"(match_a), [t] "=&r"(match_t), [s0] "+r"((SUMS)[0]), [s1] "+r"((SUMS)[1]),         \
                           [s2] "+r"((SUMS)[2]), [s3] "+r"((SUMS)[3])                                                  \
                         : [x] "r"(ADDRESS)                                                                            \
                         : "memory");                                                                                  \
    } while (0)

#else

#define MATCH_CORTEXM_ADD_16(SUMS, ADDRESS)                                                                            \
    do {                                                                                                               \
        for (int match_c = 0; match_c < 4; match_c++) {                                                                \
            (SUMS)[match_c] += (ADDRESS)[match_c];                                                                     \
        }                                                                                                              \
    } while (0)

#define MATCH_CORTEXM_STEP_16(SUMS, VALUES, WEIGHTS)                                                                   \
    do {                                                                                                               \
        MATCH_CORTEXM_SUMS_16(SUMS, VALUES, WEIGHTS, 0)                                                                \
        (VALUES) += 8;                                                                                                 \
        (WEIGHTS) += 4;                                                                                                \
    } while (0)

#define MATCH_CORTEXM_CHANNELS_16(SUMS, ADDRESS, WEIGHTS)                                                              \
    do {                                                                                                               \
        for (int match_c = 0; match_c < 4; match_c++) {                                                                \
            (SUMS)[match_c] += (ADDRESS)[match_c] * ((const int16_t *)(WEIGHTS))[match_c];                             \
        }                                                                                                              \
        (WEIGHTS) += 2;                                                                                                \
    } while (0)

#endif

/* The end of a requantisation, and a second one of its results; a multiplier of 0: there is none. */
typedef struct {
    int32_t shift;
    int32_t low;
    int32_t high;
} match_cortexm_bounds;

typedef struct {
    int32_t factor;
    int32_t multiplier;
    int64_t addend;
    match_cortexm_bounds bounds;
} match_cortexm_again;

#if defined(__ARM_FEATURE_MVE) && !defined(MATCH_CORTEXM_PORTABLE)

#include <arm_mve.h>

#define MATCH_CORTEXM_DOT_16                                                                                           \
    "vldrh.16 %q[x], [%[from]], #16\n\t"                                                                               \
    "vldrb.s16 %q[w], [%[weights]], #8\n\t"                                                                            \
    "vmladava.s16 %[s0], %q[x], %q[w]\n\t"                                                                             \
    "vldrb.s16 %q[w], [%[weights]], #8\n\t"                                                                            \
    "vmladava.s16 %[s1], %q[x], %q[w]\n\t"                                                                             \
    "vldrb.s16 %q[w], [%[weights]], #8\n\t"                                                                            \
    "vmladava.s16 %[s2], %q[x], %q[w]\n\t"                                                                             \
    "vldrb.s16 %q[w], [%[weights]], #8\n\t"                                                                            \
    "vmladava.s16 %[s3], %q[x], %q[w]\n\t"
#define MATCH_CORTEXM_DOT_16_1 MATCH_CORTEXM_DOT_16
#define MATCH_CORTEXM_DOT_16_2 MATCH_CORTEXM_DOT_16_1 MATCH_CORTEXM_DOT_16
#define MATCH_CORTEXM_DOT_16_3 MATCH_CORTEXM_DOT_16_2 MATCH_CORTEXM_DOT_16
#define MATCH_CORTEXM_DOT_16_4 MATCH_CORTEXM_DOT_16_3 MATCH_CORTEXM_DOT_16

/* Adds the products of eight values with eight weights of each of four outputs, STEPS times (1 to 4). */
#define MATCH_CORTEXM_DOTS_16(SUMS, VALUES, WEIGHTS, STEPS)                                                            \
    do {                                                                                                               \
        int16x8_t match_x, match_w;                                                                                    \
        __asm__ volatile(MATCH_CORTEXM_DOT_16_##STEPS                                                                  \
                         : [x] "=&w"(match_x), [w] "=&w"(match_w), [from] "+l"(VALUES), [weights] "+l"(WEIGHTS),       \
                           [s0] "+Te"((SUMS)[0]), [s1] "+Te"((SUMS)[1]), [s2] "+Te"((SUMS)[2]), [s3] "+Te"((SUMS)[3])  \
                         :                                                                                             \
                         : "memory");                                                                                  \
    } while (0)

/* Adds the products of four neighbouring channels with weights of 16 bits, which advance. */
#define MATCH_CORTEXM_CHANNELS_16_4(SUMS, ADDRESS, WEIGHTS)                                                            \
    do {                                                                                                               \
        int32x4_t match_x, match_w;                                                                                    \
        __asm__ volatile("vldrh.s32 %q[x], [%[from]]\n\t"                                                              \
                         "vldrh.s32 %q[w], [%[weights]], #8\n\t"                                                       \
                         "vmul.i32 %q[x], %q[x], %q[w]\n\t"                                                            \
                         "vadd.i32 %q[s], %q[s], %q[x]"                                                                \
                         : [x] "=&w"(match_x), [w] "=&w"(match_w), [weights] "+l"(WEIGHTS), [s] "+w"(SUMS)             \
                         : [from] "l"(ADDRESS)                                                                         \
                         : "memory");                                                                                  \
    } while (0)

/* Adds the values of four neighbouring channels. */
static inline match_cortexm_i32x4 match_cortexm_sum_16_4(match_cortexm_i32x4 sums, const int16_t *from)
{
    return vaddq_s32(sums, vldrhq_s32(from));
}

/* floor((sums * multiplier + addend) / 2^(32 + shift)), with the addend's words apart: the upper word of the product,
 * and the carry of the lower ones. */
static inline int32x4_t match_cortexm_scale_4(
    int32x4_t sums, int32x4_t multiplier, uint32x4_t lower, int32x4_t upper, int32_t shift)
{
    const uint32x4_t total = vaddq_u32(vreinterpretq_u32_s32(vmulq_s32(sums, multiplier)), lower);
    const int32x4_t value = vaddq_s32(vmulhq_s32(sums, multiplier), upper);
    return vshlq_r_s32(vaddq_m_n_s32(value, value, 1, vcmphiq_u32(lower, total)), -shift);
}

/* Clips four values; scales and clips them, times a factor, once more. */
static inline int32x4_t match_cortexm_clip_4(
    int32x4_t value, const match_cortexm_bounds first, const match_cortexm_again again)
{
    value = vminq_s32(vmaxq_s32(value, vdupq_n_s32(first.low)), vdupq_n_s32(first.high));
    if (again.multiplier != 0) {
        value = match_cortexm_scale_4(
            vmulq_n_s32(value, again.factor),
            vdupq_n_s32(again.multiplier),
            vdupq_n_u32((uint32_t)again.addend),
            vdupq_n_s32((int32_t)(again.addend >> 32)),
            again.bounds.shift);
        value = vminq_s32(vmaxq_s32(value, vdupq_n_s32(again.bounds.low)), vdupq_n_s32(again.bounds.high));
    }
    return value;
}

/* Four sums of two values, times 2^left, of which each has a factor. */
static inline void match_cortexm_add_16(
    int16_t *to,
    const int16_t *a,
    const int16_t *b,
    int32_t left,
    int32_t a_factor,
    int32_t b_factor,
    int64_t addend,
    const match_cortexm_bounds first,
    const match_cortexm_again again)
{
    const int32x4_t values = vshlq_r_s32(vldrhq_s32(b), left);
    const uint32x4_t lower = vdupq_n_u32((uint32_t)addend);
    const uint32x4_t total = vaddq_u32(vreinterpretq_u32_s32(vmulq_n_s32(values, b_factor)), lower);
    const int32x4_t upper = vaddq_n_s32(vmulhq_s32(values, vdupq_n_s32(b_factor)), (int32_t)(addend >> 32));
    const int32x4_t carried = vaddq_m_n_s32(upper, upper, 1, vcmphiq_u32(lower, total));
    const int32x4_t value = match_cortexm_scale_4(
        vshlq_r_s32(vldrhq_s32(a), left), vdupq_n_s32(a_factor), total, carried, first.shift);
    vstrhq_s32(to, match_cortexm_clip_4(value, first, again));
}

/* Scales four sums, clips them and stores the first count. */
static inline void match_cortexm_finish_16(
    int16_t *to,
    int32_t count,
    match_cortexm_i32x4 sums,
    const int32_t *multiplier,
    const int64_t *addend,
    const match_cortexm_bounds first,
    const match_cortexm_again again)
{
    const int32x4x2_t words = vld2q_s32((const int32_t *)addend);
    int32x4_t value = match_cortexm_scale_4(
        sums, vldrwq_s32(multiplier), vreinterpretq_u32_s32(words.val[0]), words.val[1], first.shift);
    value = match_cortexm_clip_4(value, first, again);
    if (count == 4) {
        vstrhq_s32(to, value);
    } else {
        vstrhq_p_s32(to, value, vctp32q((uint32_t)count));
    }
}

#else

#define MATCH_CORTEXM_CHANNELS_16_4(SUMS, ADDRESS, WEIGHTS)                                                            \
    do {                                                                                                               \
        for (int match_k = 0; match_k < 4; match_k++) {                                                                \
            (SUMS).lane[match_k] += (ADDRESS)[match_k] * ((const int16_t *)(WEIGHTS))[match_k];                        \
        }                                                                                                              \
        (WEIGHTS) += 2;                                                                                                \
    } while (0)

static inline match_cortexm_i32x4 match_cortexm_sum_16_4(match_cortexm_i32x4 sums, const int16_t *from)
{
    for (int k = 0; k < 4; k++) {
        sums.lane[k] += from[k];
    }
    return sums;
}

static inline void match_cortexm_finish_16(
    int16_t *to,
    int32_t count,
    match_cortexm_i32x4 sums,
    const int32_t *multiplier,
    const int64_t *addend,
    const match_cortexm_bounds first,
    const match_cortexm_again again)
{
    for (int32_t k = 0; k < count; k++) {
        const int32_t scaled = match_cortexm_scale(sums.lane[k], multiplier[k], addend[k], first.shift);
        int32_t value = match_cortexm_clip(scaled, first.low, first.high);
        if (again.multiplier != 0) {
            value = match_cortexm_scale(value * again.factor, again.multiplier, again.addend, again.bounds.shift);
            value = match_cortexm_clip(value, again.bounds.low, again.bounds.high);
        }
        to[k] = (int16_t)value;
    }
}

static inline void match_cortexm_add_16(
    int16_t *to,
    const int16_t *a,
    const int16_t *b,
    int32_t left,
    int32_t a_factor,
    int32_t b_factor,
    int64_t addend,
    const match_cortexm_bounds first,
    const match_cortexm_again again)
{
    for (int32_t k = 0; k < 4; k++) {
        const int64_t total = ((int64_t)a[k] * a_factor + (int64_t)b[k] * b_factor) * ((int64_t)1 << left) + addend;
        int32_t value = match_cortexm_clip((int32_t)(total >> 32) >> first.shift, first.low, first.high);
        if (again.multiplier != 0) {
            value = match_cortexm_scale(value * again.factor, again.multiplier, again.addend, again.bounds.shift);
            value = match_cortexm_clip(value, again.bounds.low, again.bounds.high);
        }
        to[k] = (int16_t)value;
    }
}

#define MATCH_CORTEXM_DOTS_16(SUMS, VALUES, WEIGHTS, STEPS)                                                            \
    do {                                                                                                               \
        for (int match_step = 0; match_step < (STEPS); match_step++) {                                                 \
            for (int match_o = 0; match_o < 4; match_o++) {                                                            \
                for (int match_k = 0; match_k < 8; match_k++) {                                                        \
                    (SUMS)[match_o] += match_cortexm_value(VALUES, match_k) * (WEIGHTS)[8 * match_o + match_k];        \
                }                                                                                                      \
            }                                                                                                          \
            (VALUES) += 16;                                                                                            \
            (WEIGHTS) += 32;                                                                                           \
        }                                                                                                              \
    } while (0)

#endif

#endif
