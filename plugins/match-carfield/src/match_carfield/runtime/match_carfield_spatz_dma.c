/* match_carfield_spatz_dma.c - copies between L2 and Spatz's L1 by the cluster's DMA, which core 0 issues.
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_carfield_spatz.h"

/* The DMA ends its transfers in order of issue, so that there is nothing to keep about single ones. */
void match_carfield_spatz_copy_wait(void)
{
    snrt_dma_wait_all();
}

void match_carfield_spatz_copy_in_1d(void *near, const void *far, uint32_t bytes)
{
    if (bytes > 0u) {
        (void)snrt_dma_start_1d(near, far, bytes);
    }
}

void match_carfield_spatz_copy_in_2d(void *near, const void *far, uint32_t rows, uint32_t row_bytes,
                                     uint32_t row_stride)
{
    if ((row_bytes == row_stride) || (rows == 1u)) {
        match_carfield_spatz_copy_in_1d(near, far, rows * row_bytes);
    } else if ((rows > 0u) && (row_bytes > 0u)) {
        (void)snrt_dma_start_2d(near, far, row_bytes, row_bytes, row_stride, rows);
    }
}

void match_carfield_spatz_copy_in_3d(void *near, const void *far, uint32_t planes, uint32_t rows, uint32_t row_bytes,
                                     uint32_t row_stride, uint32_t plane_stride)
{
    if ((row_bytes == row_stride) || (rows == 1u)) {
        match_carfield_spatz_copy_in_2d(near, far, planes, rows * row_bytes, plane_stride);
        return;
    }
    for (uint32_t plane = 0u; plane < planes; plane++) {
        match_carfield_spatz_copy_in_2d((uint8_t *)near + plane * rows * row_bytes,
                                        (const uint8_t *)far + plane * plane_stride, rows, row_bytes, row_stride);
    }
}

void match_carfield_spatz_copy_out_1d(void *far, const void *near, uint32_t bytes)
{
    if (bytes > 0u) {
        (void)snrt_dma_start_1d(far, near, bytes);
    }
}

void match_carfield_spatz_copy_out_2d(void *far, const void *near, uint32_t rows, uint32_t row_bytes,
                                      uint32_t row_stride)
{
    if ((row_bytes == row_stride) || (rows == 1u)) {
        match_carfield_spatz_copy_out_1d(far, near, rows * row_bytes);
    } else if ((rows > 0u) && (row_bytes > 0u)) {
        (void)snrt_dma_start_2d(far, near, row_bytes, row_stride, row_bytes, rows);
    }
}

void match_carfield_spatz_copy_out_3d(void *far, const void *near, uint32_t planes, uint32_t rows, uint32_t row_bytes,
                                      uint32_t row_stride, uint32_t plane_stride)
{
    if ((row_bytes == row_stride) || (rows == 1u)) {
        match_carfield_spatz_copy_out_2d(far, near, planes, rows * row_bytes, plane_stride);
        return;
    }
    for (uint32_t plane = 0u; plane < planes; plane++) {
        match_carfield_spatz_copy_out_2d((uint8_t *)far + plane * plane_stride,
                                         (const uint8_t *)near + plane * rows * row_bytes, rows, row_bytes,
                                         row_stride);
    }
}
