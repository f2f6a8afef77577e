/* match_snitch_rows_bytes.c - functions of single values: tables, addends that differ from element to element.
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_snitch_rows.h"
#include "match_snitch_rows_cycles.h"
#include "match_snitch_rows_kernels.h"

static void lut_core(void *tile)
{
    const match_snitch_lut_t *const t = tile;
    const match_snitch_part_t part = match_snitch_part(t->r * t->c, MATCH_SNITCH_BLOCK);
    const uint8_t *restrict x = (const uint8_t *)t->input + part.start;
    const uint8_t *const restrict table = t->table;
    uint8_t *restrict y = (uint8_t *)t->output + part.start;
    uint32_t left = part.stop - part.start;
    match_ita_charge(match_snitch_lut_cycles(t));
    for (; left >= MATCH_SNITCH_BLOCK; left -= MATCH_SNITCH_BLOCK) {
        const uint8_t y0 = table[x[0]], y1 = table[x[1]], y2 = table[x[2]], y3 = table[x[3]];
        y[0] = y0;
        y[1] = y1;
        y[2] = y2;
        y[3] = y3;
        x += MATCH_SNITCH_BLOCK;
        y += MATCH_SNITCH_BLOCK;
    }
    for (uint32_t i = 0u; i < left; i++) {
        y[i] = table[x[i]];
    }
}

/* One multiplier, an addend for each element. */
static void offset_each_core(void *tile)
{
    const match_snitch_offset_each_t *const t = tile;
    const match_snitch_part_t part = match_snitch_part(t->r * t->c, MATCH_SNITCH_BLOCK);
    const int8_t *restrict x = (const int8_t *)t->input + part.start;
    const int32_t *restrict addend = (const int32_t *)t->addend + part.start;
    int8_t *restrict y = (int8_t *)t->output + part.start;
    const int32_t multiplier = t->multiplier, low = t->low, high = t->high;
    const uint32_t shift = (uint32_t)t->shift;
    uint32_t left = part.stop - part.start;
    match_ita_charge(match_snitch_offset_each_cycles(t));
#define MATCH_SNITCH_Y(i) match_snitch_clip((x[i] * multiplier + addend[i]) >> shift, low, high)
    for (; left >= MATCH_SNITCH_BLOCK; left -= MATCH_SNITCH_BLOCK) {
        const int32_t y0 = MATCH_SNITCH_Y(0), y1 = MATCH_SNITCH_Y(1), y2 = MATCH_SNITCH_Y(2), y3 = MATCH_SNITCH_Y(3);
        y[0] = (int8_t)y0;
        y[1] = (int8_t)y1;
        y[2] = (int8_t)y2;
        y[3] = (int8_t)y3;
        x += MATCH_SNITCH_BLOCK;
        addend += MATCH_SNITCH_BLOCK;
        y += MATCH_SNITCH_BLOCK;
    }
    for (uint32_t i = 0u; i < left; i++) {
        y[i] = (int8_t)MATCH_SNITCH_Y(i);
    }
#undef MATCH_SNITCH_Y
}

void match_snitch_lut(const match_snitch_lut_t *tile)
{
    match_ita_team_launch(lut_core, tile);
}

void match_snitch_offset_each(const match_snitch_offset_each_t *tile)
{
    match_ita_team_launch(offset_each_core, tile);
}
