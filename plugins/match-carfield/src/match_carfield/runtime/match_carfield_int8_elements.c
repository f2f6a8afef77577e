/* match_carfield_int8_elements.c - sums of tensors and layout changes. SPDX-License-Identifier: Apache-2.0 */
#include "match_carfield_int8.h"
#include "match_carfield_int8_core.h"

static inline void add_part(const match_int8_add_t *t, int input_signed)
{
    const uint8_t *const a = t->input_a, *const b = t->input_b;
    uint8_t *const output = t->output;
    const int64_t addend = (int64_t)t->addend_high * ((int64_t)1 << 32) + (int64_t)(uint32_t)t->addend_low;
    const match_carfield_part_t part = match_carfield_part(t->y * t->x * t->c);
    for (uint32_t i = part.start; i < part.stop; i++) {
        const int32_t x = input_signed ? (int8_t)a[i] : a[i], y = input_signed ? (int8_t)b[i] : b[i];
        const int64_t first = (int64_t)x * t->multiplier_a + addend;
        output[i] = match_carfield_requant(y, t->multiplier_b, first, (uint32_t)t->shift, t->low, t->high);
    }
}

static void add_core(void *tile)
{
    const match_int8_add_t *const t = tile;
    if (t->input_signed != 0) {
        add_part(t, 1);
    } else {
        add_part(t, 0);
    }
}

static void transpose_core(void *tile)
{
    const match_int8_transpose_t *const t = tile;
    const uint8_t *const input = t->input;
    uint8_t *const output = t->output;
    const match_carfield_part_t part = match_carfield_part(t->c);
    for (uint32_t c = part.start; c < part.stop; c++) {
        for (uint32_t r = 0u; r < t->r; r++) {
            output[c * t->r + r] = (uint8_t)(input[r * t->c + c] ^ (uint32_t)t->flip);
        }
    }
}

void match_carfield_pulp_int8_add(const match_int8_add_t *tile)
{
    MATCH_CARFIELD_CHARGE(pulp_int8_add, tile);
    match_carfield_pulp_team(add_core, tile);
}

void match_carfield_pulp_int8_transpose(const match_int8_transpose_t *tile)
{
    MATCH_CARFIELD_CHARGE(pulp_int8_transpose, tile);
    match_carfield_pulp_team(transpose_core, tile);
}
