/* match_snitch_rows_sum.c - sums along an axis: partial results of heads, means of tokens; a tensor may be added to the
 * requantised sum. SPDX-License-Identifier: Apache-2.0 */
#include "match_snitch_rows.h"
#include "match_snitch_rows_cycles.h"
#include "match_snitch_rows_kernels.h"

typedef struct {
    int32_t multiplier, low, high;
    uint32_t shift;
} scale_t;

/* Eight elements at once, so that the loop over the parts costs little of each. */
#define SUM_BLOCK MATCH_SNITCH_RUN

/* Sums of n (4 or 8) neighbours over all parts, each `plane` elements behind the one before. */
MATCH_SNITCH_INLINE void sums_of(const int8_t *x, uint32_t parts, uint32_t plane, int32_t *sums)
{
    int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
    for (uint32_t left = parts; left > 0u; left--) {
        s0 += x[0];
        s1 += x[1];
        s2 += x[2];
        s3 += x[3];
        s4 += x[4];
        s5 += x[5];
        s6 += x[6];
        s7 += x[7];
        x += plane;
    }
    sums[0] = s0;
    sums[1] = s1;
    sums[2] = s2;
    sums[3] = s3;
    sums[4] = s4;
    sums[5] = s5;
    sums[6] = s6;
    sums[7] = s7;
}

MATCH_SNITCH_INLINE int32_t sum_of(const int8_t *x, uint32_t parts, uint32_t plane)
{
    int32_t sum = 0;
    for (uint32_t left = parts; left > 0u; left--) {
        sum += *x;
        x += plane;
    }
    return sum;
}

MATCH_SNITCH_INLINE int32_t scaled(int32_t sum, int32_t addend, scale_t s)
{
    return match_snitch_clip((sum * s.multiplier + addend) >> s.shift, s.low, s.high);
}

static void sum_core(void *tile)
{
    const match_snitch_sum_t *const t = tile;
    const uint32_t plane = t->s * t->c, parts = t->n;
    const match_snitch_part_t part = match_snitch_part(plane, SUM_BLOCK);
    const scale_t s = {t->multiplier, t->low, t->high, (uint32_t)t->shift};
    const int32_t addend = t->addend;
    match_ita_charge(match_snitch_sum_cycles(t));
    for (uint32_t outer = 0u; outer < t->o; outer++) {
        const int8_t *x = (const int8_t *)t->input + outer * parts * plane + part.start;
        int8_t *y = (int8_t *)t->output + outer * plane + part.start;
        uint32_t left = part.stop - part.start;
        for (; left >= SUM_BLOCK; left -= SUM_BLOCK) {
            int32_t sums[SUM_BLOCK];
            sums_of(x, parts, plane, sums);
            y[0] = (int8_t)scaled(sums[0], addend, s);
            y[1] = (int8_t)scaled(sums[1], addend, s);
            y[2] = (int8_t)scaled(sums[2], addend, s);
            y[3] = (int8_t)scaled(sums[3], addend, s);
            y[4] = (int8_t)scaled(sums[4], addend, s);
            y[5] = (int8_t)scaled(sums[5], addend, s);
            y[6] = (int8_t)scaled(sums[6], addend, s);
            y[7] = (int8_t)scaled(sums[7], addend, s);
            x += SUM_BLOCK;
            y += SUM_BLOCK;
        }
        for (; left > 0u; left--) {
            *y++ = (int8_t)scaled(sum_of(x++, parts, plane), addend, s);
        }
    }
}

/* The second step of sum_add: clip((sum * multiplier_a + b * multiplier_b + addend) >> shift). */
typedef struct {
    int32_t multiplier_a, multiplier_b, addend;
    uint32_t shift;
} residual_t;

MATCH_SNITCH_INLINE int8_t added(int32_t a, int32_t b, residual_t r, scale_t s)
{
    const int32_t value = (a * r.multiplier_a + b * r.multiplier_b + r.addend) >> r.shift;
    return (int8_t)match_snitch_clip(value, s.low, s.high);
}

static void sum_add_core(void *tile)
{
    const match_snitch_sum_add_t *const t = tile;
    const uint32_t plane = t->s * t->c, parts = t->n;
    const match_snitch_part_t part = match_snitch_part(plane, SUM_BLOCK);
    const scale_t s = {t->multiplier, t->low, t->high, (uint32_t)t->shift};
    const residual_t r = {t->multiplier_a, t->multiplier_b, t->add_addend, (uint32_t)t->add_shift};
    const int32_t addend = t->addend;
    const int8_t *x = (const int8_t *)t->input + part.start, *b = (const int8_t *)t->input_b + part.start;
    int8_t *y = (int8_t *)t->output + part.start;
    uint32_t left = part.stop - part.start;
    match_ita_charge(match_snitch_sum_add_cycles(t));
    for (; left >= SUM_BLOCK; left -= SUM_BLOCK) {
        int32_t sums[SUM_BLOCK];
        sums_of(x, parts, plane, sums);
        y[0] = added(scaled(sums[0], addend, s), b[0], r, s);
        y[1] = added(scaled(sums[1], addend, s), b[1], r, s);
        y[2] = added(scaled(sums[2], addend, s), b[2], r, s);
        y[3] = added(scaled(sums[3], addend, s), b[3], r, s);
        y[4] = added(scaled(sums[4], addend, s), b[4], r, s);
        y[5] = added(scaled(sums[5], addend, s), b[5], r, s);
        y[6] = added(scaled(sums[6], addend, s), b[6], r, s);
        y[7] = added(scaled(sums[7], addend, s), b[7], r, s);
        x += SUM_BLOCK;
        b += SUM_BLOCK;
        y += SUM_BLOCK;
    }
    for (; left > 0u; left--) {
        *y++ = added(scaled(sum_of(x++, parts, plane), addend, s), *b++, r, s);
    }
}

/* Three tensors. */
static void sum_three_core(void *tile)
{
    const match_snitch_sum_three_t *const t = tile;
    const match_snitch_part_t part = match_snitch_part(t->r * t->c, MATCH_SNITCH_RUN);
    const scale_t s = {t->multiplier, t->low, t->high, (uint32_t)t->shift};
    const int8_t *restrict a = (const int8_t *)t->input_a + part.start;
    const int8_t *restrict b = (const int8_t *)t->input_b + part.start;
    const int8_t *restrict c = (const int8_t *)t->input_c + part.start;
    int8_t *restrict y = (int8_t *)t->output + part.start;
    const int32_t addend = t->addend;
    uint32_t left = part.stop - part.start;
    match_ita_charge(match_snitch_sum_three_cycles(t));
    for (; left >= MATCH_SNITCH_RUN; left -= MATCH_SNITCH_RUN) {
        y[0] = (int8_t)scaled(a[0] + b[0] + c[0], addend, s);
        y[1] = (int8_t)scaled(a[1] + b[1] + c[1], addend, s);
        y[2] = (int8_t)scaled(a[2] + b[2] + c[2], addend, s);
        y[3] = (int8_t)scaled(a[3] + b[3] + c[3], addend, s);
        y[4] = (int8_t)scaled(a[4] + b[4] + c[4], addend, s);
        y[5] = (int8_t)scaled(a[5] + b[5] + c[5], addend, s);
        y[6] = (int8_t)scaled(a[6] + b[6] + c[6], addend, s);
        y[7] = (int8_t)scaled(a[7] + b[7] + c[7], addend, s);
        a += MATCH_SNITCH_RUN;
        b += MATCH_SNITCH_RUN;
        c += MATCH_SNITCH_RUN;
        y += MATCH_SNITCH_RUN;
    }
    for (uint32_t i = 0u; i < left; i++) {
        y[i] = (int8_t)scaled(a[i] + b[i] + c[i], addend, s);
    }
}

void match_snitch_sum_three(const match_snitch_sum_three_t *tile)
{
    match_ita_team_launch(sum_three_core, tile);
}

void match_snitch_sum(const match_snitch_sum_t *tile)
{
    match_ita_team_launch(sum_core, tile);
}

void match_snitch_sum_add(const match_snitch_sum_add_t *tile)
{
    match_ita_team_launch(sum_add_core, tile);
}
