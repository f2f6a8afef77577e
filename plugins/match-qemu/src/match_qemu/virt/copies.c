/* copies.c - copies of the clusters' DMAs and of the system DMA, each done when it is asked for, so that there is nothing
 * to wait for. Takes the place of match_carfield_pulp_dma.c, match_carfield_spatz_dma.c and match_carfield_dma.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <string.h>

#include "match_carfield_api.h"

/* Strides in bytes, from plane to plane and from row to row. */
typedef struct {
    size_t plane, row;
} strides_t;

static void copy(uint8_t *to, strides_t to_strides, const uint8_t *from, strides_t from_strides, uint32_t planes,
                 uint32_t rows, uint32_t row_bytes)
{
    for (size_t plane = 0u; plane < planes; plane++) {
        for (size_t row = 0u; row < rows; row++) {
            memcpy(to + plane * to_strides.plane + row * to_strides.row,
                   from + plane * from_strides.plane + row * from_strides.row, row_bytes);
        }
    }
}

static strides_t dense(uint32_t rows, uint32_t row_bytes)
{
    const strides_t strides = {(size_t)rows * row_bytes, row_bytes};
    return strides;
}

static void copy_in(void *near, const void *far, uint32_t planes, uint32_t rows, uint32_t row_bytes,
                    strides_t far_strides)
{
    copy(near, dense(rows, row_bytes), far, far_strides, planes, rows, row_bytes);
}

static void copy_out(void *far, const void *near, uint32_t planes, uint32_t rows, uint32_t row_bytes,
                     strides_t far_strides)
{
    copy(far, far_strides, near, dense(rows, row_bytes), planes, rows, row_bytes);
}

#define COPY_FUNCTIONS(unit)                                                                                           \
    void match_carfield_##unit##_copy_in_1d(void *near, const void *far, uint32_t bytes)                               \
    {                                                                                                                  \
        memcpy(near, far, bytes);                                                                                      \
    }                                                                                                                  \
    void match_carfield_##unit##_copy_in_2d(void *near, const void *far, uint32_t rows, uint32_t row_bytes,            \
                                            uint32_t row_stride)                                                       \
    {                                                                                                                  \
        copy_in(near, far, 1u, rows, row_bytes, (strides_t){0u, row_stride});                                          \
    }                                                                                                                  \
    void match_carfield_##unit##_copy_in_3d(void *near, const void *far, uint32_t planes, uint32_t rows,               \
                                            uint32_t row_bytes, uint32_t row_stride, uint32_t plane_stride)            \
    {                                                                                                                  \
        copy_in(near, far, planes, rows, row_bytes, (strides_t){plane_stride, row_stride});                            \
    }                                                                                                                  \
    void match_carfield_##unit##_copy_out_1d(void *far, const void *near, uint32_t bytes)                              \
    {                                                                                                                  \
        memcpy(far, near, bytes);                                                                                      \
    }                                                                                                                  \
    void match_carfield_##unit##_copy_out_2d(void *far, const void *near, uint32_t rows, uint32_t row_bytes,           \
                                             uint32_t row_stride)                                                      \
    {                                                                                                                  \
        copy_out(far, near, 1u, rows, row_bytes, (strides_t){0u, row_stride});                                         \
    }                                                                                                                  \
    void match_carfield_##unit##_copy_out_3d(void *far, const void *near, uint32_t planes, uint32_t rows,              \
                                             uint32_t row_bytes, uint32_t row_stride, uint32_t plane_stride)           \
    {                                                                                                                  \
        copy_out(far, near, planes, rows, row_bytes, (strides_t){plane_stride, row_stride});                           \
    }                                                                                                                  \
    void match_carfield_##unit##_copy_wait(void) {}

COPY_FUNCTIONS(pulp)
COPY_FUNCTIONS(spatz)

/* ---- the memory behind: a part of the same RAM ------------------------------------------------------------------- */

void match_carfield_swap_out(uint32_t store, const void *home, uint32_t bytes)
{
    memcpy((void *)(uintptr_t)store, home, bytes);
}

void match_carfield_swap_in(void *home, uint32_t store, uint32_t bytes)
{
    memcpy(home, (const void *)(uintptr_t)store, bytes);
}

int match_carfield_swap_busy(void)
{
    return 0;
}

void match_carfield_store_copy_1d(void *home, uint32_t address, uint32_t bytes)
{
    memcpy(home, (const void *)(uintptr_t)address, bytes);
}

void match_carfield_store_wait(void)
{
}
