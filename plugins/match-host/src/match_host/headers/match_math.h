/* Functions of binary32 numbers in portable C11 without branches or tables, so that compilers can vectorise loops that
 * call them, and so that results are the same on every platform.
 *
 * Largest error over all numbers, in units of the last place of the result: match_exp 1.0, match_expm1 1.6,
 * match_tanh 1.3, match_erf 1.2, match_softplus 2.6, match_mish 4.5 (of results above 2^-118). The others are exact
 * except for their sums and products. Infinities map to the limits; NaN stays NaN. Requires IEEE binary32 in the default
 * rounding mode, evaluated as binary32.
 *
 * Coefficients: exp and tanh of S. Moshier's Cephes library, erf of N. Juffa.
 */
#ifndef MATCH_MATH_H
#define MATCH_MATH_H

#include <float.h>
#include <stdint.h>

#if FLT_EVAL_METHOD == 1 || FLT_EVAL_METHOD == 2
#error "match_math.h: float must not be evaluated in a wider type (for x86 of 32 bits: -msse2 -mfpmath=sse)"
#endif

typedef union {
    float value;
    uint32_t bits;
} match_real_t;

static inline uint32_t match_real_bits(float x)
{
    const match_real_t given = {.value = x};
    return given.bits;
}

/* The bits of a number without its sign. */
static inline uint32_t match_real_size(float x)
{
    return match_real_bits(x) & 0x7FFFFFFFu;
}

/* A number with the sign of another number. */
static inline float match_real_signed(float size, float sign)
{
    const match_real_t result = {.bits = match_real_size(size) | (match_real_bits(sign) & 0x80000000u)};
    return result.value;
}

/* The first number if the difference is negative, else the second. The shift is arithmetic (gcc, clang). */
static inline float match_real_choose(uint32_t difference, float first, float second)
{
    const uint32_t mask = (uint32_t)((int32_t)difference >> 31);
    const match_real_t result = {.bits = (match_real_bits(first) & mask) | (match_real_bits(second) & ~mask)};
    return result.value;
}

/* The first number if the sign bit of x is set, else the second. */
static inline float match_real_by_sign(float x, float first, float second)
{
    return match_real_choose(match_real_bits(x), first, second);
}

/* A number clamped to a limit on both sides; the limit is given by its bits. */
static inline float match_real_held(float x, uint32_t limit)
{
    const match_real_t most = {.bits = limit};
    const uint32_t size = match_real_size(x); /* above the bits of infinity: NaN */
    return match_real_choose((limit - size) & (size - 0x7F800001u), match_real_signed(most.value, x), x);
}

/* exp(x) = (1 + rest) * 2^one * 2^other; x is clamped to +-104. */
typedef struct {
    float rest;
    uint32_t one, other;
} match_real_power_t;

static inline match_real_power_t match_real_power(float x)
{
    const float held = match_real_held(x, 0x42D00000u);
    const float turns = held * 0x1.715476p0f + 0x1.8p23f; /* the last bits count powers of two */
    const float count = turns - 0x1.8p23f;
    const float r = (held - count * 0x1.62e4p-1f) - count * 0x1.7f7d1cp-20f;
    const float high = (1.9875691500e-4f * r + 1.3981999507e-3f) * r + 8.3334519073e-3f;
    const float series = ((high * r + 4.1665795894e-2f) * r + 1.6666665459e-1f) * r + 5.0000001201e-1f;
    const uint32_t whole = match_real_bits(turns) - 0x4B400000u;
    const uint32_t half = (uint32_t)((int32_t)whole >> 1);
    const match_real_power_t result = {.rest = series * (r * r) + r, .one = half, .other = whole - half};
    return result;
}

/* 2^exponent for exponents, as two's complement, of -126 to 127. */
static inline float match_real_scale(uint32_t exponent)
{
    const match_real_t result = {.bits = (exponent + 127u) << 23};
    return result.value;
}

static inline float match_exp(float x)
{
    const match_real_power_t power = match_real_power(x);
    return (power.rest + 1.0f) * match_real_scale(power.one) * match_real_scale(power.other);
}

/* exp(x) - 1 */
static inline float match_expm1(float x)
{
    const match_real_power_t power = match_real_power(x);
    const float one = match_real_scale(power.one);
    return (power.rest * one + (one - match_real_scale(0u - power.other))) * match_real_scale(power.other);
}

static inline float match_tanh(float x)
{
    const float size = match_real_signed(x, 1.0f), s = x * x;
    const float far = 1.0f - 2.0f / (match_exp(size + size) + 1.0f);
    const float high = (-5.70498872745e-3f * s + 2.06390887954e-2f) * s - 5.37397155531e-2f;
    const float near = ((high * s + 1.33314422036e-1f) * s - 3.33332819422e-1f) * s * x + x;
    return match_real_signed(match_real_choose(match_real_size(x) - 0x3F200000u, near, far), x); /* below 0.625 */
}

static inline float match_erf(float x)
{
    const float held = match_real_held(match_real_signed(x, 1.0f), 0x40800000u), s = x * x; /* at most 4 */
    const float top = ((-1.72853470e-5f * held + 3.83197126e-4f) * held - 3.88396438e-3f) * held + 2.42546219e-2f;
    const float tail = (((top * held - 1.06777877e-1f) * held - 6.34846687e-1f) * held - 1.28717512e-1f) * held - held;
    const float far = 1.0f - match_exp(tail);
    const float high = (-5.96761703e-4f * s + 4.99119423e-3f) * s - 2.67681349e-2f;
    const float near = (((high * s + 1.12819925e-1f) * s - 3.76125336e-1f) * s + 1.28379166e-1f) * x + x;
    return match_real_signed(match_real_choose(match_real_size(x) - 0x3F6C0000u, near, far), x); /* below 0.921875 */
}

/* log(1 + exp(x)) = max(x, 0) + 2 atanh(e / (2 + e)), e = exp(-|x|) */
static inline float match_softplus(float x)
{
    const float e = match_exp(match_real_signed(x, -1.0f));
    const float z = e / (e + 2.0f), s = z * z;
    const float high = ((0.17f * s + 0.18181819f) * s + 0.22222222f) * s + 0.2857143f;
    const float log1p = ((high * s + 0.4f) * s + 0.6666667f) * s * z + (z + z);
    return match_real_by_sign(x, 0.0f, x) + log1p;
}

/* x * tanh(log(1 + exp(x))), where tanh(log(w)) = (w^2 - 1) / (w^2 + 1), which is 1 from 20 on */
static inline float match_mish(float x)
{
    const float e = match_exp(match_real_by_sign(x, x, match_real_held(x, 0x41A00000u)));
    const float n = e * (e + 2.0f);
    return x * (n / (n + 2.0f));
}

/* slope * x for negative numbers, x for others */
static inline float match_leaky(float x, float slope)
{
    return match_real_by_sign(x, slope, 1.0f) * x;
}

/* alpha * (exp(x) - 1) for negative numbers, x for others */
static inline float match_elu(float x, float alpha)
{
    return alpha * match_expm1(match_real_by_sign(x, x, 0.0f)) + match_real_by_sign(x, 0.0f, x);
}

/* x clamped to 0 and 1 */
static inline float match_unit(float x)
{
    return match_real_held(match_real_by_sign(x, 0.0f, x), 0x3F800000u);
}

/* The nearest whole number, ties to even. From 2^23 on every number is whole. */
static inline float match_round(float x)
{
    const float large = match_real_signed(0x1p23f, x);
    const float near = match_real_signed((x + large) - large, x);
    return match_real_choose(match_real_size(x) - 0x4B000000u, near, x);
}

static inline float match_floor(float x)
{
    const float near = match_round(x);
    return match_real_signed(near - match_real_choose(match_real_bits(x - near), 1.0f, 0.0f), x);
}

static inline float match_ceil(float x)
{
    return -match_floor(-x);
}

#endif
