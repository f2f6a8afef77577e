/* match_snitch_rows_norm.c - normalisation of rows, which the cores share: LayerNormRequant of match.arith, and the
 * normalisations of integer networks (LayerNormI8, RmsNormI8). SPDX-License-Identifier: Apache-2.0 */
#include "match_snitch_rows.h"
#include "match_snitch_rows_cycles.h"
#include "match_snitch_rows_kernels.h"
#include "match_snitch_rows_roots.h"

typedef struct {
    int32_t sum;
    uint32_t squares;
} moments_t;

/* Functions of a value, of 0 first: tables cost fewer cycles than the cores wait for the multiplier that they share. */
typedef struct {
    const int32_t *scaled; /* n * x */
    const uint16_t *square;
} tables_t;

static inline tables_t tables_of(const match_snitch_layernorm_t *t)
{
    const int32_t *const words = t->table;
    return (tables_t){words + t->flip, (const uint16_t *)(const void *)(words + 256) + t->flip};
}

/* Sum and sum of squares of a row. */
MATCH_SNITCH_INLINE moments_t moments(const int8_t *x, uint32_t n, const uint16_t *square, int is_unsigned)
{
    int32_t sum = 0;
    uint32_t squares = 0u;
#define MATCH_SNITCH_X(i) (is_unsigned ? (int32_t)(uint8_t)x[i] : x[i])
    for (; n >= MATCH_SNITCH_RUN; n -= MATCH_SNITCH_RUN) {
        const int32_t x0 = MATCH_SNITCH_X(0), x1 = MATCH_SNITCH_X(1), x2 = MATCH_SNITCH_X(2), x3 = MATCH_SNITCH_X(3);
        const int32_t x4 = MATCH_SNITCH_X(4), x5 = MATCH_SNITCH_X(5), x6 = MATCH_SNITCH_X(6), x7 = MATCH_SNITCH_X(7);
        sum += x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7;
        squares += (uint32_t)square[x0] + square[x1] + square[x2] + square[x3];
        squares += (uint32_t)square[x4] + square[x5] + square[x6] + square[x7];
        x += MATCH_SNITCH_RUN;
    }
    for (uint32_t i = 0u; i < n; i++) {
        const int32_t value = MATCH_SNITCH_X(i);
        sum += value;
        squares += square[value];
    }
#undef MATCH_SNITCH_X
    return (moments_t){sum, squares};
}

/* A row's values become u = (((n * x - sum) << places) * inverse) >> 32. */
typedef struct {
    int32_t sum;
    uint32_t places;
    int32_t inverse;
} row_t;

/* How many bits are left of the highest one; rv32im has no instruction for that. */
static inline uint32_t zeros_above(uint64_t value)
{
    uint32_t word = (uint32_t)(value >> 32), zeros = 0u;
    if (word == 0u) {
        word = (uint32_t)value;
        zeros = 32u;
    }
    for (uint32_t step = 16u; step > 0u; step >>= 1) {
        if (word >> (32u - step) == 0u) {
            word <<= step;
            zeros += step;
        }
    }
    return zeros;
}

static row_t row_of(const match_snitch_layernorm_t *t, moments_t m)
{
    const uint32_t n = t->c;
    /* The sum of t^2 with t = n * x - sum of x. */
    const uint64_t sum_squared = (uint64_t)((int64_t)m.sum * m.sum);
    const uint64_t spread = (uint64_t)n * m.squares - sum_squared;
    const uint64_t epsilon = (uint64_t)(uint32_t)t->epsilon_high << 32 | (uint32_t)t->epsilon_low;
    const uint64_t v = spread * n + epsilon;
    /* v has at most 52 bits; 4^k brings it to 51 or 52. */
    const uint32_t k = (zeros_above(v) - 12u) / 2u;
    const match_snitch_root_t root = match_snitch_long_root(v << (2u * k));
    return (row_t){m.sum, k + 5u, (int32_t)root.reciprocal};
}

MATCH_SNITCH_INLINE int32_t high_word(int32_t a, int32_t b)
{
    return (int32_t)(((int64_t)a * b) >> 32);
}

typedef struct {
    int32_t low, high;
    uint32_t shift;
} clip_t;

/* `scaled`: n * x. */
MATCH_SNITCH_INLINE int32_t normal_of(int32_t scaled, row_t row, int32_t multiplier, int32_t addend, clip_t c)
{
    const int32_t u = high_word((int32_t)((uint32_t)(scaled - row.sum) << row.places), row.inverse);
    return match_snitch_clip((high_word(u, multiplier) + addend) >> c.shift, c.low, c.high);
}

/* One row, or two that share the loads of multipliers and addends, whose pairs `parameters` holds. */
MATCH_SNITCH_INLINE void apply(const match_snitch_layernorm_t *t, const int8_t *restrict x, int8_t *restrict y,
                               const row_t *rows, const int32_t *scaled, int two, int is_unsigned)
{
    const clip_t c = {t->low, t->high, (uint32_t)t->shift};
    const int32_t *restrict p = t->parameters;
    const row_t r0 = rows[0], r1 = rows[two ? 1 : 0];
    const uint32_t pitch = two ? t->c : 0u;
    const int8_t *restrict x1 = x + pitch;
    int8_t *y1 = y + pitch;
#define MATCH_SNITCH_X(x, i) scaled[is_unsigned ? (int32_t)(uint8_t)(x)[i] : (x)[i]]
#define MATCH_SNITCH_COLUMN(i)                                                                                       \
    do {                                                                                                             \
        const int32_t multiplier = p[2 * (i)], addend = p[2 * (i) + 1];                                              \
        const int32_t first = normal_of(MATCH_SNITCH_X(x, i), r0, multiplier, addend, c);                            \
        if (two) {                                                                                                   \
            y1[i] = (int8_t)normal_of(MATCH_SNITCH_X(x1, i), r1, multiplier, addend, c);                             \
        }                                                                                                            \
        y[i] = (int8_t)first;                                                                                        \
    } while (0)
    uint32_t left = t->c;
    for (; left >= MATCH_SNITCH_RUN; left -= MATCH_SNITCH_RUN) {
        MATCH_SNITCH_COLUMN(0);
        MATCH_SNITCH_COLUMN(1);
        MATCH_SNITCH_COLUMN(2);
        MATCH_SNITCH_COLUMN(3);
        MATCH_SNITCH_COLUMN(4);
        MATCH_SNITCH_COLUMN(5);
        MATCH_SNITCH_COLUMN(6);
        MATCH_SNITCH_COLUMN(7);
        x += MATCH_SNITCH_RUN;
        x1 += MATCH_SNITCH_RUN;
        y += MATCH_SNITCH_RUN;
        y1 += MATCH_SNITCH_RUN;
        p += 2u * MATCH_SNITCH_RUN;
    }
    for (uint32_t i = 0u; i < left; i++) {
        MATCH_SNITCH_COLUMN(i);
    }
#undef MATCH_SNITCH_COLUMN
#undef MATCH_SNITCH_X
}

MATCH_SNITCH_INLINE void layernorm_rows(const match_snitch_layernorm_t *t, match_snitch_part_t part, int is_unsigned)
{
    const uint32_t c = t->c;
    const tables_t tables = tables_of(t);
    const int8_t *x = (const int8_t *)t->input + part.start * c;
    int8_t *y = (int8_t *)t->output + part.start * c;
    for (uint32_t row = part.start; row < part.stop; row += 2u) {
        row_t rows[2];
        rows[0] = row_of(t, moments(x, c, tables.square, is_unsigned));
        if (part.stop - row > 1u) {
            rows[1] = row_of(t, moments(x + c, c, tables.square, is_unsigned));
            apply(t, x, y, rows, tables.scaled, 1, is_unsigned);
        } else {
            apply(t, x, y, rows, tables.scaled, 0, is_unsigned);
        }
        x += 2u * c;
        y += 2u * c;
    }
}

static void layernorm_core(void *tile)
{
    const match_snitch_layernorm_t *const t = tile;
    const match_snitch_part_t part = match_snitch_part(t->r, 1u);
    match_ita_charge(match_snitch_layernorm_cycles(t));
    if (t->flip == 0) {
        layernorm_rows(t, part, 1);
    } else {
        layernorm_rows(t, part, 0);
    }
}

/* clip((trunc(t * weight / s) + bias) >> shift), t = x - mean; the quotient by the reciprocal of s, which is at most
 * one too small. |t * weight| < 2^31. */
MATCH_SNITCH_INLINE int8_t quotient_of(int32_t t, int32_t weight, int32_t bias, uint32_t s, uint32_t inverse, clip_t c)
{
    const int32_t product = t * weight;
    const uint32_t size = (product < 0) ? 0u - (uint32_t)product : (uint32_t)product;
    uint32_t quotient = (uint32_t)(((uint64_t)size * inverse) >> 32);
    quotient += (size - quotient * s >= s) ? 1u : 0u;
    const int32_t value = (product < 0) ? -(int32_t)quotient : (int32_t)quotient;
    return (int8_t)match_snitch_clip((value + bias) >> c.shift, c.low, c.high);
}

/* `centred` 1: LayerNormI8; 0: RmsNormI8, which has no mean. */
MATCH_SNITCH_INLINE void integer_norm_row(const match_snitch_integer_norm_t *t, const uint8_t *x, int8_t *restrict y)
{
    const clip_t c = {t->low, t->high, (uint32_t)t->shift};
    const int32_t n = (int32_t)t->c, flip = t->flip;
    const int32_t *restrict p = t->parameters;
    int32_t mean = 0, squares = 0;
    if (t->centred != 0) {
        int32_t sum = 0;
        for (int32_t i = 0; i < n; i++) {
            sum += (int32_t)(x[i] ^ (uint32_t)flip) - flip;
        }
        mean = sum / n;
    }
    mean += flip;
    for (int32_t i = 0; i < n; i++) {
        const int32_t distance = (int32_t)(x[i] ^ (uint32_t)flip) - mean;
        squares += distance * distance;
    }
    /* s = 1 where all are the same: then t = 0, or the row is short and t * weight fits all the same. */
    const uint32_t s = match_snitch_root((uint32_t)(squares / n) + 1u);
    const uint32_t inverse = UINT32_MAX / s;
    for (int32_t i = 0; i < n; i++) {
        y[i] = quotient_of((int32_t)(x[i] ^ (uint32_t)flip) - mean, p[2 * i], p[2 * i + 1], s, inverse, c);
    }
}

static void integer_norm_core(void *tile)
{
    const match_snitch_integer_norm_t *const t = tile;
    const match_snitch_part_t part = match_snitch_part(t->r, 1u);
    match_ita_charge(match_snitch_integer_norm_cycles(t));
    for (uint32_t row = part.start; row < part.stop; row++) {
        integer_norm_row(t, (const uint8_t *)t->input + row * t->c, (int8_t *)t->output + row * t->c);
    }
}

void match_snitch_layernorm(const match_snitch_layernorm_t *tile)
{
    match_ita_team_launch(layernorm_core, tile);
}

void match_snitch_integer_norm(const match_snitch_integer_norm_t *tile)
{
    match_ita_team_launch(integer_norm_core, tile);
}
