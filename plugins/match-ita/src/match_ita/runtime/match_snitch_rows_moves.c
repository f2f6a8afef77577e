/* match_snitch_rows_moves.c - what moves bytes: copies whose order the DMA makes, rows by index, windows of rows,
 * padding, joined tensors. SPDX-License-Identifier: Apache-2.0 */
#include "match_snitch_rows.h"
#include "match_snitch_rows_cycles.h"
#include "match_snitch_rows_kernels.h"

#define WORD_BYTES 4u
/* Words that a core copies at once. */
#define COPY_WORDS 8u
#define COPY_BYTES (WORD_BYTES * COPY_WORDS)

/* Words of tensors of bytes. */
typedef uint32_t __attribute__((may_alias)) word_t;

static void copy_bytes(uint8_t *restrict to, const uint8_t *restrict from, uint32_t bytes, uint32_t flip)
{
    for (uint32_t i = 0u; i < bytes; i++) {
        to[i] = (uint8_t)(from[i] ^ flip);
    }
}

/* bytes ^ flip, where flip repeats one byte; both sides begin at multiples of four. */
static void copy_words(uint8_t *restrict to, const uint8_t *restrict from, uint32_t bytes, uint32_t flip)
{
    const word_t *restrict x = (const void *)from;
    word_t *restrict y = (void *)to;
    uint32_t left = bytes;
    for (; left >= COPY_BYTES; left -= COPY_BYTES) {
        const uint32_t w0 = x[0], w1 = x[1], w2 = x[2], w3 = x[3], w4 = x[4], w5 = x[5], w6 = x[6], w7 = x[7];
        y[0] = w0 ^ flip;
        y[1] = w1 ^ flip;
        y[2] = w2 ^ flip;
        y[3] = w3 ^ flip;
        y[4] = w4 ^ flip;
        y[5] = w5 ^ flip;
        y[6] = w6 ^ flip;
        y[7] = w7 ^ flip;
        x += COPY_WORDS;
        y += COPY_WORDS;
    }
    for (; left >= WORD_BYTES; left -= WORD_BYTES) {
        *y++ = *x++ ^ flip;
    }
    copy_bytes((void *)y, (const void *)x, left, flip);
}

/* A run of bytes; `words` says that it begins at multiples of four and that its length is one. */
static void run_of(uint8_t *to, const uint8_t *from, uint32_t bytes, int words)
{
    if (words) {
        copy_words(to, from, bytes, 0u);
    } else {
        copy_bytes(to, from, bytes, 0u);
    }
}

/* `words` as for a run. */
static void fill(uint8_t *to, uint32_t bytes, int32_t value, int words)
{
    if (words) {
        word_t *const y = (void *)to;
        const uint32_t word = (uint32_t)(uint8_t)value * 0x01010101u;
        for (uint32_t i = 0u; i < bytes / WORD_BYTES; i++) {
            y[i] = word;
        }
        return;
    }
    for (uint32_t i = 0u; i < bytes; i++) {
        to[i] = (uint8_t)value;
    }
}

static void copy_core(void *tile)
{
    const match_snitch_copy_t *const t = tile;
    const match_snitch_part_t part = match_snitch_part(t->o * t->p * t->a * t->b * t->c, COPY_BYTES);
    match_ita_charge(match_snitch_copy_cycles(t));
    copy_words((uint8_t *)t->output + part.start, (const uint8_t *)t->input + part.start, part.stop - part.start,
               (uint32_t)t->flip);
}

static void gather_core(void *tile)
{
    const match_snitch_gather_t *const t = tile;
    const match_snitch_part_t part = match_snitch_part(t->n, 1u);
    const int32_t *const index = t->index;
    const uint32_t bytes = t->c;
    match_ita_charge(match_snitch_gather_cycles(t));
    for (uint32_t row = part.start; row < part.stop; row++) {
        const uint8_t *const from = (const uint8_t *)t->input + (uint32_t)index[row] * bytes;
        run_of((uint8_t *)t->output + row * bytes, from, bytes, bytes % WORD_BYTES == 0u);
    }
}

static void windows_core(void *tile)
{
    const match_snitch_windows_t *const t = tile;
    const match_snitch_part_t part = match_snitch_part(t->t, 1u);
    const uint32_t bytes = t->c, taps = t->k;
    uint8_t *y = (uint8_t *)t->output + part.start * taps * bytes;
    match_ita_charge(match_snitch_windows_cycles(t));
    for (uint32_t step = part.start; step < part.stop; step++) {
        int32_t row = (int32_t)step * t->stride - (int32_t)t->input_v_pad_before;
        for (uint32_t tap = 0u; tap < taps; tap++) {
            if ((row < 0) || (row >= (int32_t)t->input_v)) {
                fill(y, bytes, t->pad_value, bytes % WORD_BYTES == 0u);
            } else {
                run_of(y, (const uint8_t *)t->input + (uint32_t)row * bytes, bytes, bytes % WORD_BYTES == 0u);
            }
            y += bytes;
            row += t->dilation;
        }
    }
}

static void pad_core(void *tile)
{
    const match_snitch_pad_t *const t = tile;
    const uint32_t before = (uint32_t)t->before * t->i, after = (uint32_t)t->after * t->i;
    const uint32_t bytes = (uint32_t)t->size * t->i;
    const match_snitch_part_t part = match_snitch_part(t->o, 1u);
    const int words = ((before | after | bytes) % WORD_BYTES) == 0u;
    match_ita_charge(match_snitch_pad_cycles(t));
    for (uint32_t row = part.start; row < part.stop; row++) {
        uint8_t *const y = (uint8_t *)t->output + row * (before + bytes + after);
        fill(y, before, t->pad_value, words);
        run_of(y + before, (const uint8_t *)t->input + row * bytes, bytes, words);
        fill(y + before + bytes, after, t->pad_value, words);
    }
}

/* This core's part of one of the tensors that are joined. */
static void join(uint8_t *output, const uint8_t *input, match_snitch_part_t part, uint32_t bytes, uint32_t pitch,
                 int words)
{
    for (uint32_t row = part.start; row < part.stop; row++) {
        run_of(output + row * pitch, input + row * bytes, bytes, words);
    }
}

static void concat_core(void *tile)
{
    const match_snitch_concat_t *const t = tile;
    const uint32_t a = (uint32_t)t->size_a * t->i, b = (uint32_t)t->size_b * t->i;
    const match_snitch_part_t part = match_snitch_part(t->o, 1u);
    const int words = ((a | b) % WORD_BYTES) == 0u;
    match_ita_charge(match_snitch_concat_cycles(t));
    join(t->output, t->input_a, part, a, a + b, words);
    join((uint8_t *)t->output + a, t->input_b, part, b, a + b, words);
}

static void concat_three_core(void *tile)
{
    const match_snitch_concat_three_t *const t = tile;
    const uint32_t a = (uint32_t)t->size_a * t->i, b = (uint32_t)t->size_b * t->i, c = (uint32_t)t->size_c * t->i;
    const match_snitch_part_t part = match_snitch_part(t->o, 1u);
    const uint32_t pitch = a + b + c;
    const int words = ((a | b | c) % WORD_BYTES) == 0u;
    match_ita_charge(match_snitch_concat_three_cycles(t));
    join(t->output, t->input_a, part, a, pitch, words);
    join((uint8_t *)t->output + a, t->input_b, part, b, pitch, words);
    join((uint8_t *)t->output + a + b, t->input_c, part, c, pitch, words);
}

void match_snitch_copy(const match_snitch_copy_t *tile)
{
    match_ita_team_launch(copy_core, tile);
}

void match_snitch_gather(const match_snitch_gather_t *tile)
{
    match_ita_team_launch(gather_core, tile);
}

void match_snitch_windows(const match_snitch_windows_t *tile)
{
    match_ita_team_launch(windows_core, tile);
}

void match_snitch_pad(const match_snitch_pad_t *tile)
{
    match_ita_team_launch(pad_core, tile);
}

void match_snitch_concat(const match_snitch_concat_t *tile)
{
    match_ita_team_launch(concat_core, tile);
}

void match_snitch_concat_three(const match_snitch_concat_three_t *tile)
{
    match_ita_team_launch(concat_three_core, tile);
}
