/* match_diana_digital_copy.c - copies of the digital array. SPDX-License-Identifier: Apache-2.0 */
#include "match_diana_digital_copy.h"

#include "dory.h"
#include "match_diana_copy.h"
#include "match_diana_digital.h"

static const match_diana_mover_t mover = {memcpy_dig, global_sync_digital};

/* The last piece of weights that was "copied" into the weight memory. */
static struct {
    const uint8_t *near, *far;
} weights;

const void *match_diana_digital_weights(const void *near)
{
    return weights.far + ((const uint8_t *)near - weights.near);
}

void match_diana_digital_copy_in_1d(void *near, const void *far, uint32_t bytes)
{
    match_diana_digital_copy_in_2d(near, far, 1u, bytes, bytes);
}

void match_diana_digital_copy_in_2d(void *near, const void *far, uint32_t rows, uint32_t row_bytes, uint32_t row_stride)
{
    match_diana_digital_copy_in_3d(near, far, 1u, rows, row_bytes, row_stride, 0u);
}

void match_diana_digital_copy_in_3d(void *near, const void *far, uint32_t planes, uint32_t rows, uint32_t row_bytes,
                                    uint32_t row_stride, uint32_t plane_stride)
{
    if (match_diana_in_l1(near)) {
        match_diana_copy_in(&mover, near, far, (match_diana_level_t){planes, plane_stride},
                            (match_diana_level_t){rows, row_stride}, row_bytes);
    } else { /* weights are contiguous: their outermost axis alone is cut */
        weights.near = near;
        weights.far = far;
    }
}

void match_diana_digital_copy_out_1d(void *far, const void *near, uint32_t bytes)
{
    match_diana_digital_copy_out_2d(far, near, 1u, bytes, bytes);
}

void match_diana_digital_copy_out_2d(void *far, const void *near, uint32_t rows, uint32_t row_bytes,
                                     uint32_t row_stride)
{
    match_diana_digital_copy_out_3d(far, near, 1u, rows, row_bytes, row_stride, 0u);
}

void match_diana_digital_copy_out_3d(void *far, const void *near, uint32_t planes, uint32_t rows, uint32_t row_bytes,
                                     uint32_t row_stride, uint32_t plane_stride)
{
    match_diana_copy_out(&mover, far, near, (match_diana_level_t){planes, plane_stride},
                         (match_diana_level_t){rows, row_stride}, row_bytes);
}

void match_diana_digital_copy_wait(void)
{
}
