/* match_gap9_platform.c - cluster power, offload and copies through PMSIS.
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_gap9_api.h"
#include "match_gap9_cores.h"

#include <stddef.h>

/* Cycle hook of the twin; nothing on silicon. */
#ifndef MATCH_GAP9_CHARGE_TEAM_LEAD
#define MATCH_GAP9_CHARGE_TEAM_LEAD() ((void)0)
#endif

/* MCHAN takes 17 bits of length per command, the copy structure of PMSIS 16. */
#define COPY_MAX_BYTES 65535u
/* MCHAN has 16 transfer ids; some stay free for the application. */
#define COPY_SLOTS 12u

static struct pi_device cluster;
static int cluster_users;
static struct {
    void (*entry)(void *);
    void *argument;
} layer;
/* Core 0 writes entry and argument before a barrier, the others read them behind it. */
static struct {
    int led;
    void (*entry)(void *);
    void *argument;
} team;
/* The copies of a core that issues them: the controller, and core 0 where it leads the workers. */
typedef struct {
    pi_cl_dma_copy_t copies[COPY_SLOTS]; /* the first in_flight of them are not waited for */
    uint32_t in_flight;
} copier_t;
static copier_t copiers[2];

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

/* On the cluster controller. The team's configuration does not outlive the task. */
static void run_layer(void *argument)
{
    (void)argument;
    pi_team_config_offload(NUM_CORES);
    layer.entry(layer.argument);
}

int match_gap9_call(void (*entry)(void *), void *argument)
{
    struct pi_cluster_task task = {0};
    layer.entry = entry;
    layer.argument = argument;
    return pi_cluster_send_task_to_cl(&cluster, pi_cluster_task(&task, run_layer, NULL));
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

int match_gap9_send(struct pi_cluster_task *task, void (*entry)(void *), pi_task_t *end)
{
    return pi_cluster_send_task_to_cl_async(&cluster, pi_cluster_task(task, entry, NULL), end);
}

/* ---- team ---------------------------------------------------------------------------------------------------- */

static void lead(void (*entry)(void *), void *argument)
{
    MATCH_GAP9_CHARGE_TEAM_LEAD();
    team.entry = entry;
    team.argument = argument;
    pi_cl_team_barrier(0);
    entry(argument);
    pi_cl_team_barrier(0); /* nobody reads the context any more */
}

/* Where core 0 leads, kernels are done when the launch returns. */
void match_gap9_team_launch(void (*entry)(void *), const void *argument)
{
    if (team.led != 0) {
        lead(entry, (void *)(uintptr_t)argument);
    } else {
        pi_team_offload_preset(entry, (void *)(uintptr_t)argument);
    }
}

void match_gap9_team_wait(void)
{
    pi_team_offload_wait();
}

void match_gap9_team_begin(void (*main)(void *))
{
    team.led = 1;
    pi_team_config_offload(NUM_CORES);
    pi_team_offload_preset(main, NULL);
}

void match_gap9_team_end(void)
{
    pi_team_offload_wait();
    team.led = 0;
}

int match_gap9_team_is_led(void)
{
    return team.led;
}

void match_gap9_team_follow(void)
{
    pi_cl_team_barrier(0);
    while (team.entry != NULL) {
        team.entry(team.argument);
        pi_cl_team_barrier(0);
        pi_cl_team_barrier(0); /* there is another one */
    }
}

void match_gap9_team_leave(void)
{
    team.entry = NULL;
    pi_cl_team_barrier(0);
}

/* ---- copies -------------------------------------------------------------------------------------------------- */

static copier_t *mine(void)
{
    return &copiers[(pi_core_id() < NUM_CORES) ? 0 : 1];
}

/* Latest first: copies of a direction end in order, so that the core sleeps once for all of them. */
void match_gap9_copy_wait(void)
{
    copier_t *const copier = mine();
    while (copier->in_flight > 0u) {
        copier->in_flight--;
        pi_cl_dma_wait(&copier->copies[copier->in_flight]);
    }
}

/* The hardware addresses 32 bits; the casts are exact there. */
static uint32_t address(const void *pointer)
{
    return (uint32_t)(uintptr_t)pointer;
}

static pi_cl_dma_copy_t *begin(const void *far, const void *near, pi_cl_dma_dir_e direction)
{
    copier_t *const copier = mine();
    if (copier->in_flight == COPY_SLOTS) {
        match_gap9_copy_wait();
    }
    pi_cl_dma_copy_t *const copy = &copier->copies[copier->in_flight];
    copier->in_flight++;
    copy->ext = address(far);
    copy->loc = address(near);
    copy->dir = direction;
    copy->merge = 0u;
    return copy;
}

/* Issues commands for `bytes` and moves the addresses on. Commands after a copy's first share its transfer id, so that
 * a copy of many commands is one to wait for. */
static void push_dense(pi_cl_dma_copy_t *copy, uint32_t bytes)
{
    while (bytes > 0u) {
        const uint32_t part = (bytes <= COPY_MAX_BYTES) ? bytes : COPY_MAX_BYTES & ~7u;
        copy->size = (uint16_t)part;
        pi_cl_dma_memcpy(copy);
        copy->merge = 1u;
        copy->ext += part;
        copy->loc += part;
        bytes -= part;
    }
}

static void push_rows(pi_cl_dma_copy_t *copy, uint32_t rows, uint32_t row_bytes, uint32_t row_stride)
{
    const uint32_t fit = COPY_MAX_BYTES / row_bytes;
    copy->stride = row_stride;
    copy->length = row_bytes;
    while (rows > 0u) {
        const uint32_t part = (rows < fit) ? rows : fit;
        copy->size = (uint16_t)(part * row_bytes);
        pi_cl_dma_memcpy_2d(copy);
        copy->merge = 1u;
        copy->ext += part * row_stride;
        copy->loc += part * row_bytes;
        rows -= part;
    }
}

static void push_2d(pi_cl_dma_copy_t *copy, uint32_t rows, uint32_t row_bytes, uint32_t row_stride)
{
    const uint32_t far = copy->ext;
    if ((row_bytes == row_stride) || (rows == 1u)) {
        push_dense(copy, rows * row_bytes);
    } else if (row_bytes > COPY_MAX_BYTES) {
        for (uint32_t row = 0u; row < rows; row++) {
            copy->ext = far + row * row_stride;
            push_dense(copy, row_bytes);
        }
    } else {
        push_rows(copy, rows, row_bytes, row_stride);
    }
}

static void copy_3d(const void *far, const void *near, pi_cl_dma_dir_e direction, uint32_t planes, uint32_t rows,
                    uint32_t row_bytes, uint32_t row_stride, uint32_t plane_stride)
{
    if ((planes == 0u) || (rows == 0u) || (row_bytes == 0u)) {
        return;
    }
    pi_cl_dma_copy_t *const copy = begin(far, near, direction);
    if ((row_bytes == row_stride) || (rows == 1u)) {
        push_2d(copy, planes, rows * row_bytes, plane_stride);
        return;
    }
    for (uint32_t plane = 0u; plane < planes; plane++) {
        copy->ext = address(far) + plane * plane_stride;
        push_2d(copy, rows, row_bytes, row_stride);
    }
}

void match_gap9_copy_in_1d(void *near, const void *far, uint32_t bytes)
{
    copy_3d(far, near, PI_CL_DMA_DIR_EXT2LOC, 1u, 1u, bytes, 0u, 0u);
}

void match_gap9_copy_in_2d(void *near, const void *far, uint32_t rows, uint32_t row_bytes, uint32_t row_stride)
{
    copy_3d(far, near, PI_CL_DMA_DIR_EXT2LOC, 1u, rows, row_bytes, row_stride, 0u);
}

void match_gap9_copy_in_3d(void *near, const void *far, uint32_t planes, uint32_t rows, uint32_t row_bytes,
                           uint32_t row_stride, uint32_t plane_stride)
{
    copy_3d(far, near, PI_CL_DMA_DIR_EXT2LOC, planes, rows, row_bytes, row_stride, plane_stride);
}

void match_gap9_copy_out_1d(void *far, const void *near, uint32_t bytes)
{
    copy_3d(far, near, PI_CL_DMA_DIR_LOC2EXT, 1u, 1u, bytes, 0u, 0u);
}

void match_gap9_copy_out_2d(void *far, const void *near, uint32_t rows, uint32_t row_bytes, uint32_t row_stride)
{
    copy_3d(far, near, PI_CL_DMA_DIR_LOC2EXT, 1u, rows, row_bytes, row_stride, 0u);
}

void match_gap9_copy_out_3d(void *far, const void *near, uint32_t planes, uint32_t rows, uint32_t row_bytes,
                            uint32_t row_stride, uint32_t plane_stride)
{
    copy_3d(far, near, PI_CL_DMA_DIR_LOC2EXT, planes, rows, row_bytes, row_stride, plane_stride);
}
