/* match_ita_blocks.c - short blocks. SPDX-License-Identifier: Apache-2.0 */
#include "match_ita_blocks.h"

#include <stddef.h>

#include "match_runtime.h"

/* Cycles on the twin; nothing on silicon. */
#ifndef MATCH_ITA_CHARGE_TAIL
#define MATCH_ITA_CHARGE_TAIL() ((void)0)
#endif

static void move(match_ita_stream_t *stream, uint32_t y, uint32_t x)
{
    if (stream->first != NULL) {
        stream->first = (const uint8_t *)stream->first + y * stream->step.y + x * stream->step.x;
    }
}

void match_ita_move(match_ita_nest_t *nest, uint32_t y, uint32_t x)
{
    move(&nest->input, y, x);
    move(&nest->weight, y, x);
    move(&nest->bias, y, x);
    move(&nest->output, y, x);
}

match_ita_tail_t match_ita_tail(void *output, uint32_t columns, uint32_t rows, void *scratch)
{
    const uint32_t left = rows % MATCH_ITA_SIDE;
    match_ita_tail_t tail = {0u, rows * MATCH_ITA_SIDE, 0u, NULL, scratch};
    if (left != 0u) {
        const uint32_t reach = (rows < MATCH_ITA_SIDE) ? (MATCH_ITA_SIDE - 1u) / rows : 1u;
        tail.blocks = match_min_u32(reach, columns);
        tail.bytes = ((tail.blocks - 1u) * rows + left) * MATCH_ITA_SIDE;
        tail.to = (uint8_t *)output + columns * rows * MATCH_ITA_SIDE - tail.bytes;
    }
    return tail;
}

void match_ita_redirect(match_ita_nest_t *nest, const match_ita_tail_t *tail, uint32_t behind)
{
    if (tail->blocks > behind) {
        nest->moved = match_min_u32(tail->blocks - behind, nest->count.y * nest->count.x);
        nest->scratch = (uint8_t *)tail->scratch + (tail->blocks - behind - nest->moved) * tail->step;
        nest->scratch_step = tail->step;
    }
}

void match_ita_move_tail(const match_ita_tail_t *tail)
{
    if (tail->blocks > 0u) {
        MATCH_ITA_CHARGE_TAIL();
        (void)snrt_dma_start_1d(tail->to, tail->scratch, tail->bytes);
        snrt_dma_wait_all();
    }
}

void *match_ita_room(const match_ita_tail_t *tail, void *output)
{
    return (tail->blocks > 0u) ? tail->scratch : output;
}

void match_ita_clear_columns(void *output, uint32_t p1, uint32_t t1, uint32_t t, void *scratch)
{
    const uint32_t used = t - (t1 - 1u) * MATCH_ITA_SIDE;
    if (used == MATCH_ITA_SIDE) {
        return;
    }
    MATCH_ITA_CHARGE_TAIL();
    for (uint32_t i = 0u; i < MATCH_ITA_SIDE; i++) {
        ((uint8_t *)scratch)[i] = 0u;
    }
    for (uint32_t p = 0u; p < p1; p++) {
        uint8_t *const block = (uint8_t *)output + (p * t1 + t1 - 1u) * MATCH_ITA_BLOCK_BYTES;
        (void)snrt_dma_start_2d(block + used, scratch, MATCH_ITA_SIDE - used, MATCH_ITA_SIDE, 0u, MATCH_ITA_SIDE);
    }
    snrt_dma_wait_all();
}
