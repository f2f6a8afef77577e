/* match_snitch_products_panels.c - vectors of a product four by four, as its inner loops read them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_ita_hooks.h"
#include "match_snitch_products.h"

MATCH_SNITCH_INLINE void pack(match_snitch_panel_t *panel, const match_snitch_source_t *source, int is_unsigned,
                              int pairs)
{
    const uint8_t *a = source->vectors[0], *b = source->vectors[1], *c = source->vectors[2], *d = source->vectors[3];
    const uint32_t step = source->tap_step;
    const int32_t offset = source->offset;
    int32_t sums[MATCH_SNITCH_PANEL] = {0};
    uint32_t *to = panel->words;
    int16_t *single = (int16_t *)(void *)panel->words;
    for (uint32_t i = 0u; i < source->taps; i++) {
        const int32_t va = (is_unsigned ? (int32_t)*a : (int32_t)(int8_t)*a) - offset;
        const int32_t vb = (is_unsigned ? (int32_t)*b : (int32_t)(int8_t)*b) - offset;
        const int32_t vc = (is_unsigned ? (int32_t)*c : (int32_t)(int8_t)*c) - offset;
        const int32_t vd = (is_unsigned ? (int32_t)*d : (int32_t)(int8_t)*d) - offset;
        sums[0] += va;
        sums[1] += vb;
        sums[2] += vc;
        sums[3] += vd;
        if (pairs) {
            to[0] = (uint32_t)va + ((uint32_t)vb << 16);
            to[1] = (uint32_t)vc + ((uint32_t)vd << 16);
            to += 2;
        } else {
            single[0] = (int16_t)va;
            single[1] = (int16_t)vb;
            single[2] = (int16_t)vc;
            single[3] = (int16_t)vd;
            single += MATCH_SNITCH_PANEL;
        }
        a += step;
        b += step;
        c += step;
        d += step;
    }
    for (uint32_t i = 0u; i < MATCH_SNITCH_PANEL; i++) {
        panel->sums[i] = sums[i];
    }
}

void match_snitch_pack(match_snitch_panel_t *panel, const match_snitch_source_t *source)
{
    match_ita_charge(MATCH_ITA_WORK(PACK_PANEL) + source->taps * MATCH_ITA_WORK(PACK_TAP));
    if (source->is_unsigned) {
        if (source->pairs) {
            pack(panel, source, 1, 1);
        } else {
            pack(panel, source, 1, 0);
        }
    } else if (source->pairs) {
        pack(panel, source, 0, 1);
    } else {
        pack(panel, source, 0, 0);
    }
}
