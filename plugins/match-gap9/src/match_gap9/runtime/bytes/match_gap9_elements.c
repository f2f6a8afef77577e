/* match_gap9_elements.c - see the header. Workers share elements, in whole words.
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_float.h"
#include "match_gap9_elements.h"

#include "match_gap9_api.h"
#include "match_gap9_clip.h"
#include "match_gap9_cores.h"
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

/* Rows of elements with factors of their own, of which several rows in a row have the same; or, where there is one
 * channel, rows with one factor each. With `wide`, floor((p * M + B * 2^17) / 2^(17 + S)): the upper word of
 * 2^15 * p * M is floor(p * M / 2^17), and the floor of a floor is one floor. |p| is at most 255^2, so 2^15 * p has 32
 * bits. */
static inline void product_core(const match_product_t *t, int wide)
{
    const uint32_t channels = t->c, rows = t->r, one = (channels == 1u) ? 1u : 0u;
    const uint32_t width = one ? rows : channels, alike = one ? 1u : rows, step = 1u - one;
    const int32_t zero_a = t->zero_a, zero_b = t->zero_b, multiplier = t->multiplier, addend = t->addend;
    const int32_t shift = t->shift;
    const match_gap9_share_t mine = match_gap9_share(t->b * rows * channels, WORD);
    const uint8_t *const a = t->input_a;
    uint8_t *const out = t->output;
    const uint32_t row = mine.start / width;
    uint32_t i = mine.start, within = i - row * width, turn = row % alike;
    const uint8_t *factors = (const uint8_t *)t->input_b + row / alike * channels;
    MATCH_GAP9_COUNT(ROWS_CALL, 1u);
    if (wide) {
        MATCH_GAP9_COUNT(PRODUCT_WIDE_ELEMENT, mine.stop - mine.start);
    } else {
        MATCH_GAP9_COUNT(PRODUCT_ELEMENT, mine.stop - mine.start);
    }
    while (i < mine.stop) {
        const uint32_t left = mine.stop - i, rest = width - within;
        const uint32_t end = i + ((rest < left) ? rest : left);
        const uint8_t *factor = factors + within * step;
        MATCH_GAP9_COUNT(ROWS_ROW, 1u);
        for (; i < end; i++, factor += step) {
            const int32_t p = ((int32_t)a[i] - zero_a) * ((int32_t)*factor - zero_b);
            const int32_t scaled = wide ? (int32_t)(((int64_t)(p * 32768) * multiplier) >> 32) : p * multiplier;
            out[i] = match_gap9_clip_u8((scaled + addend) >> shift);
        }
        within = 0u;
        if (++turn == alike) {
            turn = 0u;
            factors += channels;
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
    const uint32_t channels = t->c;
    const int32_t shift = t->shift;
    uint8_t *const out = t->output;
    const match_gap9_share_t mine = match_gap9_share(t->r * channels, WORD);
    uint32_t i = mine.start, channel = i % channels;
    MATCH_GAP9_COUNT(ROWS_CALL, 1u);
    MATCH_GAP9_COUNT(REQUANT_ELEMENT, mine.stop - mine.start);
    while (i < mine.stop) {
        const uint32_t left = mine.stop - i, rest = channels - channel;
        const uint32_t end = i + ((rest < left) ? rest : left);
        MATCH_GAP9_COUNT(ROWS_ROW, 1u);
        for (; i < end; i++, channel++) {
            out[i] = match_gap9_clip_u8(((int32_t)in[i] * multiplier[channel] + addend[channel]) >> shift);
        }
        channel = 0u;
    }
    pi_cl_team_barrier(0);
}

void match_gap9_requant(const match_requant_t *tile)
{
    match_gap9_team_launch(requant_core, tile);
}

static void dequantize_core(void *argument)
{
    const match_dequantize_t *const t = argument;
    const union {
        int32_t bits;
        float value;
    } scale = {.bits = t->scale_bits};
    const uint8_t *const in = t->input;
    float *const out = t->output;
    const int32_t zero = t->zero_point + t->flip; /* of bytes whose sign bit is flipped: uint8 */
    const match_gap9_share_t mine = match_gap9_share(t->n, WORD);
    MATCH_GAP9_COUNT(ELEMENTS_CALL, 1u);
    MATCH_GAP9_COUNT(DEQUANTIZE_ELEMENT, mine.stop - mine.start);
    for (uint32_t i = mine.start; i < mine.stop; i++) {
        out[i] = (float)((int32_t)(in[i] ^ (uint8_t)t->flip) - zero) * scale.value;
    }
    pi_cl_team_barrier(0);
}

void match_gap9_dequantize(const match_dequantize_t *tile)
{
    match_gap9_team_launch(dequantize_core, tile);
}
