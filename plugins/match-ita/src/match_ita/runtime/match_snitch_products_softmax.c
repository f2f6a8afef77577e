/* match_snitch_products_softmax.c - integer softmax, rows dealt out to the cores. SPDX-License-Identifier: Apache-2.0 */
#include "match_snitch_products_softmax.h"

#include "match_ita_hooks.h"
#include "match_snitch_products.h"
#include "match_snitch_products_kernels.h"

/* Bits of the reciprocal of a sum; an estimate made with it is off by one at most, and corrected. */
#define RECIPROCAL_BITS 16u

MATCH_SNITCH_INLINE int32_t signed_of(uint8_t value, uint8_t flip)
{
    return (int8_t)(uint8_t)(value ^ flip);
}

/* Bits that a sum must lose to have RECIPROCAL_BITS. */
static uint32_t bits_over(uint64_t sum)
{
    uint32_t bits = 0u;
    while ((sum >> bits) >> RECIPROCAL_BITS != 0u) {
        bits++;
    }
    return bits;
}

static void softmax_row(const match_snitch_softmax_t *t, const uint8_t *input, uint8_t *output, uint8_t flip)
{
    const int32_t *const table = t->table;
    int32_t top = INT8_MIN;
    uint64_t sum = 0u;
    match_ita_charge(MATCH_ITA_WORK(SOFTMAX_ROW) + t->c * MATCH_ITA_WORK(SOFTMAX_ELEMENT));
    for (uint32_t i = 0u; i < t->c; i++) {
        const int32_t value = signed_of(input[i], flip);
        top = (value > top) ? value : top;
    }
    for (uint32_t i = 0u; i < t->c; i++) {
        sum += (uint32_t)table[top - signed_of(input[i], flip)];
    }
    /* floor((2 N value + half) / whole), whole = 2 sum */
    const uint64_t whole = 2u * sum, half = t->rounded ? sum : 0u;
    const uint32_t over = bits_over(whole), factor = 2u * (uint32_t)t->numerator;
    const uint32_t reciprocal = (uint32_t)(UINT32_MAX / (uint32_t)(whole >> over));
    for (uint32_t i = 0u; i < t->c; i++) {
        const uint64_t scaled = (uint64_t)(uint32_t)table[top - signed_of(input[i], flip)] * factor + half;
        uint32_t quotient = (uint32_t)(((scaled >> over) * reciprocal) >> 32);
        uint64_t rest = scaled - quotient * whole;
        while (rest >> 63 != 0u) { /* below 0 */
            quotient--;
            rest += whole;
        }
        while (rest >= whole) {
            quotient++;
            rest -= whole;
        }
        output[i] = (uint8_t)match_snitch_clip((int32_t)quotient + t->zero, t->low, t->high);
    }
}

static void softmax_core(void *context)
{
    const match_snitch_softmax_t *const t = context;
    const match_snitch_part_t part = match_snitch_part(t->r, 1u);
    const uint8_t flip = t->input_unsigned ? 0x80u : 0u;
    match_ita_charge(MATCH_ITA_WORK(PRODUCTS_CALL));
    for (uint32_t r = part.start; r < part.stop; r++) {
        softmax_row(t, (const uint8_t *)t->input + r * t->c, (uint8_t *)t->output + r * t->c, flip);
    }
}

static void shift_softmax_core(void *context)
{
    const match_snitch_shift_softmax_t *const t = context;
    const match_snitch_itamax_t rule = {
        .shift = (uint32_t)t->softmax_shift, .numerator = (uint32_t)t->numerator, .group = (uint32_t)t->group,
        .columns = t->c,
    };
    const uint8_t flip = t->input_unsigned ? 0x80u : 0u;
    const match_snitch_part_t part = match_snitch_part(t->r, 1u);
    match_ita_charge(MATCH_ITA_WORK(PRODUCTS_CALL));
    for (uint32_t r = part.start; r < part.stop; r++) {
        match_ita_charge(MATCH_ITA_WORK(SHIFT_SOFTMAX_ROW) + t->c * MATCH_ITA_WORK(SHIFT_SOFTMAX_ELEMENT) +
                         t->c / rule.group * MATCH_ITA_WORK(SHIFT_SOFTMAX_GROUP));
        const uint8_t *const input = (const uint8_t *)t->input + r * t->c;
        uint8_t *const output = (uint8_t *)t->output + r * t->c;
        for (uint32_t i = 0u; i < t->c; i++) {
            output[i] = input[i] ^ flip;
        }
        const match_snitch_row_t row = match_snitch_itamax_row(&rule, output, 1u);
        for (uint32_t i = 0u; i < t->c; i++) {
            output[i] = (uint8_t)match_snitch_itamax_value(&rule, &row, (int8_t)output[i]);
        }
    }
}

void match_snitch_softmax(const match_snitch_softmax_t *ctx) { match_ita_team_launch(softmax_core, ctx); }
void match_snitch_shift_softmax(const match_snitch_shift_softmax_t *ctx)
{
    match_ita_team_launch(shift_softmax_core, ctx);
}
