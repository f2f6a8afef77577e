/* match_snitch_products.c - the inner loops of products. SPDX-License-Identifier: Apache-2.0 */
#include "match_ita_hooks.h"
#include "match_snitch_products.h"

/* Steps of the inner loops are unrolled by hand, as the cores have no hardware loops. */
#define UNROLLED 4u
/* Loops are functions of their own, so that sums stay in registers, of which these passes of GCC would run out. */
#if defined(__GNUC__) && !defined(__clang__)
#define LOOP_WITHOUT(...) static __attribute__((noinline, optimize(__VA_ARGS__)))
#else
#define LOOP_WITHOUT(...) static __attribute__((noinline))
#endif

/* Sums of two columns, first those of the first one. */
typedef struct {
    int32_t of[MATCH_SNITCH_COLUMNS][MATCH_SNITCH_PANEL];
} sums_t;

/* Running sums of words and of their upper halves, for a pair of vectors. */
typedef struct {
    uint32_t all, upper;
} pair_t;

MATCH_SNITCH_INLINE void add_pair(pair_t *sum, uint32_t word)
{
    const uint32_t moved = word + MATCH_SNITCH_BIAS;
    sum->all += moved;
    sum->upper += moved >> 16;
}

MATCH_SNITCH_INLINE uint32_t widened(int8_t value)
{
    return (uint32_t)(int32_t)value;
}

/* Two indices c of four vectors by two. */
MATCH_SNITCH_INLINE void pair_step(const uint32_t *w, const int8_t *x, const int8_t *y, pair_t sums[4])
{
    const uint32_t a0 = w[0], b0 = w[1], a1 = w[2], b1 = w[3];
    const uint32_t x0 = widened(x[0]), x1 = widened(x[1]), y0 = widened(y[0]), y1 = widened(y[1]);
    add_pair(&sums[0], a0 * x0 + a1 * x1);
    add_pair(&sums[1], b0 * x0 + b1 * x1);
    add_pair(&sums[2], a0 * y0 + a1 * y1);
    add_pair(&sums[3], b0 * y0 + b1 * y1);
}

LOOP_WITHOUT("no-schedule-insns")
void pair_sums(const uint32_t *w, const int8_t *x, const int8_t *y, uint32_t taps, sums_t *sums)
{
    const uint32_t *const last = w + 2u * taps;
    const uint32_t *const stop = w + 2u * (taps & ~(UNROLLED - 1u));
    const uint32_t steps = (taps / UNROLLED) * (UNROLLED / 2u) + taps % UNROLLED;
    pair_t sum[4];
    for (uint32_t i = 0u; i < 4u; i++) {
        sum[i].all = 0u - steps * MATCH_SNITCH_BIAS;
        sum[i].upper = 0u - steps * (MATCH_SNITCH_BIAS >> 16);
    }
    for (; w != stop; w += 2u * UNROLLED) {
        pair_step(w, x, y, sum);
        pair_step(w + UNROLLED, x + 2, y + 2, sum);
        x += UNROLLED;
        y += UNROLLED;
    }
    for (; w != last; w += 2) {
        const uint32_t x0 = widened(*x++), y0 = widened(*y++);
        add_pair(&sum[0], w[0] * x0);
        add_pair(&sum[1], w[1] * x0);
        add_pair(&sum[2], w[0] * y0);
        add_pair(&sum[3], w[1] * y0);
    }
    for (uint32_t i = 0u; i < 4u; i++) {
        int32_t *const to = &sums->of[i / 2u][(i % 2u) * 2u];
        to[0] = (int32_t)(sum[i].all - (sum[i].upper << 16));
        to[1] = (int32_t)sum[i].upper;
    }
}

MATCH_SNITCH_INLINE int32_t plain_value(const uint8_t *x, int is_unsigned)
{
    return is_unsigned ? (int32_t)*x : (int32_t)(int8_t)*x;
}

/* Four sums of one column. */
MATCH_SNITCH_INLINE void add_plain(const int16_t *w, int32_t value, int32_t *sums)
{
    sums[0] += w[0] * value;
    sums[1] += w[1] * value;
    sums[2] += w[2] * value;
    sums[3] += w[3] * value;
}

MATCH_SNITCH_INLINE void plain_step(const int16_t *w, const uint8_t *x, const uint8_t *y, int is_unsigned, sums_t *sums)
{
    const int32_t x0 = plain_value(x, is_unsigned), y0 = plain_value(y, is_unsigned);
    add_plain(w, x0, sums->of[0]);
    add_plain(w, y0, sums->of[1]);
}

MATCH_SNITCH_INLINE void plain_sums(const int16_t *w, const uint8_t *x, const uint8_t *y, uint32_t taps,
                                    int is_unsigned, sums_t *sums)
{
    const int16_t *const last = w + MATCH_SNITCH_PANEL * taps;
    const int16_t *const stop = w + MATCH_SNITCH_PANEL * (taps & ~(UNROLLED - 1u));
    sums_t sum = {{{0}}};
    for (; w != stop; w += MATCH_SNITCH_PANEL * UNROLLED) {
        plain_step(w, x, y, is_unsigned, &sum);
        plain_step(w + 4, x + 1, y + 1, is_unsigned, &sum);
        plain_step(w + 8, x + 2, y + 2, is_unsigned, &sum);
        plain_step(w + 12, x + 3, y + 3, is_unsigned, &sum);
        x += UNROLLED;
        y += UNROLLED;
    }
    for (; w != last; w += MATCH_SNITCH_PANEL) {
        plain_step(w, x++, y++, is_unsigned, &sum);
    }
    *sums = sum;
}

LOOP_WITHOUT("no-schedule-insns", "no-tree-ter")
void signed_sums(const int16_t *w, const uint8_t *x, const uint8_t *y, uint32_t taps, sums_t *sums)
{
    plain_sums(w, x, y, taps, 0, sums);
}

LOOP_WITHOUT("no-schedule-insns", "no-tree-ter")
void unsigned_sums(const int16_t *w, const uint8_t *x, const uint8_t *y, uint32_t taps, sums_t *sums)
{
    plain_sums(w, x, y, taps, 1, sums);
}

/* Where the results of a panel go, from that of a column on, and what its sums have too much. */
typedef struct {
    uint32_t offsets[MATCH_SNITCH_PANEL];
    int32_t corrections[MATCH_SNITCH_PANEL];
} results_t;

static results_t results_of(const match_snitch_product_t *p, const match_snitch_panel_t *panel, uint32_t number)
{
    results_t results;
    for (uint32_t i = 0u; i < MATCH_SNITCH_PANEL; i++) {
        const uint32_t at = number * MATCH_SNITCH_PANEL + i;
        results.offsets[i] = ((at < p->vectors) ? at : p->vectors - 1u) * p->vector_step;
        results.corrections[i] = p->stream_zero * panel->sums[i];
    }
    return results;
}

MATCH_SNITCH_INLINE int32_t scaled(int32_t sum, int32_t multiplier, int64_t addend, uint32_t shift, int wide)
{
    return wide ? match_snitch_wide(sum, multiplier, addend, shift) : (sum * multiplier + (int32_t)addend) >> shift;
}

/* Results of a panel and two columns. */
MATCH_SNITCH_INLINE void finish(const match_snitch_product_t *p, const results_t *results, const sums_t *sums,
                                const uint32_t *columns, int wide)
{
    const uint32_t one = columns[0] * p->parameter_step, other = columns[1] * p->parameter_step;
    const int32_t multiplier_x = p->multiplier[one], multiplier_y = p->multiplier[other];
    const int64_t addend_x = p->addend[one], addend_y = p->addend[other];
    const int32_t low = p->low, high = p->high;
    const uint32_t shift = p->shift;
    uint8_t *const x = p->output + columns[0] * p->column_step, *const y = p->output + columns[1] * p->column_step;
    for (uint32_t i = 0u; i < MATCH_SNITCH_PANEL; i++) {
        const uint32_t offset = results->offsets[i];
        const int32_t correction = results->corrections[i];
        const int32_t value_x = scaled(sums->of[0][i] - correction, multiplier_x, addend_x, shift, wide);
        const int32_t value_y = scaled(sums->of[1][i] - correction, multiplier_y, addend_y, shift, wide);
        x[offset] = (uint8_t)match_snitch_clip(value_x, low, high);
        y[offset] = (uint8_t)match_snitch_clip(value_y, low, high);
    }
}

static __attribute__((noinline)) void finish_wide(const match_snitch_product_t *p, const results_t *results,
                                                  const sums_t *sums, const uint32_t *columns)
{
    finish(p, results, sums, columns, 1);
}

static __attribute__((noinline)) void finish_narrow(const match_snitch_product_t *p, const results_t *results,
                                                    const sums_t *sums, const uint32_t *columns)
{
    finish(p, results, sums, columns, 0);
}

/* The work of a panel and two columns, on the twin. */
static inline void charge_columns(const match_snitch_product_t *p)
{
    match_ita_charge(p->wide ? MATCH_ITA_WORK(COLUMNS_WIDE) : MATCH_ITA_WORK(COLUMNS_NARROW));
    match_ita_charge(p->taps / UNROLLED * (p->pairs ? MATCH_ITA_WORK(PAIRS_STEP) : MATCH_ITA_WORK(PLAIN_STEP)));
    match_ita_charge(p->taps % UNROLLED * (p->pairs ? MATCH_ITA_WORK(PAIRS_TAP) : MATCH_ITA_WORK(PLAIN_TAP)));
    (void)p;
}

void match_snitch_block(const match_snitch_product_t *p, uint32_t number, uint32_t first, uint32_t stop)
{
    const match_snitch_panel_t *const panel = match_snitch_panel(p->panels, number, p->taps);
    const int16_t *const single = (const int16_t *)(const void *)panel->words;
    const results_t results = results_of(p, panel, number);
    match_ita_charge(MATCH_ITA_WORK(PANEL));
    for (uint32_t pair = first; pair < stop; pair++) {
        const uint32_t columns[MATCH_SNITCH_COLUMNS] = {
            MATCH_SNITCH_COLUMNS * pair,
            (MATCH_SNITCH_COLUMNS * pair + 1u < p->columns) ? MATCH_SNITCH_COLUMNS * pair + 1u : p->columns - 1u,
        };
        const uint8_t *const x = (const uint8_t *)p->stream + columns[0] * p->stream_step;
        const uint8_t *const y = (const uint8_t *)p->stream + columns[1] * p->stream_step;
        sums_t sums;
        charge_columns(p);
        if (p->pairs) {
            pair_sums(panel->words, (const int8_t *)x, (const int8_t *)y, p->taps, &sums);
        } else if (p->stream_unsigned) {
            unsigned_sums(single, x, y, p->taps, &sums);
        } else {
            signed_sums(single, x, y, p->taps, &sums);
        }
        if (p->wide) {
            finish_wide(p, &results, &sums, columns);
        } else {
            finish_narrow(p, &results, &sums, columns);
        }
    }
}

void match_snitch_product(const match_snitch_product_t *p)
{
    const uint32_t pairs = match_snitch_up(p->columns, MATCH_SNITCH_COLUMNS);
    const uint32_t panels = match_snitch_up(p->vectors, MATCH_SNITCH_PANEL);
    const match_snitch_part_t part = match_snitch_part(panels * pairs, 1u);
    uint32_t number = 0u, first = part.start;
    for (; first >= pairs && first > 0u; number++) {
        first -= pairs; /* panels are few, and the cores share the unit that divides */
    }
    for (uint32_t left = part.stop - part.start; left > 0u; number++) {
        const uint32_t count = (left < pairs - first) ? left : pairs - first;
        match_snitch_block(p, number, first, first + count);
        left -= count;
        first = 0u;
    }
}
