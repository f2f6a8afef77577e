/* match_gap9_moves.h - bytes moved: parts and permutations of tensors, padding, joined tensors, repeated pixels.
 * Launches return at once; match_gap9_team_wait returns when all cores are done.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_GAP9_MOVES_H
#define MATCH_GAP9_MOVES_H

#include "match_concat_four.h"
#include "match_concat_three.h"
#include "match_concat_two.h"
#include "match_move.h"
#include "match_pad.h"
#include "match_repeat.h"

/* output = input: the DMA has put the elements into the result's order. */
void match_gap9_move(const match_move_t *tile);

/* output[p][y][x][c], the input inside of `value`. */
void match_gap9_pad(const match_pad_t *tile);

/* output[o] = input_a[o][size_a][i], then input_b[o][size_b][i] and so on. */
void match_gap9_concat_two(const match_concat_two_t *tile);
void match_gap9_concat_three(const match_concat_three_t *tile);
void match_gap9_concat_four(const match_concat_four_t *tile);

/* output[y][sy][x][sx][c] = input[y][x][c]. */
void match_gap9_repeat(const match_repeat_t *tile);

#endif
