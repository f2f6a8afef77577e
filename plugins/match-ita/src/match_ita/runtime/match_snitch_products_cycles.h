/* match_snitch_products_cycles.h - cycles of the busiest core, as snitch_products_formulas.py computes them; figures are
 * those of match_ita_timing.h. The barrier charges itself. Silicon needs none of it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_SNITCH_PRODUCTS_CYCLES_H
#define MATCH_SNITCH_PRODUCTS_CYCLES_H

#include "match_ita_hooks.h"
#include "match_ita_team.h"

/* The twin's header of charges, which the cluster's includes there. */
#ifdef MATCH_ITA_CHARGE_H
#include <stdint.h>

#include "match_ita_timing.h"
#include "match_snitch_products_kernels.h"

static inline uint64_t match_snitch_ups(uint64_t size, uint64_t divisor)
{
    return (size + divisor - 1u) / divisor;
}

/* Of `groups` groups of `size` items each, how many a core's `items` contiguous ones lie in, at most. */
static inline uint64_t match_snitch_touched(uint64_t groups, uint64_t size, uint64_t items)
{
    const uint64_t most = (items % size == 0u) ? items / size : (size % items == 0u) ? 1u : (items - 2u) / size + 2u;
    return (most < groups) ? most : groups;
}

/* A panel by two columns. */
static inline uint64_t match_snitch_columns_cycles(uint64_t taps, int pairs, int wide)
{
    const uint64_t step = pairs ? MATCH_ITA_PAIRS_STEP_CYCLES : MATCH_ITA_PLAIN_STEP_CYCLES;
    const uint64_t single = pairs ? MATCH_ITA_PAIRS_TAP_CYCLES : MATCH_ITA_PLAIN_TAP_CYCLES;
    const uint64_t results = wide ? MATCH_ITA_COLUMNS_WIDE_CYCLES : MATCH_ITA_COLUMNS_NARROW_CYCLES;
    return results + taps / 4u * step + taps % 4u * single;
}

static inline uint64_t match_snitch_product_cycles(uint64_t vectors, uint64_t columns, uint64_t taps, int pairs, int wide)
{
    const uint64_t panels = match_snitch_ups(vectors, 4u), size = match_snitch_ups(columns, 2u);
    const uint64_t items = match_snitch_ups(panels * size, MATCH_ITA_CORES);
    return items * match_snitch_columns_cycles(taps, pairs, wide) +
           match_snitch_touched(panels, size, items) * MATCH_ITA_PANEL_CYCLES;
}

static inline uint64_t match_snitch_pack_cycles(uint64_t vectors, uint64_t taps)
{
    const uint64_t panels = match_snitch_ups(match_snitch_ups(vectors, 4u), MATCH_ITA_CORES);
    return panels * (MATCH_ITA_PACK_PANEL_CYCLES + taps * MATCH_ITA_PACK_TAP_CYCLES);
}

static inline uint64_t match_snitch_linear_cycles(const match_snitch_linear_t *t)
{
    return MATCH_ITA_PRODUCTS_CALL_CYCLES + match_snitch_pack_cycles(t->n, t->c) +
           match_snitch_product_cycles(t->n, t->k, t->c, 1, t->wide);
}

static inline uint64_t match_snitch_linear_turned_cycles(const match_snitch_linear_turned_t *t)
{
    const uint64_t n = (uint64_t)t->n1 * t->n0;
    return MATCH_ITA_PRODUCTS_CALL_CYCLES + match_snitch_pack_cycles(n, t->c) +
           match_snitch_product_cycles(n, t->k, t->c, 1, t->wide);
}

static inline uint64_t match_snitch_matmul_cycles(const match_snitch_matmul_t *t)
{
    const uint64_t vectors = t->b_rows ? t->m : t->n, columns = t->b_rows ? t->n : t->m;
    const uint64_t head = MATCH_ITA_MATMUL_HEAD_CYCLES + match_snitch_pack_cycles(vectors, t->c) +
                          match_snitch_product_cycles(vectors, columns, t->c, match_snitch_matmul_pairs(t), t->wide);
    return MATCH_ITA_PRODUCTS_CALL_CYCLES + t->h * head;
}

static inline uint64_t match_snitch_attention_cycles(const match_snitch_attention_t *t)
{
    const uint64_t items = match_snitch_ups(t->h * match_snitch_ups(t->s, 4u), MATCH_ITA_CORES);
    const uint64_t logits = match_snitch_ups(t->t, 2u) * match_snitch_columns_cycles(t->p, 1, t->qk_wide);
    const uint64_t mixed = match_snitch_ups(t->p, 2u) * match_snitch_columns_cycles(t->tp, 0, t->av_wide);
    const uint64_t rows = MATCH_ITA_ATTENTION_ROWS_CYCLES + MATCH_ITA_PACK_PANEL_CYCLES +
                          (uint64_t)t->p * MATCH_ITA_PACK_TAP_CYCLES + 2u * MATCH_ITA_PANEL_CYCLES + logits + mixed +
                          t->tp / (uint32_t)t->group * (uint64_t)MATCH_ITA_ATTENTION_GROUP_CYCLES +
                          (uint64_t)t->tp * MATCH_ITA_ATTENTION_COLUMN_CYCLES +
                          (uint64_t)(t->tp - t->t) * MATCH_ITA_ATTENTION_FILL_CYCLES;
    return MATCH_ITA_PRODUCTS_CALL_CYCLES + items * rows;
}

static inline uint64_t match_snitch_softmax_cycles(const match_snitch_softmax_t *t)
{
    const uint64_t row = MATCH_ITA_SOFTMAX_ROW_CYCLES + (uint64_t)t->c * MATCH_ITA_SOFTMAX_ELEMENT_CYCLES;
    return MATCH_ITA_PRODUCTS_CALL_CYCLES + match_snitch_ups(t->r, MATCH_ITA_CORES) * row;
}

static inline uint64_t match_snitch_shift_softmax_cycles(const match_snitch_shift_softmax_t *t)
{
    const uint64_t row = MATCH_ITA_SHIFT_SOFTMAX_ROW_CYCLES +
                         t->c / (uint32_t)t->group * (uint64_t)MATCH_ITA_SHIFT_SOFTMAX_GROUP_CYCLES +
                         (uint64_t)t->c * MATCH_ITA_SHIFT_SOFTMAX_ELEMENT_CYCLES;
    return MATCH_ITA_PRODUCTS_CALL_CYCLES + match_snitch_ups(t->r, MATCH_ITA_CORES) * row;
}

static inline uint64_t match_snitch_conv2d_cycles(const match_snitch_conv2d_t *t)
{
    const uint64_t pixels = (uint64_t)t->oy * t->ox, rows = (uint64_t)t->c * t->fy, taps = rows * t->fx;
    const uint64_t window =
        MATCH_ITA_WINDOW_CYCLES + rows * MATCH_ITA_WINDOW_ROW_CYCLES + taps * MATCH_ITA_WINDOW_TAP_CYCLES;
    const uint64_t windows = 4u * match_snitch_ups(match_snitch_ups(pixels, 4u), MATCH_ITA_CORES);
    return MATCH_ITA_PRODUCTS_CALL_CYCLES + windows * window + match_snitch_product_cycles(pixels, t->k, taps, 1, t->wide);
}

static inline uint64_t match_snitch_maxpool2d_cycles(const match_snitch_maxpool2d_t *t)
{
    const uint64_t outputs = match_snitch_ups((uint64_t)t->oy * t->ox * t->c, MATCH_ITA_CORES);
    const uint64_t row = MATCH_ITA_MAXPOOL_ROW_CYCLES + (uint64_t)t->fx * MATCH_ITA_MAXPOOL_TAP_CYCLES;
    return MATCH_ITA_PRODUCTS_CALL_CYCLES + outputs * (MATCH_ITA_MAXPOOL_OUTPUT_CYCLES + t->fy * row);
}

#else
#define match_snitch_linear_cycles(t) 0u
#define match_snitch_linear_turned_cycles(t) 0u
#define match_snitch_matmul_cycles(t) 0u
#define match_snitch_attention_cycles(t) 0u
#define match_snitch_softmax_cycles(t) 0u
#define match_snitch_shift_softmax_cycles(t) 0u
#define match_snitch_conv2d_cycles(t) 0u
#define match_snitch_maxpool2d_cycles(t) 0u
#endif

#endif
