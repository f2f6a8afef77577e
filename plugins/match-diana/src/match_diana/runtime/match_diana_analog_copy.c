/* match_diana_analog_copy.c - copies of the analog array. SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "dory.h"
#include "match_diana_analog.h"
#include "match_diana_copy.h"

static const match_diana_mover_t mover = {memcpy_analog, global_sync_analog};

/* The last pieces that were "copied" into the array's two memories of constants. */
static struct {
    const uint8_t *near, *far;
    uint32_t bytes;
} notes[2];

static void note(const uint8_t *near, const uint8_t *far, uint32_t bytes)
{
    const uint32_t place = ((notes[0].near == NULL) || (notes[0].near == near)) ? 0u : 1u;
    notes[place].near = near;
    notes[place].far = far;
    notes[place].bytes = bytes;
}

const uint8_t *match_diana_analog_constants(const void *near)
{
    const uintptr_t offset = (uintptr_t)near - (uintptr_t)notes[0].near;
    const uint32_t place = (offset < notes[0].bytes) ? 0u : 1u;
    return notes[place].far + ((const uint8_t *)near - notes[place].near);
}

void match_diana_analog_copy_in_1d(void *near, const void *far, uint32_t bytes)
{
    match_diana_analog_copy_in_2d(near, far, 1u, bytes, bytes);
}

void match_diana_analog_copy_in_2d(void *near, const void *far, uint32_t rows, uint32_t row_bytes, uint32_t row_stride)
{
    match_diana_analog_copy_in_3d(near, far, 1u, rows, row_bytes, row_stride, 0u);
}

void match_diana_analog_copy_in_3d(void *near, const void *far, uint32_t planes, uint32_t rows, uint32_t row_bytes,
                                   uint32_t row_stride, uint32_t plane_stride)
{
    if (match_diana_in_l1(near)) {
        match_diana_copy_in(&mover, near, far, (match_diana_level_t){planes, plane_stride},
                            (match_diana_level_t){rows, row_stride}, row_bytes);
    } else { /* constants are contiguous: their outermost axis alone is cut */
        note(near, far, planes * rows * row_bytes);
    }
}

void match_diana_analog_copy_out_1d(void *far, const void *near, uint32_t bytes)
{
    match_diana_analog_copy_out_2d(far, near, 1u, bytes, bytes);
}

void match_diana_analog_copy_out_2d(void *far, const void *near, uint32_t rows, uint32_t row_bytes, uint32_t row_stride)
{
    match_diana_analog_copy_out_3d(far, near, 1u, rows, row_bytes, row_stride, 0u);
}

void match_diana_analog_copy_out_3d(void *far, const void *near, uint32_t planes, uint32_t rows, uint32_t row_bytes,
                                    uint32_t row_stride, uint32_t plane_stride)
{
    match_diana_copy_out(&mover, far, near, (match_diana_level_t){planes, plane_stride},
                         (match_diana_level_t){rows, row_stride}, row_bytes);
}

void match_diana_analog_copy_wait(void)
{
}
