/* match_ita_attention.c - softmax(q k^T) v in groups of 64 rows: the logits of a group, then its product with v,
 * which ITA normalises while it reads the logits.
 *
 * ITA's steps (ita_controller.sv): a layer of kind SingleAttention ends behind as many groups as a group has blocks
 * of columns, as in self-attention of whole tensors. Tiles of fewer rows leave it unfinished: the next call goes on
 * with it, whichever head it works on, and who needs another layer ends it with groups that mean nothing.
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_ita_api.h"

#include <stddef.h>

#include "match_ita_blocks.h"

/* Of the unfinished layer in ITA: groups that it has seen, 0 if there is none, and its blocks of columns. */
static struct {
    uint32_t groups, columns;
} layer;

static void count_group(uint32_t columns)
{
    layer.columns = columns;
    layer.groups++;
    if (layer.groups == columns) {
        layer.groups = 0u;
    }
}

/* The two nests of a group. `mask`: biases of the last block of columns, or NULL. */
typedef struct {
    match_ita_nest_t logits, product;
    const void *mask;
} group_t;

static void program_group(const group_t *group)
{
    match_ita_nest_t rest = group->logits;
    if (group->mask != NULL) { /* all blocks but the last one, then that one with its biases */
        rest.count.x--;
        match_ita_program(&rest);
        rest = group->logits;
        match_ita_move(&rest, 0u, rest.count.x - 1u);
        rest.count.x = 1u;
        rest.bias.first = group->mask;
        rest.stream = 0u;
    }
    match_ita_program(&rest);
    match_ita_program(&group->product);
    count_group(group->product.count.inner);
}

/* Group `row` of a head. */
static group_t make_group(const match_ita_attention_t *t, uint32_t head, uint32_t row)
{
    const uint32_t rows = t->s * MATCH_ITA_SIDE, keys = t->t * MATCH_ITA_SIDE, block = MATCH_ITA_BLOCK_BYTES;
    const uint32_t tiles = match_ita_tiles(t->t1, 1u, t->p1), at = head * t->p1 * rows + row * block;
    const group_t group = {
        .logits = {
            .count = {t->p1, t->t1, 1u},
            .input = {(const uint8_t *)t->q + at, {rows, 0u, 0u}},
            .weight = {(const uint8_t *)t->k + head * t->p1 * keys, {keys, block, 0u}},
            .output = {t->scratch, {0u, block, 0u}},
            .tiles = tiles,
            .stream = MATCH_ITA_NO_BIAS,
        },
        .product = {
            .count = {t->t1, t->p1, 1u},
            .input = {t->scratch, {block, 0u, 0u}},
            .weight = {(const uint8_t *)t->vt + head * t->t1 * t->p1 * block, {t->p1 * block, block, 0u}},
            .output = {(const uint8_t *)t->output + at, {0u, rows, 0u}},
            .tiles = tiles,
            .stream = MATCH_ITA_NO_BIAS,
        },
        .mask = (t->masked != 0) ? t->mask : NULL,
    };
    return group;
}

/* A short group comes first: what ITA writes behind it belongs to the first rows of the next blocks, which come
 * later. */
static void program_head(const match_ita_attention_t *tile, uint32_t head, const match_ita_tail_t *tail)
{
    const uint32_t groups = match_ita_blocks(tile->s), first = (tail->blocks > 0u) ? groups - 1u : 0u;
    for (uint32_t i = 0u; i < groups; i++) {
        const uint32_t row = (first + i) % groups;
        group_t group = make_group(tile, head, row);
        if (row + 1u == groups) {
            match_ita_redirect(&group.product, tail, (tile->h - 1u - head) * tile->p1);
        }
        program_group(&group);
    }
}

void match_ita_attention(const match_ita_attention_t *tile)
{
    match_ita_setup_t setup = {.engine = MATCH_ITA_LAYER_SINGLE_ATTENTION};
    match_ita_set_slot(&setup, MATCH_ITA_SLOT_QK, tile->qk_multiplier, tile->qk_shift, tile->qk_add);
    match_ita_set_slot(&setup, MATCH_ITA_SLOT_AV, tile->av_multiplier, tile->av_shift, tile->av_add);
    void *const behind = (uint8_t *)tile->scratch + tile->t1 * MATCH_ITA_BLOCK_BYTES;
    const match_ita_tail_t tail = match_ita_tail(tile->output, tile->h * tile->p1, tile->s, behind);
    if (layer.columns != tile->t1) {
        match_ita_settle(tile->scratch);
    }
    match_ita_begin(&setup);
    for (uint32_t head = 0u; head < tile->h; head++) {
        program_head(tile, head, &tail);
    }
    match_ita_end();
    match_ita_move_tail(&tail);
}

/* One group with one block more than ITA has seen groups is its last. */
void match_ita_settle(void *block)
{
    const uint32_t columns = layer.groups + 1u;
    if (layer.groups == 0u) {
        return;
    }
    const match_ita_setup_t setup = {.engine = MATCH_ITA_LAYER_SINGLE_ATTENTION};
    const match_ita_nest_t empty = {
        .count = {1u, columns, 1u},
        .input = {block, {0u, 0u, 0u}},
        .weight = {block, {0u, 0u, 0u}},
        .output = {block, {0u, 0u, 0u}},
        .tiles = match_ita_tiles(columns, 1u, 1u),
        .stream = MATCH_ITA_NO_BIAS,
    };
    group_t group = {.logits = empty, .product = empty, .mask = NULL};
    group.product.count = (match_ita_loops_t){columns, 1u, 1u};
    match_ita_begin(&setup);
    program_group(&group);
    match_ita_end();
}
