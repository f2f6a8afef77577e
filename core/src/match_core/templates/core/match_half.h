/* Arithmetic of binary16 numbers (IEEE 754, "half") kept as their bits, in portable C11.
 *
 * Every result is the exact one rounded once to binary16, ties to even; infinities and subnormal numbers included. A
 * result that is not a number is 0x7E00, as on RISC-V. Needs IEEE binary32 and binary64 in the default rounding mode.
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

static inline float match_half_to_float(match_half_t half)
{
    const uint32_t size = half & 0x7FFFu;
    /* Moves the exponent's bias from 15 to 127; infinities and what is no number keep the largest exponent. */
    const match_half_float_t normal = {.bits = (size << 13) + (size >= 0x7C00u ? 0x70000000u : 0x38000000u)};
    match_half_float_t result = {.value = size < 0x0400u ? (float)size * 0x1p-24f : normal.value};
    result.bits |= (uint32_t)(half & 0x8000u) << 16;
    return result.value;
}

static inline match_half_t match_half_from_float(float value)
{
    const match_half_float_t given = {.value = value};
    const uint32_t size = given.bits & 0x7FFFFFFFu;
    /* Rounds in the 13 bits that go away; a carry moves into the exponent, up to infinity. */
    const uint32_t normal = (size - 0x38000000u + 0x0FFFu + ((size >> 13) & 1u)) >> 13;
    /* One unit of the last place of 0.5 in binary32 is that of subnormal numbers: the addition rounds. */
    const match_half_float_t absolute = {.bits = size};
    const match_half_float_t moved = {.value = absolute.value + 0.5f};
    const uint32_t finite = size < 0x38800000u ? moved.bits - 0x3F000000u : normal;
    const uint32_t special = size > 0x7F800000u ? 0x7E00u : 0x7C00u;
    const uint32_t sign = size > 0x7F800000u ? 0u : (given.bits >> 16) & 0x8000u;
    return (match_half_t)(sign | (size >= 0x47800000u ? special : finite));
}

/* The binary16 number nearest to a value, as float. */
static inline float match_half_round(float value)
{
    return match_half_to_float(match_half_from_float(value));
}

static inline match_half_t match_half_from_double(double value)
{
    const match_half_double_t given = {.value = value};
    const uint64_t size = given.bits & 0x7FFFFFFFFFFFFFFFu;
    const uint64_t normal = (size - 0x3F00000000000000u + 0x1FFFFFFFFFFu + ((size >> 42) & 1u)) >> 42;
    const match_half_double_t absolute = {.bits = size};
    const match_half_double_t moved = {.value = absolute.value + 0x1p28};
    const uint64_t finite = size < 0x3F10000000000000u ? moved.bits - 0x41B0000000000000u : normal;
    const uint64_t special = size > 0x7FF0000000000000u ? 0x7E00u : 0x7C00u;
    const uint64_t sign = size > 0x7FF0000000000000u ? 0u : (given.bits >> 48) & 0x8000u;
    return (match_half_t)(sign | (size >= 0x40F0000000000000u ? special : finite));
}

/* The binary16 number nearest to a value, as double: for sums that stay in double between two roundings. */
static inline double match_half_nearest(double value)
{
    const match_half_double_t given = {.value = value};
    const match_half_double_t absolute = {.bits = given.bits & 0x7FFFFFFFFFFFFFFFu};
    const match_half_double_t least = {.value = absolute.value > 0x1p-14 ? absolute.value : 0x1p-14};
    /* The sum with 1.5 * 2^42 times the value's power of two has its last place where the result has. */
    const match_half_double_t power = {.bits = least.bits & 0x7FF0000000000000u};
    const double large = power.value * 0x1.8p42;
    const double rounded = (absolute.value + large) - large;
    match_half_double_t result = {.value = absolute.value < 65520.0 ? rounded : absolute.value * 0x1p1023};
    result.bits |= given.bits & 0x8000000000000000u;
    return result.value;
}

/* a * b + c with one rounding. The double sum is not always exact, but where it is not, what it loses is below 2^-30 of
 * c, which is a binary16 number: too little to reach a tie of binary16 or to leave one. */
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

/* The larger number, +0 above -0; of a number and what is none, the number. As fmax.h of RISC-V. */
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
