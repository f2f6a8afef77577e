/* SPDX-License-Identifier: Apache-2.0 */
/* Four weights of float16 as float32. They are stored with the exponent's bias 25 in place of 15, so that none is
 * subnormal, which vectors would flush; multiplication makes it 127. Products of float16 numbers are multiples of 2^-48,
 * and so are sums of them: nothing is flushed, and no status tells more. */
#ifndef MATCH_CORTEXM_HALF_H
#define MATCH_CORTEXM_HALF_H

#include "match_cortexm_float.h"
#include "match_half.h"

MATCH_CORTEXM_ONCE match_cortexm_s_t match_cortexm_s_load_half(const match_half_t *from)
{
    match_cortexm_s_t result;
    for (int k = 0; k < 4; k++) {
        const match_half_float_t moved = {.bits = (uint32_t)(from[k] & 0x8000u) << 16 | (uint32_t)(from[k] & 0x7FFFu) << 13};
        result.lane[k] = moved.value * 0x1p102f;
    }
    return result;
}

MATCH_CORTEXM_ONCE void match_cortexm_s_next_two_half(
    match_cortexm_s_t *first, match_cortexm_s_t *second, const match_half_t **w, float x)
{
    match_cortexm_s_add_one(first, match_cortexm_s_load_half(*w), x);
    match_cortexm_s_add_one(second, match_cortexm_s_load_half(*w + 4), x);
    *w += 8;
}

MATCH_CORTEXM_ONCE void match_cortexm_s_next_one_half(
    match_cortexm_s_t *first, match_cortexm_s_t *second, const match_half_t **w, float x0, float x1)
{
    match_cortexm_s_add_one(first, match_cortexm_s_load_half(*w), x0);
    match_cortexm_s_add_one(second, match_cortexm_s_load_half(*w), x1);
    *w += 4;
}

#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2) != 0 && !defined(MATCH_CORTEXM_PORTABLE)

MATCH_CORTEXM_INLINE match_cortexm_v_t match_cortexm_v_load_half(const match_half_t *from)
{
    const int32x4_t moved = vshlq_n_s32(vldrhq_s32((const int16_t *)from), 13);
    return vmulq_n_f32(vreinterpretq_f32_s32(vbicq_n_s32(moved, 0x70000000)), 0x1p102f);
}

#define MATCH_CORTEXM_HALF(TO)                                                                                         \
    "vldrh.s32 %q[" TO "], [%[w]], #8\n\t"                                                                             \
    "vshl.i32 %q[" TO "], %q[" TO "], #13\n\t"                                                                         \
    "vbic.i32 %q[" TO "], #0x70000000\n\t"                                                                             \
    "vmul.f32 %q[" TO "], %q[" TO "], %[scale]\n\t"

MATCH_CORTEXM_INLINE void match_cortexm_v_next_two_half(
    match_cortexm_v_t *first, match_cortexm_v_t *second, const match_half_t **w, float x)
{
    match_cortexm_v_t a, b;
    __asm__ volatile(MATCH_CORTEXM_HALF("a") MATCH_CORTEXM_HALF("b")
                     "vmul.f32 %q[a], %q[a], %[x]\n\t"
                     "vmul.f32 %q[b], %q[b], %[x]\n\t"
                     "vadd.f32 %q[s0], %q[s0], %q[a]\n\t"
                     "vadd.f32 %q[s1], %q[s1], %q[b]"
                     : [a] "=&w"(a), [b] "=&w"(b), [s0] "+w"(*first), [s1] "+w"(*second), [w] "+l"(*w)
                     : [x] "r"(x), [scale] "r"(0x1p102f)
                     : "memory");
}

MATCH_CORTEXM_INLINE void match_cortexm_v_next_one_half(
    match_cortexm_v_t *first, match_cortexm_v_t *second, const match_half_t **w, float x0, float x1)
{
    match_cortexm_v_t a, b;
    __asm__ volatile(MATCH_CORTEXM_HALF("b")
                     "vmul.f32 %q[a], %q[b], %[x0]\n\t"
                     "vmul.f32 %q[b], %q[b], %[x1]\n\t"
                     "vadd.f32 %q[s0], %q[s0], %q[a]\n\t"
                     "vadd.f32 %q[s1], %q[s1], %q[b]"
                     : [a] "=&w"(a), [b] "=&w"(b), [s0] "+w"(*first), [s1] "+w"(*second), [w] "+l"(*w)
                     : [x0] "r"(x0), [x1] "r"(x1), [scale] "r"(0x1p102f)
                     : "memory");
}

#else

#define match_cortexm_v_load_half match_cortexm_s_load_half
#define match_cortexm_v_next_two_half match_cortexm_s_next_two_half
#define match_cortexm_v_next_one_half match_cortexm_s_next_one_half

#endif

#endif
