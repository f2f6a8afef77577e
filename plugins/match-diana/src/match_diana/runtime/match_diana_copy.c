/* match_diana_copy.c - pieces of copies, one after the other; the engine takes one contiguous piece at a time.
 *
 * The published functions round lengths up to 32 bytes, and what lies behind a piece is overwritten. Pieces are multiples
 * of 16 bytes and have 32 at least; one that is no multiple of 32 is moved as two that overlap.
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_diana_copy.h"

#define STEP_BYTES 32u
/* Directions of the published functions. */
#define TO_L1 0u
#define TO_L2 1u

bool match_diana_in_l1(const void *near)
{
    return ((uintptr_t)near - MATCH_DIANA_L1_BASE) < MATCH_DIANA_L1_BYTES;
}

uint32_t match_diana_l1_offset(const void *near)
{
    return (uint32_t)((uintptr_t)near - MATCH_DIANA_L1_BASE);
}

static void move(const match_diana_mover_t *mover, uint32_t near, const uint8_t *far, uint32_t bytes, uint32_t direction)
{
    mover->start((unsigned int *)(uintptr_t)far, near, bytes, direction, 1u);
    mover->wait();
}

static void move_piece(const match_diana_mover_t *mover, uint32_t near, const uint8_t *far, uint32_t bytes,
                       uint32_t direction)
{
    const uint32_t whole = bytes & ~(STEP_BYTES - 1u);
    if (whole == bytes) {
        move(mover, near, far, bytes, direction);
    } else {
        const uint32_t last = bytes - STEP_BYTES;
        move(mover, near, far, whole, direction);
        move(mover, near + last, far + last, STEP_BYTES, direction);
    }
}

static void move_all(const match_diana_mover_t *mover, uint32_t near, const uint8_t *far, match_diana_level_t planes,
                     match_diana_level_t rows, uint32_t row_bytes, uint32_t direction)
{
    for (uint32_t plane = 0u; plane < planes.count; plane++) {
        for (uint32_t row = 0u; row < rows.count; row++) {
            move_piece(mover, near, far + plane * planes.stride + row * rows.stride, row_bytes, direction);
            near += row_bytes;
        }
    }
}

void match_diana_copy_in(const match_diana_mover_t *mover, const void *near, const void *far, match_diana_level_t planes,
                         match_diana_level_t rows, uint32_t row_bytes)
{
    move_all(mover, match_diana_l1_offset(near), far, planes, rows, row_bytes, TO_L1);
}

void match_diana_copy_out(const match_diana_mover_t *mover, void *far, const void *near, match_diana_level_t planes,
                          match_diana_level_t rows, uint32_t row_bytes)
{
    move_all(mover, match_diana_l1_offset(near), far, planes, rows, row_bytes, TO_L2);
}
