/* match_snitch_rows_turn.c - matrices of bytes whose rows become columns. SPDX-License-Identifier: Apache-2.0 */
#include "match_snitch_rows.h"
#include "match_snitch_rows_cycles.h"
#include "match_snitch_rows_kernels.h"

/* Four columns, turned: blocks of four by four bytes. */
static void turn_columns(const uint8_t *restrict x, uint8_t *restrict y, uint32_t rows, uint32_t pitch)
{
    const uint8_t *restrict x1 = x + pitch, *restrict x2 = x1 + pitch, *restrict x3 = x2 + pitch;
    uint8_t *restrict y1 = y + rows, *restrict y2 = y1 + rows, *restrict y3 = y2 + rows;
    const uint32_t step = pitch * MATCH_SNITCH_BLOCK;
    uint32_t left = rows;
#define MATCH_SNITCH_TURN(to, i)                                                                                     \
    do {                                                                                                             \
        const uint8_t v0 = x[i], v1 = x1[i], v2 = x2[i], v3 = x3[i];                                                 \
        to[0] = v0;                                                                                                  \
        to[1] = v1;                                                                                                  \
        to[2] = v2;                                                                                                  \
        to[3] = v3;                                                                                                  \
        to += MATCH_SNITCH_BLOCK;                                                                                    \
    } while (0)
    for (; left >= MATCH_SNITCH_BLOCK; left -= MATCH_SNITCH_BLOCK) {
        MATCH_SNITCH_TURN(y, 0);
        MATCH_SNITCH_TURN(y1, 1);
        MATCH_SNITCH_TURN(y2, 2);
        MATCH_SNITCH_TURN(y3, 3);
        x += step;
        x1 += step;
        x2 += step;
        x3 += step;
    }
#undef MATCH_SNITCH_TURN
    for (; left > 0u; left--) {
        *y++ = x[0];
        *y1++ = x[1];
        *y2++ = x[2];
        *y3++ = x[3];
        x += pitch;
    }
}

static void transpose_core(void *tile)
{
    const match_snitch_transpose_t *const t = tile;
    const uint32_t rows = t->r, pitch = t->c, size = rows * pitch;
    const match_snitch_part_t part = match_snitch_part(pitch, MATCH_SNITCH_BLOCK);
    match_ita_charge(match_snitch_transpose_cycles(t));
    for (uint32_t matrix = 0u; matrix < t->p * t->a; matrix++) {
        const uint8_t *const x = (const uint8_t *)t->input + matrix * size;
        uint8_t *const y = (uint8_t *)t->output + matrix * size;
        uint32_t column = part.start;
        for (; part.stop - column >= MATCH_SNITCH_BLOCK; column += MATCH_SNITCH_BLOCK) {
            turn_columns(x + column, y + column * rows, rows, pitch);
        }
        for (; column < part.stop; column++) {
            for (uint32_t row = 0u; row < rows; row++) {
                y[column * rows + row] = x[row * pitch + column];
            }
        }
    }
}

void match_snitch_transpose(const match_snitch_transpose_t *tile)
{
    match_ita_team_launch(transpose_core, tile);
}
