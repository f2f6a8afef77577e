/* match_snitch_products_attention.c - attention as ITA computes it: each core has four rows of one head at a time, whose
 * logits become probabilities where they are. SPDX-License-Identifier: Apache-2.0 */
#include "match_ita_hooks.h"
#include "match_snitch_products.h"
#include "match_snitch_products_kernels.h"
#include "match_snitch_products_softmax.h"

/* Logits and probabilities of a panel: four rows of 16-bit values, of which logits use the lower byte. */
#define ROW_STEP 2u
#define COLUMN_STEP (MATCH_SNITCH_PANEL * ROW_STEP)

/* The panel of this core for vectors of `taps` values; `before` bytes of each core lie in front. */
static void *private_part(const match_snitch_attention_t *t, uint32_t before)
{
    const uint32_t own = match_snitch_panel_bytes(t->p) + match_snitch_panel_bytes(t->tp);
    return (uint8_t *)t->scratch + match_ita_core() * own + before;
}

/* Probabilities of four rows in place of their logits. */
static void probabilities(const match_snitch_attention_t *t, match_snitch_panel_t *panel)
{
    const match_snitch_itamax_t rule = {
        .shift = (uint32_t)t->softmax_shift, .numerator = (uint32_t)t->numerator, .group = (uint32_t)t->group,
        .columns = t->tp,
    };
    uint8_t *const logits = (uint8_t *)panel->words;
    match_ita_charge(t->tp / rule.group * MATCH_ITA_WORK(ATTENTION_GROUP) + t->tp * MATCH_ITA_WORK(ATTENTION_COLUMN));
    match_ita_charge((t->tp - t->t) * MATCH_ITA_WORK(ATTENTION_FILL));
    for (uint32_t column = t->t; column < t->tp; column++) {
        for (uint32_t row = 0u; row < MATCH_SNITCH_PANEL; row++) {
            logits[column * COLUMN_STEP + row * ROW_STEP] = (uint8_t)INT8_MIN;
        }
    }
    for (uint32_t row = 0u; row < MATCH_SNITCH_PANEL; row++) {
        const match_snitch_row_t line = match_snitch_itamax_row(&rule, logits + row * ROW_STEP, COLUMN_STEP);
        int16_t *const values = (int16_t *)(void *)panel->words + row;
        for (uint32_t column = 0u; column < t->tp; column++) {
            const int32_t logit = (int8_t)(uint8_t)values[column * MATCH_SNITCH_PANEL];
            values[column * MATCH_SNITCH_PANEL] = (int16_t)match_snitch_itamax_value(&rule, &line, logit);
        }
    }
}

static void rows(const match_snitch_attention_t *t, uint32_t head, uint32_t number)
{
    match_snitch_panel_t *const q = private_part(t, 0u);
    match_snitch_panel_t *const weights = private_part(t, match_snitch_panel_bytes(t->p));
    match_snitch_source_t source = {.tap_step = 1u, .taps = t->p, .pairs = 1};
    const int64_t qk_addend = match_snitch_addend((uint32_t)t->qk_addend_low, t->qk_addend_high);
    const int64_t av_addend = match_snitch_addend((uint32_t)t->av_addend_low, t->av_addend_high);
    const uint32_t first = number * MATCH_SNITCH_PANEL, left = t->s - first;
    const uint32_t count = (left < MATCH_SNITCH_PANEL) ? left : MATCH_SNITCH_PANEL;
    match_ita_charge(MATCH_ITA_WORK(ATTENTION_ROWS));
    match_snitch_vectors(&source, (const uint8_t *)t->q + head * t->s * t->p, number, t->s, t->p);
    match_snitch_pack(q, &source);
    const match_snitch_product_t logits = {
        .panels = q, .vectors = MATCH_SNITCH_PANEL, .taps = t->p, .columns = t->t,
        .stream = (const uint8_t *)t->k + head * t->t * t->p, .stream_step = t->p, .output = (uint8_t *)weights->words,
        .vector_step = ROW_STEP, .column_step = COLUMN_STEP, .multiplier = &t->qk_multiplier, .addend = &qk_addend,
        .shift = (uint32_t)t->qk_shift, .low = INT8_MIN, .high = INT8_MAX, .wide = t->qk_wide, .pairs = 1,
    };
    match_snitch_block(&logits, 0u, 0u, match_snitch_up(t->t, MATCH_SNITCH_COLUMNS));
    probabilities(t, weights);
    for (uint32_t i = 0u; i < MATCH_SNITCH_PANEL; i++) {
        weights->sums[i] = 0; /* nothing is taken off vt */
    }
    const match_snitch_product_t mixed = {
        .panels = weights, .vectors = count, .taps = t->tp, .columns = t->p,
        .stream = (const uint8_t *)t->vt + head * t->p * t->tp, .stream_step = t->tp,
        .output = (uint8_t *)t->output + (head * t->s + first) * t->p, .vector_step = t->p, .column_step = 1u,
        .multiplier = &t->av_multiplier, .addend = &av_addend, .shift = (uint32_t)t->av_shift, .low = INT8_MIN,
        .high = INT8_MAX, .wide = t->av_wide,
    };
    match_snitch_block(&mixed, 0u, 0u, match_snitch_up(t->p, MATCH_SNITCH_COLUMNS));
}

static void attention_core(void *context)
{
    const match_snitch_attention_t *const t = context;
    const uint32_t panels = match_snitch_up(t->s, MATCH_SNITCH_PANEL);
    const match_snitch_part_t part = match_snitch_part(t->h * panels, 1u);
    match_ita_charge(MATCH_ITA_WORK(PRODUCTS_CALL));
    for (uint32_t item = part.start; item < part.stop; item++) {
        const uint32_t head = item / panels;
        rows(t, head, item - head * panels);
    }
}

void match_snitch_attention(const match_snitch_attention_t *ctx) { match_ita_team_launch(attention_core, ctx); }
