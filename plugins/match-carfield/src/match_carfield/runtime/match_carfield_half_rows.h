/* match_carfield_half_rows.h - softmax, layer normalisation and GELU: binary32 inside, rounded once at the end.
 *
 * Written with additions and multiplications alone but for one division a row, because neither core has a divider that
 * is worth its time. Both units give the same bits as long as no compiler fuses a product and a sum: build with
 * -ffp-contract=off.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_CARFIELD_HALF_ROWS_H
#define MATCH_CARFIELD_HALF_ROWS_H

#include "match_float.h"
#include <string.h>

#include "match_carfield_half_kernels.h"
#include "match_carfield_half_window.h"
#include "match_half.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

static inline float of_bits(uint32_t bits)
{
    const match_half_float_t number = {.bits = bits};
    return number.value;
}

static inline uint32_t to_bits(float value)
{
    const match_half_float_t number = {.value = value};
    return number.bits;
}

/* Cores convert in one instruction. */
#if defined(__riscv_zfh) || defined(__riscv_zhinx)

static inline float number(const match_half_t *p)
{
    _Float16 half;
    memcpy(&half, p, sizeof half);
    return (float)half;
}

static inline void store(match_half_t *p, float value)
{
    const _Float16 half = (_Float16)value;
    memcpy(p, &half, sizeof half);
}

#elif defined(MATCH_CARFIELD_XPULP)

static inline float number(const match_half_t *p)
{
    uint32_t bits;
    __asm__("fcvt.s.h %0, %1" : "=r"(bits) : "r"((uint32_t)*p));
    return of_bits(bits);
}

static inline void store(match_half_t *p, float value)
{
    uint32_t bits;
    __asm__("fcvt.h.s %0, %1" : "=r"(bits) : "r"(to_bits(value)));
    *p = (match_half_t)bits;
}

#else

static inline float number(const match_half_t *p) { return match_half_to_float(*p); }
static inline void store(match_half_t *p, float value) { *p = match_half_from_float(value); }

#endif

/* e^x for x up to 0, to about 1e-7 of it: 2^n times a polynomial on [-ln(2) / 2, ln(2) / 2] (as in Cephes). Below the
 * normal numbers 0. */
static inline float exponential(float x)
{
    if (!(x > -87.0f)) {
        return 0.0f;
    }
    const float shifted = x * 1.44269504f + 12582912.0f; /* 1.5 * 2^23: rounds to a whole number */
    const float n = shifted - 12582912.0f;
    const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * (r * r) + (r + 1.0f);
    return of_bits(to_bits(p) + (to_bits(shifted) << 23));
}

/* 1 / sqrt(x) for a normal x above 0: a first guess by halving the exponent, four Newton steps. */
static inline float reciprocal_root(float x)
{
    float y = of_bits(0x5F3759DFu - (to_bits(x) >> 1));
    for (uint32_t i = 0u; i < 4u; i++) {
        y = y * (1.5f - (0.5f * x) * (y * y));
    }
    return y;
}

/* 1 / x for x of 1 to 2^100: a first guess by negating the exponent, four Newton steps. */
static inline float reciprocal(float x)
{
    float y = of_bits(0x7EF311C7u - to_bits(x));
    for (uint32_t i = 0u; i < 4u; i++) {
        y = y * (2.0f - x * y);
    }
    return y;
}

/* 1 - erf(x) for x of 0 and more, to 3e-7: Abramowitz and Stegun 7.1.28. */
static inline float complementary_error(float x)
{
    float p = 4.30638e-5f;
    p = p * x + 2.765672e-4f;
    p = p * x + 1.520143e-4f;
    p = p * x + 9.2705272e-3f;
    p = p * x + 4.22820123e-2f;
    p = p * x + 7.05230784e-2f;
    p = p * x + 1.0f;
    const float y = reciprocal(p), y2 = y * y, y4 = y2 * y2, y8 = y4 * y4;
    return y8 * y8;
}

/* ---- kernels --------------------------------------------------------------------------------------------------- */

static void softmax_row(const match_half_t *x, match_half_t *y, uint32_t size)
{
    float largest = number(x), sum = 0.0f;
    for (uint32_t c = 1u; c < size; c++) {
        const float value = number(x + c);
        largest = (value > largest) ? value : largest;
    }
    for (uint32_t c = 0u; c < size; c++) {
        sum = sum + exponential(number(x + c) - largest);
    }
    const float factor = 1.0f / sum;
    for (uint32_t c = 0u; c < size; c++) {
        store(y + c, exponential(number(x + c) - largest) * factor);
    }
}

static void softmax_core(void *tile)
{
    const match_half_softmax_t *const t = tile;
    const match_carfield_share_t rows = match_carfield_share(t->r, MATCH_CARFIELD_CORE, MATCH_CARFIELD_CORES);
    for (uint32_t r = rows.start; r < rows.stop; r++) {
        softmax_row((const match_half_t *)t->input + r * t->c, (match_half_t *)t->output + r * t->c, t->c);
    }
}

static void layernorm_row(const match_half_layernorm_t *t, uint32_t row, float part, float epsilon)
{
    const match_half_t *const x = (const match_half_t *)t->input + row * t->c;
    const match_half_t *const scale = t->scale, *const bias = t->bias;
    match_half_t *const y = (match_half_t *)t->output + row * t->c;
    float sum = 0.0f, squares = 0.0f;
    for (uint32_t c = 0u; c < t->c; c++) {
        sum = sum + number(x + c);
    }
    const float mean = sum * part;
    for (uint32_t c = 0u; c < t->c; c++) {
        const float difference = number(x + c) - mean;
        squares = squares + difference * difference;
    }
    const float factor = reciprocal_root(squares * part + epsilon);
    for (uint32_t c = 0u; c < t->c; c++) {
        store(y + c, ((number(x + c) - mean) * factor) * number(scale + c) + number(bias + c));
    }
}

static void layernorm_core(void *tile)
{
    const match_half_layernorm_t *const t = tile;
    const float part = 1.0f / (float)t->c, epsilon = of_bits((uint32_t)t->epsilon_bits);
    const match_carfield_share_t rows = match_carfield_share(t->r, MATCH_CARFIELD_CORE, MATCH_CARFIELD_CORES);
    for (uint32_t r = rows.start; r < rows.stop; r++) {
        layernorm_row(t, r, part, epsilon);
    }
}

static float gelu_of(float x)
{
    const float size = of_bits(to_bits(x) & 0x7FFFFFFFu);
    /* Beyond, the rest of erf is below a binary16 number's last place. */
    const float rest = complementary_error(((size < 8.0f) ? size : 8.0f) * 0.70710678f);
    return (x * 0.5f) * ((x < 0.0f) ? rest : 2.0f - rest);
}

static void gelu_core(void *tile)
{
    const match_half_gelu_t *const t = tile;
    const match_carfield_share_t share =
        match_carfield_share(t->y * t->x * t->c, MATCH_CARFIELD_CORE, MATCH_CARFIELD_CORES);
    for (uint32_t i = share.start; i < share.stop; i++) {
        store((match_half_t *)t->output + i, gelu_of(number((const match_half_t *)t->input + i)));
    }
}

void MATCH_CARFIELD_KERNEL(softmax)(const match_half_softmax_t *tile)
{
    MATCH_CARFIELD_BEGIN(softmax, tile);
    MATCH_CARFIELD_TEAM(softmax_core, tile);
}

void MATCH_CARFIELD_KERNEL(layernorm)(const match_half_layernorm_t *tile)
{
    MATCH_CARFIELD_BEGIN(layernorm, tile);
    MATCH_CARFIELD_TEAM(layernorm_core, tile);
}

void MATCH_CARFIELD_KERNEL(gelu)(const match_half_gelu_t *tile)
{
    MATCH_CARFIELD_BEGIN(gelu, tile);
    MATCH_CARFIELD_TEAM(gelu_core, tile);
}

#endif
