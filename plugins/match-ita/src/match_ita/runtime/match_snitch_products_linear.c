/* match_snitch_products_linear.c - dense layers and products of two activations. SPDX-License-Identifier: Apache-2.0 */
#include "match_ita_hooks.h"
#include "match_snitch_products.h"
#include "match_snitch_products_kernels.h"

/* Zero of unsigned values that are read as int8 with 128 taken off. */
#define UNSIGNED_OFFSET 128

/* This core's panels out of `count` vectors. */
static void pack_part(void *panels, match_snitch_source_t *source, const void *base, uint32_t count, uint32_t step)
{
    const match_snitch_part_t part = match_snitch_part(match_snitch_up(count, MATCH_SNITCH_PANEL), 1u);
    for (uint32_t i = part.start; i < part.stop; i++) {
        match_snitch_vectors(source, base, i, count, step);
        match_snitch_pack(match_snitch_panel(panels, i, source->taps), source);
    }
}

static void linear_core(void *context)
{
    const match_snitch_linear_t *const t = context;
    match_snitch_source_t source = {
        .tap_step = 1u, .taps = t->c, .offset = t->input_unsigned * UNSIGNED_OFFSET,
        .is_unsigned = t->input_unsigned, .pairs = 1,
    };
    const match_snitch_product_t p = {
        .panels = t->scratch, .vectors = t->n, .taps = t->c, .columns = t->k, .stream = t->weight, .stream_step = t->c,
        .output = t->output, .vector_step = t->k, .column_step = 1u, .multiplier = t->multiplier, .addend = t->addend,
        .parameter_step = 1u, .shift = (uint32_t)t->shift, .low = t->low, .high = t->high, .wide = t->wide, .pairs = 1,
    };
    match_ita_charge(MATCH_ITA_WORK(PRODUCTS_CALL));
    pack_part(t->scratch, &source, t->input, t->n, t->c);
    match_ita_barrier();
    match_snitch_product(&p);
}

static void linear_turned_core(void *context)
{
    const match_snitch_linear_turned_t *const t = context;
    const uint32_t columns = t->n1 * t->n0;
    match_snitch_source_t source = {
        .tap_step = 1u, .taps = t->c, .offset = t->input_unsigned * UNSIGNED_OFFSET,
        .is_unsigned = t->input_unsigned, .pairs = 1,
    };
    const match_snitch_product_t p = {
        .panels = t->scratch, .vectors = t->input_n, .taps = t->c, .columns = t->k, .stream = t->weight,
        .stream_step = t->c, .output = t->output, .vector_step = 1u, .column_step = columns,
        .multiplier = t->multiplier, .addend = t->addend, .parameter_step = 1u, .shift = (uint32_t)t->shift,
        .low = t->low, .high = t->high, .wide = t->wide, .pairs = 1,
    };
    match_ita_charge(MATCH_ITA_WORK(PRODUCTS_CALL));
    pack_part(t->scratch, &source, t->input, t->input_n, t->c);
    match_ita_barrier();
    match_snitch_product(&p);
    if (t->input_n < columns) {
        const match_snitch_part_t part = match_snitch_part(t->k, 1u);
        for (uint32_t k = part.start; k < part.stop; k++) {
            for (uint32_t n = t->input_n; n < columns; n++) {
                ((uint8_t *)t->output)[k * columns + n] = 0u;
            }
        }
    }
}

/* Panels are made of the side that can only be read with steps: b where it lies as [C][N], else a. */
static void matmul_core(void *context)
{
    const match_snitch_matmul_t *const t = context;
    const uint32_t vectors = t->b_rows ? t->m : t->n;
    const uint32_t head_bytes = match_snitch_up(vectors, MATCH_SNITCH_PANEL) * match_snitch_panel_bytes(t->c);
    const int pairs = match_snitch_matmul_pairs(t);
    match_ita_charge(MATCH_ITA_WORK(PRODUCTS_CALL));
    for (uint32_t h = 0u; h < t->h; h++) {
        uint8_t *const panels = (uint8_t *)t->scratch + h * head_bytes;
        const uint8_t *const a = (const uint8_t *)t->a + h * t->m * t->c;
        const uint8_t *const b = (const uint8_t *)t->b + h * t->n * t->c;
        match_snitch_source_t source = {
            .tap_step = t->b_rows ? 1u : t->n, .taps = t->c, .offset = t->b_rows ? t->a_zero : t->b_zero,
            .is_unsigned = t->b_rows ? t->a_unsigned : t->b_unsigned, .pairs = pairs,
        };
        pack_part(panels, &source, t->b_rows ? a : b, vectors, t->b_rows ? t->c : 1u);
    }
    match_ita_barrier();
    for (uint32_t h = 0u; h < t->h; h++) {
        const match_snitch_product_t p = {
            .panels = (uint8_t *)t->scratch + h * head_bytes, .vectors = vectors, .taps = t->c,
            .columns = t->b_rows ? t->n : t->m,
            .stream = t->b_rows ? (const uint8_t *)t->b + h * t->n * t->c : (const uint8_t *)t->a + h * t->m * t->c,
            .stream_step = t->c, .output = (uint8_t *)t->output + h * t->m * t->n,
            .vector_step = t->b_rows ? t->n : 1u, .column_step = t->b_rows ? 1u : t->n,
            .multiplier = (const int32_t *)t->multiplier + h, .addend = (const int64_t *)t->addend + h,
            .parameter_step = 0u, .shift = (uint32_t)t->shift, .low = t->low, .high = t->high,
            .stream_zero = t->b_rows ? t->b_zero : t->a_zero, .wide = t->wide, .pairs = pairs,
            .stream_unsigned = t->b_rows ? t->b_unsigned : t->a_unsigned,
        };
        match_ita_charge(MATCH_ITA_WORK(MATMUL_HEAD));
        match_snitch_product(&p);
    }
}

void match_snitch_linear(const match_snitch_linear_t *ctx) { match_ita_team_launch(linear_core, ctx); }
void match_snitch_linear_turned(const match_snitch_linear_turned_t *ctx) { match_ita_team_launch(linear_turned_core, ctx); }
void match_snitch_matmul(const match_snitch_matmul_t *ctx) { match_ita_team_launch(matmul_core, ctx); }
