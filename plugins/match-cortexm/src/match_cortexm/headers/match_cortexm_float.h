/* SPDX-License-Identifier: Apache-2.0 */
/* Floating-point numbers on cores with Helium. Its vectors of them always flush subnormal numbers to zero (Armv8-M
 * Architecture Reference Manual: StandardFPSCRValue), so results may differ from those of the scalar unit, of the twin
 * and of ONNX Runtime. But FPSCR tells: a flushed operand sets IDC, a flushed result UFC. Functions whose vectors this
 * file defines run a second time in scalar code if either is set; others must not have vectors. */
#ifndef MATCH_CORTEXM_FLOAT_H
#define MATCH_CORTEXM_FLOAT_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if !defined(__ARM_FEATURE_MVE) || defined(MATCH_CORTEXM_SCALAR_FLOATS)
#define MATCH_CORTEXM_SCALAR
#elif defined(__GNUC__) && !defined(__clang__)
#define MATCH_CORTEXM_SCALAR __attribute__((optimize("no-tree-vectorize")))
#elif (__ARM_FEATURE_MVE & 2) == 0
#define MATCH_CORTEXM_SCALAR
#else
#error "compile this file without vectors, and with -DMATCH_CORTEXM_SCALAR_FLOATS: -fno-vectorize -fno-slp-vectorize"
#endif

/* gcc inlines functions into those with other options only if it has to. */
#if defined(__GNUC__)
#define MATCH_CORTEXM_APART __attribute__((noinline))
#define MATCH_CORTEXM_AGAIN __attribute__((noinline, cold))
#define MATCH_CORTEXM_INLINE static inline __attribute__((always_inline))
#else
#define MATCH_CORTEXM_APART
#define MATCH_CORTEXM_AGAIN
#define MATCH_CORTEXM_INLINE static inline
#endif
/* Where vectors compute, few numbers need scalar code: it is small there. */
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2) != 0 && defined(__GNUC__) && !defined(MATCH_CORTEXM_PORTABLE)
#define MATCH_CORTEXM_ONCE MATCH_CORTEXM_SCALAR static __attribute__((noinline, unused))
#else
#define MATCH_CORTEXM_ONCE MATCH_CORTEXM_INLINE
#endif

/* Four numbers one after another. */
typedef struct {
    float lane[4];
} match_cortexm_s_t;

MATCH_CORTEXM_ONCE match_cortexm_s_t match_cortexm_s_load(const float *from)
{
    match_cortexm_s_t result;
    memcpy(result.lane, from, sizeof result.lane);
    return result;
}

MATCH_CORTEXM_ONCE void match_cortexm_s_store(float *to, match_cortexm_s_t value)
{
    memcpy(to, value.lane, sizeof value.lane);
}

/* The first count numbers only. */
MATCH_CORTEXM_ONCE match_cortexm_s_t match_cortexm_s_load_some(const float *from, uint32_t count)
{
    match_cortexm_s_t result = {{0.0f, 0.0f, 0.0f, 0.0f}};
    memcpy(result.lane, from, count * sizeof *from);
    return result;
}

MATCH_CORTEXM_ONCE void match_cortexm_s_store_some(float *to, match_cortexm_s_t value, uint32_t count)
{
    memcpy(to, value.lane, count * sizeof *to);
}

MATCH_CORTEXM_INLINE void match_cortexm_s_stored(void)
{
}

MATCH_CORTEXM_INLINE void match_cortexm_s_computed(match_cortexm_s_t *value)
{
    (void)value;
}

MATCH_CORTEXM_INLINE const float *match_cortexm_s_place(const float *place)
{
    return place;
}

MATCH_CORTEXM_ONCE match_cortexm_s_t match_cortexm_s_all(float value)
{
    const match_cortexm_s_t result = {{value, value, value, value}};
    return result;
}

MATCH_CORTEXM_ONCE match_cortexm_s_t match_cortexm_s_of(float a, float b, float c, float d)
{
    const match_cortexm_s_t result = {{a, b, c, d}};
    return result;
}

MATCH_CORTEXM_ONCE match_cortexm_s_t match_cortexm_s_add(match_cortexm_s_t a, match_cortexm_s_t b)
{
    for (int k = 0; k < 4; k++) {
        a.lane[k] += b.lane[k];
    }
    return a;
}

MATCH_CORTEXM_ONCE match_cortexm_s_t match_cortexm_s_sub(match_cortexm_s_t a, match_cortexm_s_t b)
{
    for (int k = 0; k < 4; k++) {
        a.lane[k] -= b.lane[k];
    }
    return a;
}

MATCH_CORTEXM_ONCE match_cortexm_s_t match_cortexm_s_mul(match_cortexm_s_t a, match_cortexm_s_t b)
{
    for (int k = 0; k < 4; k++) {
        a.lane[k] *= b.lane[k];
    }
    return a;
}

/* NaN stays. */
MATCH_CORTEXM_ONCE match_cortexm_s_t match_cortexm_s_at_least(match_cortexm_s_t a, float low)
{
    for (int k = 0; k < 4; k++) {
        a.lane[k] = a.lane[k] < low ? low : a.lane[k];
    }
    return a;
}

MATCH_CORTEXM_ONCE match_cortexm_s_t match_cortexm_s_at_most(match_cortexm_s_t a, float high)
{
    for (int k = 0; k < 4; k++) {
        a.lane[k] = a.lane[k] > high ? high : a.lane[k];
    }
    return a;
}

/* The larger numbers; NaN only where all were. */
MATCH_CORTEXM_ONCE match_cortexm_s_t match_cortexm_s_lowest(void)
{
    return match_cortexm_s_all(NAN);
}

MATCH_CORTEXM_ONCE match_cortexm_s_t match_cortexm_s_larger(match_cortexm_s_t a, match_cortexm_s_t b)
{
    for (int k = 0; k < 4; k++) {
        a.lane[k] = (b.lane[k] > a.lane[k]) || (a.lane[k] != a.lane[k]) ? b.lane[k] : a.lane[k];
    }
    return a;
}

/* Stores quotients. */
MATCH_CORTEXM_ONCE void match_cortexm_s_store_quotients(float *to, match_cortexm_s_t value, float divisor)
{
    for (int k = 0; k < 4; k++) {
        to[k] = value.lane[k] / divisor;
    }
}

/* sum + w * x with two roundings. */
MATCH_CORTEXM_ONCE void match_cortexm_s_add_one(match_cortexm_s_t *sum, match_cortexm_s_t w, float x)
{
    *sum = match_cortexm_s_add(*sum, match_cortexm_s_mul(w, match_cortexm_s_all(x)));
}

MATCH_CORTEXM_ONCE void match_cortexm_s_add_two(
    match_cortexm_s_t *first, match_cortexm_s_t *second, match_cortexm_s_t w0, match_cortexm_s_t w1, float x0, float x1)
{
    match_cortexm_s_add_one(first, w0, x0);
    match_cortexm_s_add_one(second, w1, x1);
}

/* The products of two vectors of weights and a value, or of one vector and two values; weights advance. */
MATCH_CORTEXM_ONCE void match_cortexm_s_next_two(
    match_cortexm_s_t *first, match_cortexm_s_t *second, const float **w, float x)
{
    match_cortexm_s_add_one(first, match_cortexm_s_load(*w), x);
    match_cortexm_s_add_one(second, match_cortexm_s_load(*w + 4), x);
    *w += 8;
}

MATCH_CORTEXM_ONCE void match_cortexm_s_next_one(
    match_cortexm_s_t *first, match_cortexm_s_t *second, const float **w, float x0, float x1)
{
    match_cortexm_s_add_one(first, match_cortexm_s_load(*w), x0);
    match_cortexm_s_add_one(second, match_cortexm_s_load(*w), x1);
    *w += 4;
}

MATCH_CORTEXM_ONCE void match_cortexm_s_next_single(match_cortexm_s_t *sum, const float **w, float x)
{
    match_cortexm_s_add_one(sum, match_cortexm_s_load(*w), x);
    *w += 4;
}

MATCH_CORTEXM_ONCE void match_cortexm_s_next_three(match_cortexm_s_t *first, match_cortexm_s_t *second,
    match_cortexm_s_t *third, const float **w, float x0, float x1, float x2)
{
    match_cortexm_s_add_two(first, second, match_cortexm_s_load(*w), match_cortexm_s_load(*w), x0, x1);
    match_cortexm_s_next_single(third, w, x2);
}

MATCH_CORTEXM_ONCE void match_cortexm_s_next_four(match_cortexm_s_t *first, match_cortexm_s_t *second,
    match_cortexm_s_t *third, match_cortexm_s_t *fourth, const float **w, float x0, float x1, float x2, float x3)
{
    match_cortexm_s_add_one(first, match_cortexm_s_load(*w), x0);
    match_cortexm_s_next_three(second, third, fourth, w, x1, x2, x3);
}

#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2) != 0

#define MATCH_CORTEXM_FLUSHED 0x88u /* IDC and UFC */
#define MATCH_CORTEXM_UNSURE 0x89u /* and IOC: a NaN was compared */

MATCH_CORTEXM_INLINE uint32_t match_cortexm_status(void)
{
    uint32_t status;
    __asm__ volatile("vmrs %0, fpscr" : "=r"(status) : : "memory");
    return status;
}

MATCH_CORTEXM_INLINE void match_cortexm_set_status(uint32_t status)
{
    __asm__ volatile("vmsr fpscr, %0" : : "r"(status) : "memory");
}

#else

#define MATCH_CORTEXM_FLUSHED 0u
#define MATCH_CORTEXM_UNSURE 0u

MATCH_CORTEXM_INLINE uint32_t match_cortexm_status(void)
{
    return 0;
}

MATCH_CORTEXM_INLINE void match_cortexm_set_status(uint32_t status)
{
    (void)status;
}

#endif

/* Whether one of these flags was set since the last call. */
MATCH_CORTEXM_INLINE bool match_cortexm_raised(uint32_t flags)
{
    const uint32_t status = match_cortexm_status();
    if ((status & flags) == 0u) {
        return false;
    }
    match_cortexm_set_status(status & ~flags);
    return true;
}

#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2) != 0 && !defined(MATCH_CORTEXM_PORTABLE)

#include <arm_mve.h>

typedef float32x4_t match_cortexm_v_t;

MATCH_CORTEXM_INLINE match_cortexm_v_t match_cortexm_v_load(const float *from)
{
    return vldrwq_f32(from);
}

MATCH_CORTEXM_INLINE void match_cortexm_v_store(float *to, match_cortexm_v_t value)
{
    vstrwq_f32(to, value);
}

MATCH_CORTEXM_INLINE match_cortexm_v_t match_cortexm_v_load_some(const float *from, uint32_t count)
{
    return vldrwq_z_f32(from, vctp32q(count));
}

MATCH_CORTEXM_INLINE void match_cortexm_v_store_some(float *to, match_cortexm_v_t value, uint32_t count)
{
    vstrwq_p_f32(to, value, vctp32q(count));
}

/* gcc 12 moves loads of single numbers before the stores of vectors that they come from. */
MATCH_CORTEXM_INLINE void match_cortexm_v_stored(void)
{
    __asm__ volatile("" : : : "memory");
}

/* Compilers compute the addresses of neighbours from this one: registers are too few for one of each. */
MATCH_CORTEXM_INLINE const float *match_cortexm_v_place(const float *place)
{
    __asm__("" : "+r"(place));
    return place;
}

/* Computes a vector before the status is read. */
MATCH_CORTEXM_INLINE void match_cortexm_v_computed(match_cortexm_v_t *value)
{
    __asm__ volatile("" : "+w"(*value));
}

MATCH_CORTEXM_INLINE match_cortexm_v_t match_cortexm_v_all(float value)
{
    return vdupq_n_f32(value);
}

MATCH_CORTEXM_INLINE match_cortexm_v_t match_cortexm_v_of(float a, float b, float c, float d)
{
    const float values[4] = {a, b, c, d};
    match_cortexm_v_stored();
    return vldrwq_f32(values);
}

MATCH_CORTEXM_INLINE match_cortexm_v_t match_cortexm_v_add(match_cortexm_v_t a, match_cortexm_v_t b)
{
    return vaddq_f32(a, b);
}

MATCH_CORTEXM_INLINE match_cortexm_v_t match_cortexm_v_sub(match_cortexm_v_t a, match_cortexm_v_t b)
{
    return vsubq_f32(a, b);
}

MATCH_CORTEXM_INLINE match_cortexm_v_t match_cortexm_v_mul(match_cortexm_v_t a, match_cortexm_v_t b)
{
    return vmulq_f32(a, b);
}

/* Not VCMP LT, which holds for NaN. Compilers would save predicates, and keep bounds in registers during the sums. */
MATCH_CORTEXM_INLINE match_cortexm_v_t match_cortexm_v_at_least(match_cortexm_v_t a, float low)
{
    match_cortexm_v_t result;
    mve_pred16_t beyond;
    __asm__("vdup.32 %q[result], %[low]\n\t"
            "vcmp.f32 gt, %q[result], %q[a]\n\t"
            "vpsel %q[result], %q[result], %q[a]"
            : [result] "=&w"(result), [beyond] "=Up"(beyond)
            : [a] "w"(a), [low] "r"(low));
    (void)beyond;
    return result;
}

MATCH_CORTEXM_INLINE match_cortexm_v_t match_cortexm_v_at_most(match_cortexm_v_t a, float high)
{
    match_cortexm_v_t result;
    mve_pred16_t beyond;
    __asm__("vdup.32 %q[result], %[high]\n\t"
            "vcmp.f32 gt, %q[a], %q[result]\n\t"
            "vpsel %q[result], %q[result], %q[a]"
            : [result] "=&w"(result), [beyond] "=Up"(beyond)
            : [a] "w"(a), [high] "r"(high));
    (void)beyond;
    return result;
}

/* A comparison with NaN sets IOC, and results are computed again. */
MATCH_CORTEXM_INLINE match_cortexm_v_t match_cortexm_v_lowest(void)
{
    return vdupq_n_f32(-INFINITY);
}

MATCH_CORTEXM_INLINE match_cortexm_v_t match_cortexm_v_larger(match_cortexm_v_t a, match_cortexm_v_t b)
{
    return vpselq_f32(b, a, vcmpgtq_f32(b, a));
}

MATCH_CORTEXM_INLINE void match_cortexm_v_store_quotients(float *to, match_cortexm_v_t value, float divisor)
{
    float lane[4];
    vstrwq_f32(lane, value);
    match_cortexm_v_stored();
    for (int k = 0; k < 4; k++) {
        to[k] = lane[k] / divisor;
    }
}

MATCH_CORTEXM_INLINE void match_cortexm_v_add_one(match_cortexm_v_t *sum, match_cortexm_v_t w, float x)
{
    *sum = vaddq_f32(*sum, vmulq_n_f32(w, x));
}

/* The order of the instructions is fixed, and no operand is read before the last product: compilers start all products
 * first, or read the operands of all taps first, and have to spill them. */
MATCH_CORTEXM_INLINE void match_cortexm_v_add_two(
    match_cortexm_v_t *first, match_cortexm_v_t *second, match_cortexm_v_t w0, match_cortexm_v_t w1, float x0, float x1)
{
    match_cortexm_v_t a, b;
    __asm__ volatile("vmul.f32 %q[a], %q[w0], %[x0]\n\t"
                     "vmul.f32 %q[b], %q[w1], %[x1]\n\t"
                     "vadd.f32 %q[s0], %q[s0], %q[a]\n\t"
                     "vadd.f32 %q[s1], %q[s1], %q[b]"
                     : [a] "=&w"(a), [b] "=&w"(b), [s0] "+w"(*first), [s1] "+w"(*second)
                     : [w0] "w"(w0), [w1] "w"(w1), [x0] "r"(x0), [x1] "r"(x1)
                     : "memory");
}

MATCH_CORTEXM_INLINE void match_cortexm_v_next_two(
    match_cortexm_v_t *first, match_cortexm_v_t *second, const float **w, float x)
{
    match_cortexm_v_t a, b;
    __asm__ volatile("vldrw.32 %q[a], [%[w]], #16\n\t"
                     "vldrw.32 %q[b], [%[w]], #16\n\t"
                     "vmul.f32 %q[a], %q[a], %[x]\n\t"
                     "vmul.f32 %q[b], %q[b], %[x]\n\t"
                     "vadd.f32 %q[s0], %q[s0], %q[a]\n\t"
                     "vadd.f32 %q[s1], %q[s1], %q[b]"
                     : [a] "=&w"(a), [b] "=&w"(b), [s0] "+w"(*first), [s1] "+w"(*second), [w] "+l"(*w)
                     : [x] "r"(x)
                     : "memory");
}

MATCH_CORTEXM_INLINE void match_cortexm_v_next_one(
    match_cortexm_v_t *first, match_cortexm_v_t *second, const float **w, float x0, float x1)
{
    match_cortexm_v_t a, b;
    __asm__ volatile("vldrw.32 %q[b], [%[w]], #16\n\t"
                     "vmul.f32 %q[a], %q[b], %[x0]\n\t"
                     "vmul.f32 %q[b], %q[b], %[x1]\n\t"
                     "vadd.f32 %q[s0], %q[s0], %q[a]\n\t"
                     "vadd.f32 %q[s1], %q[s1], %q[b]"
                     : [a] "=&w"(a), [b] "=&w"(b), [s0] "+w"(*first), [s1] "+w"(*second), [w] "+l"(*w)
                     : [x0] "r"(x0), [x1] "r"(x1)
                     : "memory");
}

MATCH_CORTEXM_INLINE void match_cortexm_v_next_single(match_cortexm_v_t *sum, const float **w, float x)
{
    match_cortexm_v_t a;
    __asm__ volatile("vldrw.32 %q[a], [%[w]], #16\n\t"
                     "vmul.f32 %q[a], %q[a], %[x]\n\t"
                     "vadd.f32 %q[s], %q[s], %q[a]"
                     : [a] "=&w"(a), [s] "+w"(*sum), [w] "+l"(*w)
                     : [x] "r"(x)
                     : "memory");
}

MATCH_CORTEXM_INLINE void match_cortexm_v_next_three(match_cortexm_v_t *first, match_cortexm_v_t *second,
    match_cortexm_v_t *third, const float **w, float x0, float x1, float x2)
{
    match_cortexm_v_t a, b;
    __asm__ volatile("vldrw.32 %q[b], [%[w]], #16\n\t"
                     "vmul.f32 %q[a], %q[b], %[x0]\n\t"
                     "vadd.f32 %q[s0], %q[s0], %q[a]\n\t"
                     "vmul.f32 %q[a], %q[b], %[x1]\n\t"
                     "vmul.f32 %q[b], %q[b], %[x2]\n\t"
                     "vadd.f32 %q[s1], %q[s1], %q[a]\n\t"
                     "vadd.f32 %q[s2], %q[s2], %q[b]"
                     : [a] "=&w"(a), [b] "=&w"(b), [s0] "+w"(*first), [s1] "+w"(*second), [s2] "+w"(*third), [w] "+l"(*w)
                     : [x0] "r"(x0), [x1] "r"(x1), [x2] "r"(x2)
                     : "memory");
}

MATCH_CORTEXM_INLINE void match_cortexm_v_next_four(match_cortexm_v_t *first, match_cortexm_v_t *second,
    match_cortexm_v_t *third, match_cortexm_v_t *fourth, const float **w, float x0, float x1, float x2, float x3)
{
    match_cortexm_v_t a, b, c;
    __asm__ volatile("vldrw.32 %q[c], [%[w]], #16\n\t"
                     "vmul.f32 %q[a], %q[c], %[x0]\n\t"
                     "vmul.f32 %q[b], %q[c], %[x1]\n\t"
                     "vadd.f32 %q[s0], %q[s0], %q[a]\n\t"
                     "vadd.f32 %q[s1], %q[s1], %q[b]\n\t"
                     "vmul.f32 %q[a], %q[c], %[x2]\n\t"
                     "vmul.f32 %q[b], %q[c], %[x3]\n\t"
                     "vadd.f32 %q[s2], %q[s2], %q[a]\n\t"
                     "vadd.f32 %q[s3], %q[s3], %q[b]"
                     : [a] "=&w"(a), [b] "=&w"(b), [c] "=&w"(c), [s0] "+w"(*first), [s1] "+w"(*second),
                       [s2] "+w"(*third), [s3] "+w"(*fourth), [w] "+l"(*w)
                     : [x0] "r"(x0), [x1] "r"(x1), [x2] "r"(x2), [x3] "r"(x3)
                     : "memory");
}

#else

#define match_cortexm_v_t match_cortexm_s_t
#define match_cortexm_v_load match_cortexm_s_load
#define match_cortexm_v_store match_cortexm_s_store
#define match_cortexm_v_load_some match_cortexm_s_load_some
#define match_cortexm_v_store_some match_cortexm_s_store_some
#define match_cortexm_v_stored match_cortexm_s_stored
#define match_cortexm_v_computed match_cortexm_s_computed
#define match_cortexm_v_place match_cortexm_s_place
#define match_cortexm_v_all match_cortexm_s_all
#define match_cortexm_v_of match_cortexm_s_of
#define match_cortexm_v_add match_cortexm_s_add
#define match_cortexm_v_sub match_cortexm_s_sub
#define match_cortexm_v_mul match_cortexm_s_mul
#define match_cortexm_v_at_least match_cortexm_s_at_least
#define match_cortexm_v_at_most match_cortexm_s_at_most
#define match_cortexm_v_lowest match_cortexm_s_lowest
#define match_cortexm_v_larger match_cortexm_s_larger
#define match_cortexm_v_store_quotients match_cortexm_s_store_quotients
#define match_cortexm_v_add_one match_cortexm_s_add_one
#define match_cortexm_v_add_two match_cortexm_s_add_two
#define match_cortexm_v_next_two match_cortexm_s_next_two
#define match_cortexm_v_next_one match_cortexm_s_next_one
#define match_cortexm_v_next_single match_cortexm_s_next_single
#define match_cortexm_v_next_three match_cortexm_s_next_three
#define match_cortexm_v_next_four match_cortexm_s_next_four

#endif

#endif
