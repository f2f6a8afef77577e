/* SPDX-License-Identifier: Apache-2.0 */
/* Products of two computed matrices of int8: tiles of two rows by two columns. Sizes are arguments of a function that
 * compilers do not specialise (match_cortexm_moves.h). */
#ifndef MATCH_CORTEXM_MATMUL_H
#define MATCH_CORTEXM_MATMUL_H

#include "match_cortexm.h"
#include "match_cortexm_moves.h"

#if defined(__ARM_FEATURE_MVE) && !defined(MATCH_CORTEXM_PORTABLE)
#include <arm_mve.h>
#elif defined(__ARM_FEATURE_DSP) && !defined(MATCH_CORTEXM_PORTABLE)
#include <arm_acle.h>
#endif

/* clip(floor((sum * multiplier + addend) / 2^(32 + shift))). */
typedef struct {
    int64_t addend;
    int32_t multiplier;
    int32_t shift;
    int32_t low;
    int32_t high;
} match_cortexm_requant_t;

#if defined(__ARM_FEATURE_DSP) && !defined(__ARM_FEATURE_MVE) && !defined(MATCH_CORTEXM_PORTABLE)
/* Bytes 1 and 3 of a word as two numbers of 16 bits; the intrinsics of compilers have no rotation. */
static inline int16x2_t match_cortexm_odd(uint32_t word)
{
    int16x2_t pair;
    __asm__("sxtb16 %0, %1, ror #8" : "=r"(pair) : "r"(word));
    return pair;
}
#endif

/* The sums of rows a0 and a1 with columns b0 and b1, which are contiguous: a0 b0, a0 b1, a1 b0, a1 b1. */
static inline void match_cortexm_dots(
    int32_t *sums, const int8_t *a0, const int8_t *a1, const int8_t *b0, const int8_t *b1, int32_t depth)
{
    int32_t s0 = 0;
    int32_t s1 = 0;
    int32_t s2 = 0;
    int32_t s3 = 0;
    int32_t k = 0;
#if defined(__ARM_FEATURE_MVE) && !defined(MATCH_CORTEXM_PORTABLE)
    for (; k < depth; k += 16) {
        const mve_pred16_t some = vctp8q((uint32_t)(depth - k));
        const int8x16_t x0 = vldrbq_z_s8(&a0[k], some);
        const int8x16_t x1 = vldrbq_z_s8(&a1[k], some);
        const int8x16_t y0 = vldrbq_z_s8(&b0[k], some);
        const int8x16_t y1 = vldrbq_z_s8(&b1[k], some);
        s0 = vmladavaq_s8(s0, x0, y0);
        s1 = vmladavaq_s8(s1, x0, y1);
        s2 = vmladavaq_s8(s2, x1, y0);
        s3 = vmladavaq_s8(s3, x1, y1);
    }
#else
#if defined(__ARM_FEATURE_DSP) && !defined(MATCH_CORTEXM_PORTABLE)
    for (; k + 4 <= depth; k += 4) {
        const uint32_t x0 = (uint32_t)match_cortexm_word(&a0[k]);
        const uint32_t x1 = (uint32_t)match_cortexm_word(&a1[k]);
        const uint32_t y0 = (uint32_t)match_cortexm_word(&b0[k]);
        const uint32_t y1 = (uint32_t)match_cortexm_word(&b1[k]);
        const int16x2_t even0 = __sxtb16((int8x4_t)x0);
        const int16x2_t even1 = __sxtb16((int8x4_t)x1);
        const int16x2_t odd0 = match_cortexm_odd(x0);
        const int16x2_t odd1 = match_cortexm_odd(x1);
        int16x2_t column = __sxtb16((int8x4_t)y0);
        s0 = __smlad(even0, column, s0);
        s2 = __smlad(even1, column, s2);
        column = match_cortexm_odd(y0);
        s0 = __smlad(odd0, column, s0);
        s2 = __smlad(odd1, column, s2);
        column = __sxtb16((int8x4_t)y1);
        s1 = __smlad(even0, column, s1);
        s3 = __smlad(even1, column, s3);
        column = match_cortexm_odd(y1);
        s1 = __smlad(odd0, column, s1);
        s3 = __smlad(odd1, column, s3);
    }
#endif
    for (; k < depth; k++) {
        s0 += a0[k] * b0[k];
        s1 += a0[k] * b1[k];
        s2 += a1[k] * b0[k];
        s3 += a1[k] * b1[k];
        MATCH_CORTEXM_TURN;
    }
#endif
    sums[0] = s0;
    sums[1] = s1;
    sums[2] = s2;
    sums[3] = s3;
}

static inline int8_t match_cortexm_requantised(int32_t sum, const match_cortexm_requant_t *numbers)
{
    const int32_t value = match_cortexm_scale(sum, numbers->multiplier, numbers->addend, numbers->shift);
    return (int8_t)match_cortexm_clip(value, numbers->low, numbers->high);
}

/* The sum of depth values. */
static inline int32_t match_cortexm_total(const int8_t *from, int32_t depth)
{
    int32_t total = 0;
#if defined(__ARM_FEATURE_MVE) && !defined(MATCH_CORTEXM_PORTABLE)
    for (int32_t k = 0; k < depth; k += 16) {
        const mve_pred16_t some = vctp8q((uint32_t)(depth - k));
        total = vaddvaq_s8(total, vldrbq_z_s8(&from[k], some));
    }
#else
    for (int32_t k = 0; k < depth; k++) {
        total += from[k];
        MATCH_CORTEXM_TURN;
    }
#endif
    return total;
}

/* Sizes and numbers of match_cortexm_matmul. */
typedef struct {
    int32_t rows;
    int32_t depth;
    int32_t columns;
    int32_t a_zero;
    int32_t b_zero;
    match_cortexm_requant_t requant;
} match_cortexm_matmul_t;

/* (a - a_zero) [rows][depth] times (b - b_zero) [depth][columns]. scratch: for each column 4 bytes for its part of the
 * zero points, then depth * columns bytes for b with its columns as rows. Where rows or columns are odd, the last ones
 * are computed twice. */
MATCH_CORTEXM_OWN static void match_cortexm_matmul(
    int8_t *restrict to,
    const int8_t *restrict a,
    const int8_t *restrict b,
    void *restrict scratch,
    const match_cortexm_matmul_t *product)
{
    const int32_t depth = product->depth;
    const int32_t columns = product->columns;
    int32_t *const parts = (int32_t *)scratch;
    int8_t *const turned = (int8_t *)&parts[columns];
    match_cortexm_transpose_8((uint8_t *)turned, (const uint8_t *)b, depth, columns);
    for (int32_t column = 0; column < columns; column++) {
        const int32_t total = match_cortexm_total(&turned[column * depth], depth);
        parts[column] = product->a_zero * (depth * product->b_zero - total);
    }
    for (int32_t row = 0; row < product->rows; row += 2) {
        const int32_t next_row = row + 1 < product->rows ? 1 : 0;
        const int8_t *const a0 = &a[row * depth];
        const int8_t *const a1 = &a0[next_row * depth];
        const int32_t part0 = product->b_zero * match_cortexm_total(a0, depth);
        const int32_t part1 = product->b_zero * match_cortexm_total(a1, depth);
        const int8_t *at = turned;
        int8_t *out = &to[row * columns];
        for (int32_t column = 0; column < columns; column += 2) {
            const int32_t next = column + 1 < columns ? 1 : 0;
            int32_t sums[4];
            match_cortexm_dots(sums, a0, a1, at, at + next * depth, depth);
            int8_t *const below = &out[next_row * columns];
            out[0] = match_cortexm_requantised(sums[0] + parts[column] - part0, &product->requant);
            out[next] = match_cortexm_requantised(sums[1] + parts[column + next] - part0, &product->requant);
            below[0] = match_cortexm_requantised(sums[2] + parts[column] - part1, &product->requant);
            below[next] = match_cortexm_requantised(sums[3] + parts[column + next] - part1, &product->requant);
            at += 2 * depth;
            out += 2;
        }
    }
}

#endif
