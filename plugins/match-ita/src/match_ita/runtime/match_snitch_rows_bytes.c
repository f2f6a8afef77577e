/* match_snitch_rows_bytes.c - functions of single values: tables, addends that differ from element to element.
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_snitch_rows.h"
#include "match_snitch_rows_cycles.h"
#include "match_snitch_rows_kernels.h"

static void lut_core(void *tile)
{
    const match_snitch_lut_t *const t = tile;
    const match_snitch_part_t part = match_snitch_part(t->r * t->c, MATCH_SNITCH_RUN);
    const uint8_t *restrict x = (const uint8_t *)t->input + part.start;
    const uint8_t *const restrict table = t->table;
    uint8_t *restrict y = (uint8_t *)t->output + part.start;
    uint32_t left = part.stop - part.start;
    match_ita_charge(match_snitch_lut_cycles(t));
    for (; left >= MATCH_SNITCH_RUN; left -= MATCH_SNITCH_RUN) {
        y[0] = table[x[0]];
        y[1] = table[x[1]];
        y[2] = table[x[2]];
        y[3] = table[x[3]];
        y[4] = table[x[4]];
        y[5] = table[x[5]];
        y[6] = table[x[6]];
        y[7] = table[x[7]];
        x += MATCH_SNITCH_RUN;
        y += MATCH_SNITCH_RUN;
    }
    for (uint32_t i = 0u; i < left; i++) {
        y[i] = table[x[i]];
    }
}

/* One multiplier, an addend for each element. */
static void offset_each_core(void *tile)
{
    const match_snitch_offset_each_t *const t = tile;
    const match_snitch_part_t part = match_snitch_part(t->r * t->c, MATCH_SNITCH_RUN);
    const int8_t *restrict x = (const int8_t *)t->input + part.start;
    const int32_t *restrict addend = (const int32_t *)t->addend + part.start;
    int8_t *restrict y = (int8_t *)t->output + part.start;
    const int32_t multiplier = t->multiplier, low = t->low, high = t->high;
    const uint32_t shift = (uint32_t)t->shift;
    uint32_t left = part.stop - part.start;
    match_ita_charge(match_snitch_offset_each_cycles(t));
#define MATCH_SNITCH_Y(i) match_snitch_clip((x[i] * multiplier + addend[i]) >> shift, low, high)
    for (; left >= MATCH_SNITCH_RUN; left -= MATCH_SNITCH_RUN) {
        y[0] = (int8_t)MATCH_SNITCH_Y(0);
        y[1] = (int8_t)MATCH_SNITCH_Y(1);
        y[2] = (int8_t)MATCH_SNITCH_Y(2);
        y[3] = (int8_t)MATCH_SNITCH_Y(3);
        y[4] = (int8_t)MATCH_SNITCH_Y(4);
        y[5] = (int8_t)MATCH_SNITCH_Y(5);
        y[6] = (int8_t)MATCH_SNITCH_Y(6);
        y[7] = (int8_t)MATCH_SNITCH_Y(7);
        x += MATCH_SNITCH_RUN;
        addend += MATCH_SNITCH_RUN;
        y += MATCH_SNITCH_RUN;
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
