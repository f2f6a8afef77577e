/* match_snitch_rows_scale.c - requantisation per channel, once or twice, of a tensor or of the sum of two. A core takes
 * columns and goes down the rows, so that it loads what belongs to a channel once. SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "match_snitch_rows.h"
#include "match_snitch_rows_cycles.h"
#include "match_snitch_rows_kernels.h"

/* What a loop down the rows keeps in registers. All steps clip alike. Where two tensors are added, `table` holds
 * a * multiplier_a + addend, of a = 0 first: the cores share one multiplier, which is the limit. */
typedef struct {
    const int32_t *table;
    int32_t multiplier_b, low, high;
    uint32_t sum_shift, shift, second_shift;
} scale_t;

/* Columns of inputs and output, the first row of each; `pitch` elements from row to row. */
typedef struct {
    const int8_t *a, *b;
    int8_t *y;
    uint32_t rows, pitch;
} columns_t;

/* Which steps there are; the compiler knows all of it. */
typedef struct {
    int sum, twice, unsigned_input;
} steps_t;

/* How many parameters a channel has. */
MATCH_SNITCH_INLINE uint32_t numbers_of(steps_t steps)
{
    return (steps.twice || steps.sum) ? 4u : 2u;
}

MATCH_SNITCH_INLINE int32_t byte_of(const int8_t *x, int is_unsigned)
{
    return is_unsigned ? (int32_t)(uint8_t)*x : *x;
}

/* clip((x * multiplier + addend) >> shift), behind the sum of two and before another one where there are. The bounds of
 * the step behind a sum are the channel's, so that the sum itself need not be clipped. */
MATCH_SNITCH_INLINE int32_t result_of(columns_t at, uint32_t i, const int32_t *p, scale_t s, steps_t steps)
{
    int32_t x = byte_of(at.a + i, steps.unsigned_input && !steps.sum);
    if (steps.sum) {
        x = s.table[x] + byte_of(at.b + i, steps.unsigned_input) * s.multiplier_b;
        x >>= s.sum_shift;
        if (!steps.twice) {
            return match_snitch_clip((x * p[0] + p[1]) >> s.shift, p[2], p[3]);
        }
        x = match_snitch_clip(x, s.low, s.high);
    }
    x = match_snitch_clip((x * p[0] + p[1]) >> s.shift, s.low, s.high);
    if (steps.twice) {
        x = match_snitch_clip((x * p[2] + p[3]) >> s.second_shift, s.low, s.high);
    }
    return x;
}

MATCH_SNITCH_INLINE columns_t next_row(columns_t at, int sum)
{
    at.a += at.pitch;
    at.b += sum ? at.pitch : 0u;
    at.y += at.pitch;
    at.rows--;
    return at;
}

MATCH_SNITCH_INLINE void four_columns(columns_t at, const int32_t *p, scale_t s, steps_t steps)
{
    const uint32_t n = numbers_of(steps);
    const int32_t p0[4] = {p[0], p[1], p[n - 2u], p[n - 1u]}, p1[4] = {p[n], p[n + 1u], p[2u * n - 2u], p[2u * n - 1u]};
    const int32_t p2[4] = {p[2u * n], p[2u * n + 1u], p[3u * n - 2u], p[3u * n - 1u]};
    const int32_t p3[4] = {p[3u * n], p[3u * n + 1u], p[4u * n - 2u], p[4u * n - 1u]};
    for (; at.rows > 0u; at = next_row(at, steps.sum)) {
        int8_t *restrict y = at.y;
        y[0] = (int8_t)result_of(at, 0u, p0, s, steps);
        y[1] = (int8_t)result_of(at, 1u, p1, s, steps);
        y[2] = (int8_t)result_of(at, 2u, p2, s, steps);
        y[3] = (int8_t)result_of(at, 3u, p3, s, steps);
    }
}

MATCH_SNITCH_INLINE void one_column(columns_t at, const int32_t *p, scale_t s, steps_t steps)
{
    const uint32_t n = numbers_of(steps);
    const int32_t own[4] = {p[0], p[1], p[n - 2u], p[n - 1u]};
    for (; at.rows > 0u; at = next_row(at, steps.sum)) {
        *at.y = (int8_t)result_of(at, 0u, own, s, steps);
    }
}

/* This core's columns. */
MATCH_SNITCH_INLINE void columns(columns_t all, const int32_t *parameters, scale_t s, steps_t steps)
{
    const match_snitch_part_t part = match_snitch_part(all.pitch, MATCH_SNITCH_BLOCK);
    const uint32_t each = numbers_of(steps);
    uint32_t column = part.start;
    for (; column < part.stop; column += MATCH_SNITCH_BLOCK) {
        columns_t at = all;
        at.a += column;
        at.b += steps.sum ? column : 0u;
        at.y += column;
        if (part.stop - column >= MATCH_SNITCH_BLOCK) {
            four_columns(at, parameters + each * column, s, steps);
            continue;
        }
        for (uint32_t i = column; i < part.stop; i++) {
            one_column(at, parameters + each * i, s, steps);
            at.a++;
            at.b += steps.sum ? 1 : 0;
            at.y++;
        }
    }
}

/* Parameters: multiplier and 64-bit addend of each channel; inputs of 8 or 32 bits. */
static void requant_wide(const match_snitch_requant_t *t, uint32_t column)
{
    const int32_t *const p = (const int32_t *)t->parameters + 3u * column;
    const int32_t multiplier = p[0], low = t->low, high = t->high;
    const int64_t addend = match_snitch_addend((uint32_t)p[1], p[2]);
    const uint32_t flip = (uint32_t)t->flip, shift = (uint32_t)t->shift, pitch = t->c;
    const uint8_t *bytes = (const uint8_t *)t->input + column;
    int8_t *restrict y = (int8_t *)t->output + column;
    for (uint32_t row = 0u; row < t->r; row++) {
        const int32_t x = (int32_t)(*bytes ^ flip) - (int32_t)flip;
        *y = (int8_t)match_snitch_clip(match_snitch_wide(x, multiplier, addend, shift), low, high);
        bytes += pitch;
        y += pitch;
    }
}

static inline const int32_t *table_of(const void *table)
{
    return (const int32_t *)table - INT8_MIN;
}

static void requant_core(void *tile)
{
    const match_snitch_requant_t *const t = tile;
    const columns_t all = {t->input, t->input, t->output, t->r, t->c};
    const scale_t s = {NULL, 0, t->low, t->high, 0u, (uint32_t)t->shift, 0u};
    match_ita_charge(match_snitch_requant_cycles(t));
    if (t->wide != 0) {
        const match_snitch_part_t part = match_snitch_part(t->c, MATCH_SNITCH_BLOCK);
        for (uint32_t column = part.start; column < part.stop; column++) {
            requant_wide(t, column);
        }
    } else if (t->flip == 0) {
        columns(all, t->parameters, s, (steps_t){0, 0, 1});
    } else {
        columns(all, t->parameters, s, (steps_t){0, 0, 0});
    }
}

static void requant_twice_core(void *tile)
{
    const match_snitch_requant_twice_t *const t = tile;
    const columns_t all = {t->input, t->input, t->output, t->r, t->c};
    const scale_t s = {NULL, 0, t->low, t->high, 0u, (uint32_t)t->shift, (uint32_t)t->second_shift};
    match_ita_charge(match_snitch_requant_twice_cycles(t));
    columns(all, t->parameters, s, (steps_t){0, 1, 0});
}

static void add_requant_core(void *tile)
{
    const match_snitch_add_requant_t *const t = tile;
    const columns_t all = {t->input_a, t->input_b, t->output, t->r, t->c};
    const scale_t s = {table_of(t->table), t->multiplier_b, 0, 0, (uint32_t)t->sum_shift, (uint32_t)t->shift, 0u};
    match_ita_charge(match_snitch_add_requant_cycles(t));
    columns(all, t->parameters, s, (steps_t){1, 0, 0});
}

static void add_requant_twice_core(void *tile)
{
    const match_snitch_add_requant_twice_t *const t = tile;
    const columns_t all = {t->input_a, t->input_b, t->output, t->r, t->c};
    const scale_t s = {table_of(t->table), t->multiplier_b, t->low, t->high, (uint32_t)t->sum_shift,
                       (uint32_t)t->shift, (uint32_t)t->second_shift};
    match_ita_charge(match_snitch_add_requant_twice_cycles(t));
    columns(all, t->parameters, s, (steps_t){1, 1, 0});
}

void match_snitch_requant(const match_snitch_requant_t *tile)
{
    match_ita_team_launch(requant_core, tile);
}

void match_snitch_requant_twice(const match_snitch_requant_twice_t *tile)
{
    match_ita_team_launch(requant_twice_core, tile);
}

void match_snitch_add_requant(const match_snitch_add_requant_t *tile)
{
    match_ita_team_launch(add_requant_core, tile);
}

void match_snitch_add_requant_twice(const match_snitch_add_requant_twice_t *tile)
{
    match_ita_team_launch(add_requant_twice_core, tile);
}
