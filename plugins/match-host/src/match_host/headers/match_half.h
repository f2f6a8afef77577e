/* Arithmetic of binary16 numbers (IEEE 754, "half") stored as bits, in portable C11; conversions of Arm Cortex-M are
 * instructions, with the same results.
 *
 * Every result is the exact one rounded once to binary16, ties to even, including infinities and subnormal numbers. NaN
 * results are 0x7E00, as on RISC-V. Requires IEEE binary32 and binary64 in the default rounding mode.
 */
#ifndef MATCH_HALF_H
#define MATCH_HALF_H

#include <stdint.h>

typedef uint16_t match_half_t;

#define MATCH_HALF_ZERO ((match_half_t)0x0000u)
#define MATCH_HALF_ONE ((match_half_t)0x3C00u)
#define MATCH_HALF_INFINITY ((match_half_t)0x7C00u)
#define MATCH_HALF_NAN ((match_half_t)0x7E00u)

typedef union {
    float value;
    uint32_t bits;
} match_half_float_t;

typedef union {
    double value;
    uint64_t bits;
} match_half_double_t;

/* All bits where a < b, else none. Both are below 2^31; the shift is arithmetic (gcc, clang). Conversions choose with such
 * masks instead of branches, so that compilers can vectorise loops that convert. */
static inline uint32_t match_half_below(uint32_t a, uint32_t b)
{
    return (uint32_t)((int32_t)(a - b) >> 31);
}

#if defined(__ARM_FP) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M' && !defined(MATCH_HALF_PORTABLE)

/* All FPUs of Arm Cortex-M have VCVTB, also those of which gcc states binary32 only. A signalling NaN becomes quiet.
 * gcc inlines functions into those with other options only if it has to. */
static inline __attribute__((always_inline)) float match_half_to_float(match_half_t half)
{
    const match_half_float_t given = {.bits = half};
    float result;
    __asm__("vcvtb.f32.f16 %0, %1" : "=t"(result) : "t"(given.value));
    return result;
}

static inline __attribute__((always_inline)) match_half_t match_half_from_float(float value)
{
    match_half_float_t result;
    __asm__("vcvtb.f16.f32 %0, %1" : "=t"(result.value) : "t"(value));
    const uint32_t half = result.bits & 0xFFFFu;
    return (match_half_t)((half & 0x7FFFu) > 0x7C00u ? MATCH_HALF_NAN : half);
}

#else

static inline float match_half_to_float(match_half_t half)
{
    const uint32_t size = half & 0x7FFFu;
    /* Moves the exponent's bias from 15 to 127; infinities and NaN keep the largest exponent. */
    const uint32_t normal = (size << 13) + 0x38000000u + (match_half_below(0x7BFFu, size) & 0x38000000u);
    const match_half_float_t subnormal = {.value = (float)(int32_t)size * 0x1p-24f};
    const uint32_t small = match_half_below(size, 0x0400u), sign = (uint32_t)(half & 0x8000u) << 16;
    const match_half_float_t result = {.bits = sign | (subnormal.bits & small) | (normal & ~small)};
    return result.value;
}

static inline match_half_t match_half_from_float(float value)
{
    const match_half_float_t given = {.value = value};
    const uint32_t size = given.bits & 0x7FFFFFFFu;
    /* Rounds off the lowest 13 bits; a carry moves into the exponent, up to infinity. */
    const uint32_t normal = (size - 0x38000000u + 0x0FFFu + ((size >> 13) & 1u)) >> 13;
    /* One unit of the last place of 0.5 in binary32 is that of subnormal numbers: the addition rounds. */
    const match_half_float_t absolute = {.bits = size};
    const match_half_float_t moved = {.value = absolute.value + 0.5f};
    const uint32_t small = match_half_below(size, 0x38800000u), large = match_half_below(0x477FFFFFu, size);
    const uint32_t finite = ((moved.bits - 0x3F000000u) & small) | (normal & ~small);
    const uint32_t none = match_half_below(0x7F800000u, size); /* NaN */
    const uint32_t sign = (given.bits >> 16) & 0x8000u & ~none;
    return (match_half_t)(sign | (finite & ~large) | (0x7C00u & large) | (0x0200u & none));
}

#endif

/* The binary16 number nearest to a value, as float. */
static inline float match_half_round(float value)
{
    return match_half_to_float(match_half_from_float(value));
}

static inline match_half_t match_half_from_double(double value)
{
    const match_half_double_t given = {.value = value};
    const uint64_t size = given.bits & 0x7FFFFFFFFFFFFFFFu;
    const uint64_t sign = (given.bits >> 48) & 0x8000u;
    if (size - 0x3F10000000000000u < 0x40F0000000000000u - 0x3F10000000000000u) { /* from 2^-14 up to below 2^16 */
        return (match_half_t)(sign | ((size - 0x3F00000000000000u + 0x1FFFFFFFFFFu + ((size >> 42) & 1u)) >> 42));
    }
    if (size < 0x3F10000000000000u) { /* the last place of 2^28 in binary64 is that of subnormal numbers */
        const match_half_double_t absolute = {.bits = size};
        const match_half_double_t moved = {.value = absolute.value + 0x1p28};
        return (match_half_t)(sign | (moved.bits - 0x41B0000000000000u));
    }
    return (match_half_t)(size > 0x7FF0000000000000u ? MATCH_HALF_NAN : (sign | MATCH_HALF_INFINITY));
}

/* The binary16 number nearest to a value, as double: for sums that stay in double between two roundings. */
static inline double match_half_nearest(double value)
{
    match_half_double_t result = {.value = value};
    const uint64_t size = result.bits & 0x7FFFFFFFFFFFFFFFu;
    if (size - 0x3F10000000000000u < 0x40EFFE0000000000u - 0x3F10000000000000u) { /* from 2^-14 up to below 65520 */
        result.bits = (result.bits + 0x1FFFFFFFFFFu + ((size >> 42) & 1u)) & ~(uint64_t)0x3FFFFFFFFFFu;
        return result.value;
    }
    return (double)match_half_to_float(match_half_from_double(value));
}

/* a * b + c with one rounding. The double sum is not always exact. If it is not, either the product is so large
 * that the result is infinite, or so small that the sum loses less than 2^-30 of c, which is a binary16 number: too
 * little to reach a tie of binary16 or to leave one. */
static inline match_half_t match_half_fma(match_half_t a, match_half_t b, match_half_t c)
{
    const double product = (double)match_half_to_float(a) * (double)match_half_to_float(b);
    return match_half_from_double(product + (double)match_half_to_float(c));
}

static inline match_half_t match_half_add(match_half_t a, match_half_t b)
{
    return match_half_from_float(match_half_to_float(a) + match_half_to_float(b));
}

static inline match_half_t match_half_mul(match_half_t a, match_half_t b)
{
    return match_half_from_float(match_half_to_float(a) * match_half_to_float(b));
}

/* The larger number, +0 above -0; of a number and NaN, the number. As fmax.h of RISC-V. */
static inline match_half_t match_half_max(match_half_t a, match_half_t b)
{
    const int32_t first = (a & 0x8000u) != 0u ? -(int32_t)(a & 0x7FFFu) - 1 : (int32_t)a;
    const int32_t second = (b & 0x8000u) != 0u ? -(int32_t)(b & 0x7FFFu) - 1 : (int32_t)b;
    const int first_is_none = (a & 0x7FFFu) > 0x7C00u, second_is_none = (b & 0x7FFFu) > 0x7C00u;
    if (first_is_none || second_is_none) {
        return first_is_none ? (second_is_none ? MATCH_HALF_NAN : b) : a;
    }
    return first > second ? a : b;
}

#endif
