/* match_ita_kernels.c - linear layers and products of activations as nests of jobs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_ita_api.h"

#include <stddef.h>

#include "match_ita_blocks.h"
#include "match_runtime.h"

static match_ita_setup_t linear_setup(int32_t multiplier, int32_t shift, int32_t add)
{
    match_ita_setup_t setup = {.engine = MATCH_ITA_LAYER_LINEAR};
    match_ita_set_slot(&setup, MATCH_ITA_SLOT_LINEAR, multiplier, shift, add);
    return setup;
}

/* ITA only counts the blocks of a linear layer: a run of it has at most 15 by 15 blocks of the output. L1 does not
 * hold more than 15 blocks of rows with their output. `behind`: blocks of the output that later nests compute. */
static void program_runs(const match_ita_nest_t *all, const match_ita_tail_t *tail, uint32_t behind)
{
    uint32_t left = all->count.y;
    while (left > 0u) {
        match_ita_nest_t run = *all;
        match_ita_move(&run, all->count.y - left, 0u);
        run.count.y = match_min_u32(left, MATCH_ITA_MOST_TILES);
        run.tiles = match_ita_tiles(run.count.x, run.count.inner, run.count.y);
        left -= run.count.y;
        match_ita_redirect(&run, tail, behind + left * run.count.x);
        match_ita_program(&run);
    }
}

void match_ita_linear(const match_ita_linear_t *tile)
{
    const uint32_t rows = match_ita_blocks(tile->s);
    match_ita_setup_t setup = linear_setup(tile->multiplier, tile->shift, tile->add);
    setup.engine |= (uint32_t)tile->activation << MATCH_ITA_ACTIVATION_BIT;
    setup.gelu = ((uint32_t)tile->gelu_b & 0xFFFFu) | ((uint32_t)tile->gelu_c << 16);
    setup.activation_requant = ((uint32_t)tile->act_multiplier & 0xFFu) | (((uint32_t)tile->act_shift & 0xFFu) << 8) |
                               (((uint32_t)tile->act_add & 0xFFu) << 16);
    const match_ita_nest_t nest = {
        .count = {tile->c1, rows, tile->k1},
        .input = {tile->input, {tile->s * MATCH_ITA_SIDE, MATCH_ITA_BLOCK_BYTES, 0u}},
        .weight = {tile->weight, {MATCH_ITA_BLOCK_BYTES, 0u, tile->c1 * MATCH_ITA_BLOCK_BYTES}},
        .bias = {tile->bias, {0u, 0u, MATCH_ITA_BIAS_BYTES}},
        .output = {tile->output, {0u, MATCH_ITA_BLOCK_BYTES, tile->s * MATCH_ITA_SIDE}},
    };
    const match_ita_tail_t tail = match_ita_tail(tile->output, tile->k1, tile->s, tile->scratch);
    match_ita_settle(match_ita_room(&tail, tile->output));
    match_ita_begin(&setup);
    program_runs(&nest, &tail, 0u);
    match_ita_end();
    match_ita_move_tail(&tail);
}

void match_ita_linear_turned(const match_ita_linear_turned_t *tile)
{
    const match_ita_setup_t setup = linear_setup(tile->multiplier, tile->shift, tile->add);
    const match_ita_nest_t nest = {
        .count = {tile->c1, tile->t1, tile->p1},
        .input = {tile->weight, {MATCH_ITA_BLOCK_BYTES, 0u, tile->c1 * MATCH_ITA_BLOCK_BYTES}},
        .weight = {tile->input, {tile->input_t * MATCH_ITA_SIDE, MATCH_ITA_BLOCK_BYTES, 0u}},
        .bias = {tile->bias, {0u, 0u, MATCH_ITA_BIAS_BYTES}},
        .output = {tile->output, {0u, MATCH_ITA_BLOCK_BYTES, tile->t1 * MATCH_ITA_BLOCK_BYTES}},
        .stream = MATCH_ITA_BIAS_BY_ROW,
    };
    const match_ita_tail_t none = {0u, 0u, 0u, NULL, NULL};
    match_ita_settle(tile->output);
    match_ita_begin(&setup);
    program_runs(&nest, &none, 0u);
    match_ita_end();
    match_ita_clear_columns(tile->output, tile->p1, tile->t1, tile->input_t, tile->scratch);
}

void match_ita_matmul(const match_ita_matmul_t *tile)
{
    const uint32_t rows = match_ita_blocks(tile->m), a_block = tile->m * MATCH_ITA_SIDE;
    const uint32_t b_block = tile->n1 * MATCH_ITA_BLOCK_BYTES;
    const match_ita_setup_t setup = linear_setup(tile->multiplier, tile->shift, tile->add);
    const match_ita_tail_t tail = match_ita_tail(tile->output, tile->h * tile->n1, tile->m, tile->scratch);
    match_ita_settle(match_ita_room(&tail, tile->output));
    match_ita_begin(&setup);
    for (uint32_t head = 0u; head < tile->h; head++) {
        const match_ita_nest_t nest = {
            .count = {tile->c1, rows, tile->n1},
            .input = {(const uint8_t *)tile->a + head * tile->c1 * a_block, {a_block, MATCH_ITA_BLOCK_BYTES, 0u}},
            .weight = {(const uint8_t *)tile->b + head * tile->c1 * b_block, {b_block, 0u, MATCH_ITA_BLOCK_BYTES}},
            .bias = {NULL, {0u, 0u, 0u}},
            .output = {(const uint8_t *)tile->output + head * tile->n1 * a_block, {0u, MATCH_ITA_BLOCK_BYTES, a_block}},
            .stream = MATCH_ITA_NO_BIAS,
        };
        program_runs(&nest, &tail, (tile->h - 1u - head) * tile->n1 * rows);
    }
    match_ita_end();
    match_ita_move_tail(&tail);
}
