/* match_gap9_elements.c - see the header. Workers share elements, in whole words.
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_gap9_elements.h"

#include "match_gap9_api.h"
#include "match_gap9_clip.h"
#include "match_gap9_count.h"
#include "match_gap9_share.h"

#define WORD 4u

static void lut_core(void *argument)
{
    const match_lut_t *const t = argument;
    const uint8_t *const in = t->input, *const table = t->table;
    uint8_t *const out = t->output;
    const match_gap9_share_t mine = match_gap9_share(t->n, WORD);
    uint32_t i = mine.start;
    MATCH_GAP9_COUNT(ELEMENTS_CALL, 1u);
    MATCH_GAP9_COUNT(LUT_QUAD, (mine.stop - mine.start + WORD - 1u) / WORD);
    /* Four at once, and all loads before the first store, so that no load waits for the one before it. */
    for (; mine.stop - i >= WORD; i += WORD) {
        const uint8_t first = table[in[i]], second = table[in[i + 1u]];
        const uint8_t third = table[in[i + 2u]], fourth = table[in[i + 3u]];
        out[i] = first;
        out[i + 1u] = second;
        out[i + 2u] = third;
        out[i + 3u] = fourth;
    }
    for (; i < mine.stop; i++) {
        out[i] = table[in[i]];
    }
    pi_cl_team_barrier(0);
}

void match_gap9_lut(const match_lut_t *tile)
{
    match_gap9_team_launch(lut_core, tile);
}

/* With `wide`, floor((p * M + B * 2^17) / 2^(17 + S)): the upper word of 2^15 * p * M is floor(p * M / 2^17), and the
 * floor of a floor is one floor. |p| is at most 255^2, so 2^15 * p has 32 bits. */
static inline uint8_t product_of(const match_product_t *t, uint32_t a, uint32_t b, int wide)
{
    const int32_t p = ((int32_t)a - t->zero_a) * ((int32_t)b - t->zero_b);
    const int32_t scaled = wide ? (int32_t)(((int64_t)(p * 32768) * t->multiplier) >> 32) : p * t->multiplier;
    return match_gap9_clip_u8((scaled + t->addend) >> t->shift);
}

/* Rows of elements with factors of their own, of which several rows in a row have the same; or, where there is one
 * channel, rows with one factor each. */
static inline void product_core(const match_product_t *t, int wide)
{
    const uint32_t width = (t->c == 1u) ? t->r : t->c, alike = (t->c == 1u) ? 1u : t->r;
    const uint32_t step = (t->c == 1u) ? 0u : 1u;
    const match_gap9_share_t mine = match_gap9_share(t->b * t->r * t->c, WORD);
    const uint8_t *const a = t->input_a;
    uint8_t *const out = t->output;
    const uint32_t row = mine.start / width;
    uint32_t i = mine.start, within = i - row * width, turn = row % alike;
    const uint8_t *factors = (const uint8_t *)t->input_b + row / alike * t->c;
    MATCH_GAP9_COUNT(ELEMENTS_CALL, 1u);
    if (wide) {
        MATCH_GAP9_COUNT(PRODUCT_WIDE_ELEMENT, mine.stop - mine.start);
    } else {
        MATCH_GAP9_COUNT(PRODUCT_ELEMENT, mine.stop - mine.start);
    }
    while (i < mine.stop) {
        const uint32_t left = mine.stop - i, rest = width - within;
        const uint32_t end = i + ((rest < left) ? rest : left);
        const uint8_t *factor = factors + within * step;
        MATCH_GAP9_COUNT(ELEMENTS_ROW, 1u);
        for (; i < end; i++, factor += step) {
            out[i] = product_of(t, a[i], *factor, wide);
        }
        within = 0u;
        if (++turn == alike) {
            turn = 0u;
            factors += t->c;
        }
    }
    pi_cl_team_barrier(0);
}

static void narrow_product_core(void *argument)
{
    product_core(argument, 0);
}

void match_gap9_product(const match_product_t *tile)
{
    match_gap9_team_launch(narrow_product_core, tile);
}

static void wide_product_core(void *argument)
{
    product_core(argument, 1);
}

void match_gap9_product_wide(const match_product_t *tile)
{
    match_gap9_team_launch(wide_product_core, tile);
}

static void requant_core(void *argument)
{
    const match_requant_t *const t = argument;
    const uint8_t *const in = t->input;
    const int32_t *const multiplier = t->multiplier, *const addend = t->addend;
    uint8_t *const out = t->output;
    const match_gap9_share_t mine = match_gap9_share(t->r * t->c, WORD);
    uint32_t i = mine.start, channel = i % t->c;
    MATCH_GAP9_COUNT(ELEMENTS_CALL, 1u);
    MATCH_GAP9_COUNT(REQUANT_ELEMENT, mine.stop - mine.start);
    while (i < mine.stop) {
        const uint32_t left = mine.stop - i, rest = t->c - channel;
        const uint32_t end = i + ((rest < left) ? rest : left);
        MATCH_GAP9_COUNT(ELEMENTS_ROW, 1u);
        for (; i < end; i++, channel++) {
            out[i] = match_gap9_clip_u8(((int32_t)in[i] * multiplier[channel] + addend[channel]) >> t->shift);
        }
        channel = 0u;
    }
    pi_cl_team_barrier(0);
}

void match_gap9_requant(const match_requant_t *tile)
{
    match_gap9_team_launch(requant_core, tile);
}
