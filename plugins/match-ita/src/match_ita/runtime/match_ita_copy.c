/* match_ita_copy.c - copies by the cluster's DMA, which only the DM core can start.
 *
 * The wait is for the whole DMA: its transfers end in order of issue, and the id of the last one is only known to be
 * over when another one follows (other code starts a transfer of one byte for that). So copies of core 0 that wait
 * in the ring are taken along.
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_ita_api.h"

#include "match_ita_ring.h"
#include "snrt.h"

/* Rows between `near`, which is dense, and `far`. */
typedef struct {
    uint8_t *to;
    const uint8_t *from;
    uint32_t to_stride, from_stride;
} rows_t;

static void copy_rows(rows_t at, uint32_t rows, uint32_t row_bytes)
{
    if ((rows == 0u) || (row_bytes == 0u)) {
        return;
    }
    if ((rows == 1u) || ((at.to_stride == row_bytes) && (at.from_stride == row_bytes))) {
        (void)snrt_dma_start_1d(at.to, at.from, rows * row_bytes);
    } else {
        (void)snrt_dma_start_2d(at.to, at.from, row_bytes, at.to_stride, at.from_stride, rows);
    }
}

void match_ita_copy_wait(void)
{
    match_ita_ring_start();
    snrt_dma_wait_all();
    match_ita_ring_publish();
}

void match_ita_copy_in_1d(void *near, const void *far, uint32_t bytes)
{
    match_ita_copy_in_2d(near, far, 1u, bytes, bytes);
}

void match_ita_copy_in_2d(void *near, const void *far, uint32_t rows, uint32_t row_bytes, uint32_t row_stride)
{
    copy_rows((rows_t){near, far, row_bytes, row_stride}, rows, row_bytes);
}

void match_ita_copy_in_3d(void *near, const void *far, uint32_t planes, uint32_t rows, uint32_t row_bytes,
                          uint32_t row_stride, uint32_t plane_stride)
{
    if ((rows == 1u) || (row_stride == row_bytes)) {
        match_ita_copy_in_2d(near, far, planes, rows * row_bytes, plane_stride);
        return;
    }
    for (uint32_t plane = 0u; plane < planes; plane++) {
        match_ita_copy_in_2d((uint8_t *)near + plane * rows * row_bytes, (const uint8_t *)far + plane * plane_stride,
                             rows, row_bytes, row_stride);
    }
}

void match_ita_copy_out_1d(void *far, const void *near, uint32_t bytes)
{
    match_ita_copy_out_2d(far, near, 1u, bytes, bytes);
}

void match_ita_copy_out_2d(void *far, const void *near, uint32_t rows, uint32_t row_bytes, uint32_t row_stride)
{
    copy_rows((rows_t){far, near, row_stride, row_bytes}, rows, row_bytes);
}

void match_ita_copy_out_3d(void *far, const void *near, uint32_t planes, uint32_t rows, uint32_t row_bytes,
                           uint32_t row_stride, uint32_t plane_stride)
{
    if ((rows == 1u) || (row_stride == row_bytes)) {
        match_ita_copy_out_2d(far, near, planes, rows * row_bytes, plane_stride);
        return;
    }
    for (uint32_t plane = 0u; plane < planes; plane++) {
        match_ita_copy_out_2d((uint8_t *)far + plane * plane_stride, (const uint8_t *)near + plane * rows * row_bytes,
                              rows, row_bytes, row_stride);
    }
}
