/* match_snitch_rows_add.c - sums of two tensors. SPDX-License-Identifier: Apache-2.0 */
#include "match_snitch_rows.h"
#include "match_snitch_rows_cycles.h"
#include "match_snitch_rows_kernels.h"

/* Bytes are loaded one by one: a word of four would need seven more instructions to sign-extend them. The table replaces
 * one of two multiplications: the cores share a multiplier, which two for each element would keep busy for longer. */
typedef struct {
    const int32_t *table; /* a * multiplier_a + addend, of a = 0 first */
    int32_t multiplier_b, low, high;
    uint32_t shift;
} scale_t;

MATCH_SNITCH_INLINE int32_t sum_of(int32_t a, int32_t b, scale_t s)
{
    const int32_t value = (s.table[a] + b * s.multiplier_b) >> s.shift;
    return match_snitch_clip(value, s.low, s.high);
}

/* Sums that fit 32 bits; b is unsigned or not, which the compiler knows. */
MATCH_SNITCH_INLINE void narrow(const match_snitch_add_t *t, uint32_t start, uint32_t stop, int unsigned_b)
{
    const scale_t s = {(const int32_t *)t->table - INT8_MIN, t->multiplier_b, t->low, t->high, (uint32_t)t->shift};
    const int8_t *restrict a = (const int8_t *)t->input_a + start;
    const int8_t *restrict b = (const int8_t *)t->input_b + start;
    int8_t *restrict y = (int8_t *)t->output + start;
    uint32_t left = stop - start;
#define MATCH_SNITCH_B(i) (unsigned_b ? (int32_t)(uint8_t)b[i] : b[i])
    for (; left >= MATCH_SNITCH_RUN; left -= MATCH_SNITCH_RUN) {
        y[0] = (int8_t)sum_of(a[0], MATCH_SNITCH_B(0), s);
        y[1] = (int8_t)sum_of(a[1], MATCH_SNITCH_B(1), s);
        y[2] = (int8_t)sum_of(a[2], MATCH_SNITCH_B(2), s);
        y[3] = (int8_t)sum_of(a[3], MATCH_SNITCH_B(3), s);
        y[4] = (int8_t)sum_of(a[4], MATCH_SNITCH_B(4), s);
        y[5] = (int8_t)sum_of(a[5], MATCH_SNITCH_B(5), s);
        y[6] = (int8_t)sum_of(a[6], MATCH_SNITCH_B(6), s);
        y[7] = (int8_t)sum_of(a[7], MATCH_SNITCH_B(7), s);
        a += MATCH_SNITCH_RUN;
        b += MATCH_SNITCH_RUN;
        y += MATCH_SNITCH_RUN;
    }
    for (uint32_t i = 0u; i < left; i++) {
        y[i] = (int8_t)sum_of(a[i], MATCH_SNITCH_B(i), s);
    }
#undef MATCH_SNITCH_B
}

/* 64-bit sums. Bytes are unsigned here; those of signed tensors are flipped by 128, which the addend takes back. */
static void wide(const match_snitch_add_t *t, uint32_t start, uint32_t stop)
{
    const uint8_t *restrict a = t->input_a, *restrict b = t->input_b;
    int8_t *restrict y = t->output;
    const int64_t addend = match_snitch_addend((uint32_t)t->addend_low, t->addend_high);
    const uint32_t flip_a = (uint32_t)t->flip_a, flip_b = (uint32_t)t->flip_b, shift = (uint32_t)t->shift;
    const int32_t multiplier_a = t->multiplier_a, multiplier_b = t->multiplier_b, low = t->low, high = t->high;
    for (uint32_t i = start; i < stop; i++) {
        const int64_t first = (int64_t)(int32_t)(a[i] ^ flip_a) * multiplier_a + addend;
        const int32_t value = match_snitch_wide((int32_t)(b[i] ^ flip_b), multiplier_b, first, shift);
        y[i] = (int8_t)match_snitch_clip(value, low, high);
    }
}

static void add_core(void *tile)
{
    const match_snitch_add_t *const t = tile;
    const match_snitch_part_t part = match_snitch_part(t->r * t->c, MATCH_SNITCH_RUN);
    match_ita_charge(match_snitch_add_cycles(t));
    if (t->wide != 0) {
        wide(t, part.start, part.stop);
    } else if (t->flip_b == 0) {
        narrow(t, part.start, part.stop, 1);
    } else {
        narrow(t, part.start, part.stop, 0);
    }
}

void match_snitch_add(const match_snitch_add_t *tile)
{
    match_ita_team_launch(add_core, tile);
}
