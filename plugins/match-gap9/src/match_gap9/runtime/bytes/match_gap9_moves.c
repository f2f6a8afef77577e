/* match_gap9_moves.c - see the header.
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_gap9_moves.h"

#include "match_gap9_api.h"
#include "match_gap9_cores.h"
#include "match_gap9_share.h"

#define WORD 4u

/* Words of tensors of bytes. */
typedef uint32_t __attribute__((may_alias)) word_t;

/* Whether both addresses and the length of a run are multiples of four. */
static int in_words(const void *to, const void *from, uint32_t bytes)
{
    return (((uint32_t)(uintptr_t)to | (uint32_t)(uintptr_t)from | bytes) & (WORD - 1u)) == 0u;
}

static void run(uint8_t *restrict to, const uint8_t *restrict from, uint32_t bytes)
{
    MATCH_GAP9_COUNT(MOVE_RUN, 1u);
    if (in_words(to, from, bytes)) {
        word_t *const y = (void *)to;
        const word_t *const x = (const void *)from;
        MATCH_GAP9_COUNT(MOVE_WORD, bytes / WORD);
        for (uint32_t i = 0u; i < bytes / WORD; i++) {
            y[i] = x[i];
        }
        return;
    }
    MATCH_GAP9_COUNT(MOVE_BYTE, bytes);
    for (uint32_t i = 0u; i < bytes; i++) {
        to[i] = from[i];
    }
}

static void fill(uint8_t *to, uint32_t bytes, uint8_t value)
{
    if (in_words(to, to, bytes)) {
        word_t *const y = (void *)to;
        MATCH_GAP9_COUNT(MOVE_FILL, bytes / WORD);
        for (uint32_t i = 0u; i < bytes / WORD; i++) {
            y[i] = value * 0x01010101u;
        }
        return;
    }
    MATCH_GAP9_COUNT(MOVE_FILL, bytes);
    for (uint32_t i = 0u; i < bytes; i++) {
        to[i] = value;
    }
}

static void move_core(void *argument)
{
    const match_move_t *const t = argument;
    const match_gap9_share_t mine = match_gap9_share(t->o * t->p * t->a * t->b * t->c, WORD);
    MATCH_GAP9_COUNT(MOVE_CALL, 1u);
    run((uint8_t *)t->output + mine.start, (const uint8_t *)t->input + mine.start, mine.stop - mine.start);
    pi_cl_team_barrier(0);
}

void match_gap9_move(const match_move_t *tile)
{
    match_gap9_team_launch(move_core, tile);
}

/* A row of the padded tile; the input's is that of (p, y, x), if there is one: indices wrap before the first. */
static void padded_row(const match_pad_t *t, uint8_t *out, uint32_t p, uint32_t y, uint32_t x)
{
    const uint8_t value = (uint8_t)t->value;
    MATCH_GAP9_COUNT(PAD_ROW, 1u);
    if (p >= t->input_p || y >= t->input_y || x >= t->input_x) {
        fill(out, t->c, value);
        return;
    }
    const uint8_t *const in = t->input;
    fill(out, t->input_c_pad_before, value);
    run(out + t->input_c_pad_before, in + ((p * t->input_y + y) * t->input_x + x) * t->input_c, t->input_c);
    fill(out + t->input_c_pad_before + t->input_c, t->input_c_pad_after, value);
}

static void pad_core(void *argument)
{
    const match_pad_t *const t = argument;
    const match_gap9_share_t mine = match_gap9_share(t->p * t->y * t->x, 1u);
    uint32_t x = mine.start % t->x, y = mine.start / t->x % t->y, p = mine.start / t->x / t->y;
    uint8_t *out = (uint8_t *)t->output + mine.start * t->c;
    MATCH_GAP9_COUNT(MOVE_CALL, 1u);
    for (uint32_t row = mine.start; row < mine.stop; row++, out += t->c) {
        padded_row(t, out, p - t->input_p_pad_before, y - t->input_y_pad_before, x - t->input_x_pad_before);
        if (++x == t->x) {
            x = 0u;
            if (++y == t->y) {
                y = 0u;
                p++;
            }
        }
    }
    pi_cl_team_barrier(0);
}

void match_gap9_pad(const match_pad_t *tile)
{
    match_gap9_team_launch(pad_core, tile);
}

/* A tensor to join: rows of so many bytes. */
typedef struct {
    const uint8_t *data;
    uint32_t bytes;
} part_t;

/* Workers share rows, or where there are few of them each row's bytes. */
static void join(const part_t *parts, uint32_t count, uint32_t rows, uint8_t *out)
{
    uint32_t row_bytes = 0u;
    for (uint32_t n = 0u; n < count; n++) {
        row_bytes += parts[n].bytes;
    }
    const int by_rows = rows >= (uint32_t)NUM_CORES;
    const match_gap9_share_t all = {0u, rows};
    const match_gap9_share_t mine = by_rows ? match_gap9_share(rows, 1u) : all;
    MATCH_GAP9_COUNT(MOVE_CALL, 1u);
    for (uint32_t row = mine.start; row < mine.stop; row++) {
        uint8_t *to = out + row * row_bytes;
        for (uint32_t n = 0u; n < count; n++) {
            const uint32_t bytes = parts[n].bytes;
            const match_gap9_share_t whole = {0u, bytes};
            const match_gap9_share_t part = by_rows ? whole : match_gap9_share(bytes, WORD);
            run(to + part.start, parts[n].data + row * bytes + part.start, part.stop - part.start);
            to += bytes;
        }
    }
    pi_cl_team_barrier(0);
}

static void concat_two_core(void *argument)
{
    const match_concat_two_t *const t = argument;
    const part_t parts[] = {
        {t->input_a, (uint32_t)t->size_a * t->i},
        {t->input_b, (uint32_t)t->size_b * t->i},
    };
    join(parts, 2u, t->o, t->output);
}

void match_gap9_concat_two(const match_concat_two_t *tile)
{
    match_gap9_team_launch(concat_two_core, tile);
}

static void concat_three_core(void *argument)
{
    const match_concat_three_t *const t = argument;
    const part_t parts[] = {
        {t->input_a, (uint32_t)t->size_a * t->i},
        {t->input_b, (uint32_t)t->size_b * t->i},
        {t->input_c, (uint32_t)t->size_c * t->i},
    };
    join(parts, 3u, t->o, t->output);
}

void match_gap9_concat_three(const match_concat_three_t *tile)
{
    match_gap9_team_launch(concat_three_core, tile);
}

static void concat_four_core(void *argument)
{
    const match_concat_four_t *const t = argument;
    const part_t parts[] = {
        {t->input_a, (uint32_t)t->size_a * t->i},
        {t->input_b, (uint32_t)t->size_b * t->i},
        {t->input_c, (uint32_t)t->size_c * t->i},
        {t->input_d, (uint32_t)t->size_d * t->i},
    };
    join(parts, 4u, t->o, t->output);
}

void match_gap9_concat_four(const match_concat_four_t *tile)
{
    match_gap9_team_launch(concat_four_core, tile);
}

/* Workers share rows of the result: sy of each row of the input. */
static void repeat_core(void *argument)
{
    const match_repeat_t *const t = argument;
    const uint32_t row_bytes = t->x * t->sx * t->c;
    const match_gap9_share_t mine = match_gap9_share(t->y * t->sy, 1u);
    MATCH_GAP9_COUNT(MOVE_CALL, 1u);
    for (uint32_t row = mine.start; row < mine.stop; row++) {
        const uint8_t *in = (const uint8_t *)t->input + row / t->sy * t->x * t->c;
        uint8_t *out = (uint8_t *)t->output + row * row_bytes;
        for (uint32_t x = 0u; x < t->x; x++, in += t->c) {
            for (uint32_t n = 0u; n < t->sx; n++, out += t->c) {
                run(out, in, t->c);
            }
        }
    }
    pi_cl_team_barrier(0);
}

void match_gap9_repeat(const match_repeat_t *tile)
{
    match_gap9_team_launch(repeat_core, tile);
}
