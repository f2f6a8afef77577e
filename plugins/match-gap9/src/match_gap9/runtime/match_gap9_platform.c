/* match_gap9_platform.c - cluster power, offload and copies through PMSIS.
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_gap9_api.h"
#include "pmsis.h"

/* MCHAN takes 17 bits of length per command and has 16 transfer ids; some stay free for the application. */
#define COPY_MAX_BYTES 131071u
#define COPY_SLOTS 8u

static struct pi_device cluster;
static int cluster_users;
static pi_cl_dma_cmd_t copies[COPY_SLOTS];
static uint32_t copies_in_flight;

int match_gap9_start(void)
{
    if (cluster_users == 0) {
        struct pi_cluster_conf conf;
        pi_cluster_conf_init(&conf);
        pi_open_from_conf(&cluster, &conf);
        if (pi_cluster_open(&cluster) != 0) {
            return -1;
        }
    }
    cluster_users++;
    return 0;
}

int match_gap9_call(void (*entry)(void *), void *argument)
{
    struct pi_cluster_task task = {0};
    return pi_cluster_send_task_to_cl(&cluster, pi_cluster_task(&task, entry, argument));
}

void match_gap9_stop(void)
{
    if (cluster_users > 0) {
        cluster_users--;
        if (cluster_users == 0) {
            (void)pi_cluster_close(&cluster);
        }
    }
}

void match_gap9_copy_wait(void)
{
    for (uint32_t i = 0u; i < copies_in_flight; i++) {
        pi_cl_dma_cmd_wait(&copies[i]);
    }
    copies_in_flight = 0u;
}

static pi_cl_dma_cmd_t *next_copy(void)
{
    if (copies_in_flight == COPY_SLOTS) {
        match_gap9_copy_wait();
    }
    return &copies[copies_in_flight++];
}

/* The hardware addresses 32 bits; the casts are exact there. */
static uint32_t address(const void *pointer)
{
    return (uint32_t)(uintptr_t)pointer;
}

static void copy_1d(uint32_t far, uint32_t near, uint32_t bytes, pi_cl_dma_dir_e direction)
{
    while (bytes > 0u) {
        const uint32_t part = (bytes < COPY_MAX_BYTES) ? bytes : COPY_MAX_BYTES & ~7u;
        pi_cl_dma_cmd(far, near, part, direction, next_copy());
        far += part;
        near += part;
        bytes -= part;
    }
}

static void copy_2d(uint32_t far, uint32_t near, uint32_t rows, uint32_t row_bytes, uint32_t row_stride,
                    pi_cl_dma_dir_e direction)
{
    if ((row_bytes == row_stride) || (rows == 1u)) {
        copy_1d(far, near, rows * row_bytes, direction);
        return;
    }
    if (row_bytes > COPY_MAX_BYTES) {
        for (uint32_t row = 0u; row < rows; row++) {
            copy_1d(far + row * row_stride, near + row * row_bytes, row_bytes, direction);
        }
        return;
    }
    while (rows > 0u) {
        const uint32_t fit = COPY_MAX_BYTES / row_bytes;
        const uint32_t part = (rows < fit) ? rows : fit;
        pi_cl_dma_cmd_2d(far, near, part * row_bytes, row_stride, row_bytes, direction, next_copy());
        far += part * row_stride;
        near += part * row_bytes;
        rows -= part;
    }
}

static void copy_3d(uint32_t far, uint32_t near, uint32_t planes, uint32_t rows, uint32_t row_bytes,
                    uint32_t row_stride, uint32_t plane_stride, pi_cl_dma_dir_e direction)
{
    for (uint32_t plane = 0u; plane < planes; plane++) {
        copy_2d(far + plane * plane_stride, near + plane * rows * row_bytes, rows, row_bytes, row_stride, direction);
    }
}

void match_gap9_copy_in_1d(void *near, const void *far, uint32_t bytes)
{
    copy_1d(address(far), address(near), bytes, PI_CL_DMA_DIR_EXT2LOC);
}

void match_gap9_copy_in_2d(void *near, const void *far, uint32_t rows, uint32_t row_bytes, uint32_t row_stride)
{
    copy_2d(address(far), address(near), rows, row_bytes, row_stride, PI_CL_DMA_DIR_EXT2LOC);
}

void match_gap9_copy_in_3d(void *near, const void *far, uint32_t planes, uint32_t rows, uint32_t row_bytes,
                           uint32_t row_stride, uint32_t plane_stride)
{
    copy_3d(address(far), address(near), planes, rows, row_bytes, row_stride, plane_stride, PI_CL_DMA_DIR_EXT2LOC);
}

void match_gap9_copy_out_1d(void *far, const void *near, uint32_t bytes)
{
    copy_1d(address(far), address(near), bytes, PI_CL_DMA_DIR_LOC2EXT);
}

void match_gap9_copy_out_2d(void *far, const void *near, uint32_t rows, uint32_t row_bytes, uint32_t row_stride)
{
    copy_2d(address(far), address(near), rows, row_bytes, row_stride, PI_CL_DMA_DIR_LOC2EXT);
}

void match_gap9_copy_out_3d(void *far, const void *near, uint32_t planes, uint32_t rows, uint32_t row_bytes,
                            uint32_t row_stride, uint32_t plane_stride)
{
    copy_3d(address(far), address(near), planes, rows, row_bytes, row_stride, plane_stride, PI_CL_DMA_DIR_LOC2EXT);
}
