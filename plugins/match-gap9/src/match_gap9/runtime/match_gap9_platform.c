/* match_gap9_platform.c - cluster power, offload and copies through PMSIS.
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_gap9_api.h"
#include "match_gap9_cores.h"

#include <stddef.h>

/* A port that measures defines it. */
#ifndef MATCH_GAP9_CHARGE_TEAM_LEAD
#define MATCH_GAP9_CHARGE_TEAM_LEAD() ((void)0)
#endif

/* Bytes of L1 for the stack of the controller, and of each worker. Side by side core 0 of the workers used 1,012 bytes on
 * GVSoC, of a default of 1,024. */
#ifndef MATCH_GAP9_CONTROLLER_STACK_BYTES
#define MATCH_GAP9_CONTROLLER_STACK_BYTES 2048u
#endif
#ifndef MATCH_GAP9_WORKER_STACK_BYTES
#define MATCH_GAP9_WORKER_STACK_BYTES 1280u
#endif

/* MCHAN takes 17 bits of length per command, the copy structure of PMSIS 16. */
#define COPY_MAX_BYTES 65535u
/* MCHAN has 16 transfer ids; some stay free for the application. Two cores that copy share them. */
#define COPY_SLOTS 12u
#define SHARED_COPY_SLOTS 7u

static struct pi_device cluster;
static int cluster_users;
static struct {
    void (*entry)(void *);
    void *argument;
} layer;
/* What the cluster's cores touch for every tile lies in L1: a load from L2 takes about 15 cycles. L1 holds no initial
 * values while the cluster is off, so that `clear` runs first.
 * Core 0 writes entry and argument before a barrier, the others read them behind it. */
PI_L1 static struct {
    int led;
    void (*entry)(void *);
    void *argument;
} team;
/* The copies of a core that issues them: the controller, and core 0 where it leads the workers. */
typedef struct {
    pi_cl_dma_copy_t copies[COPY_SLOTS]; /* the first in_flight of them are not waited for */
    uint32_t in_flight;
} copier_t;
PI_L1 static copier_t copiers[2];

/* On the cluster controller, once after the cluster came on. */
static void clear(void *argument)
{
    (void)argument;
    team.led = 0;
    copiers[0].in_flight = 0u;
    copiers[1].in_flight = 0u;
}

int match_gap9_start(void)
{
    if (cluster_users == 0) {
        struct pi_cluster_conf conf;
        pi_cluster_conf_init(&conf);
        pi_open_from_conf(&cluster, &conf);
        if (pi_cluster_open(&cluster) != 0) {
            return -1;
        }
        if (match_gap9_call(clear, NULL) != 0) {
            (void)pi_cluster_close(&cluster);
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

/* A task with stacks of its own size: those of the SDK are too small where core 0 serves a loop. */
static struct pi_cluster_task *sized(struct pi_cluster_task *task)
{
    task->stack_size = MATCH_GAP9_CONTROLLER_STACK_BYTES;
    task->slave_stack_size = MATCH_GAP9_WORKER_STACK_BYTES;
    return task;
}

#ifdef MATCH_GAP9_CALL_LOOKS
#include "match_runtime.h"

/* The fabric controller looks at the end of the task instead of sleeping, so many times at most. */
static volatile uint32_t layer_has_ended;

static void run_and_tell(void *argument)
{
    run_layer(argument);
    layer_has_ended = 1u;
}

int match_gap9_call(void (*entry)(void *), void *argument)
{
    static struct pi_cluster_task task;
    static pi_task_t end;
    static int hangs;
    if (hangs != 0) {
        return -1;
    }
    layer.entry = entry;
    layer.argument = argument;
    layer_has_ended = 0u;
    if (match_gap9_send(&task, run_and_tell, pi_task_block(&end)) != 0) {
        return -1;
    }
    for (uint32_t looks = 0u; layer_has_ended == 0u; looks++) {
        if (looks == MATCH_GAP9_CALL_LOOKS) {
            hangs = 1; /* the task may still use what it was given: the cluster takes no more of them */
            return -1;
        }
        MATCH_YIELD();
    }
    pi_task_wait_on(&end);
    return 0;
}
#else
int match_gap9_call(void (*entry)(void *), void *argument)
{
    struct pi_cluster_task task = {0};
    layer.entry = entry;
    layer.argument = argument;
    return pi_cluster_send_task_to_cl(&cluster, sized(pi_cluster_task(&task, run_layer, NULL)));
}
#endif

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
    return pi_cluster_send_task_to_cl_async(&cluster, sized(pi_cluster_task(task, entry, NULL)), end);
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

/* A copy that is being issued, command by command. */
typedef struct {
    pi_cl_dma_copy_t *command; /* the last one; NULL before the first */
    uint32_t far, near;        /* addresses of the next one */
    pi_cl_dma_dir_e direction;
} copy_t;

/* The next command. Where one core copies, commands after a copy's first share its transfer id, so that a copy of many
 * commands is one to wait for. A shared id is the last one that the DMA's port gave to any core: where two cores copy,
 * each command has its own. */
static pi_cl_dma_copy_t *next(copy_t *copy)
{
    if ((copy->command == NULL) || (team.led != 0)) {
        copier_t *const copier = mine();
        if (copier->in_flight == ((team.led != 0) ? SHARED_COPY_SLOTS : COPY_SLOTS)) {
            match_gap9_copy_wait();
        }
        copy->command = &copier->copies[copier->in_flight];
        copier->in_flight++;
        copy->command->dir = copy->direction;
        copy->command->merge = 0u;
    } else {
        copy->command->merge = 1u;
    }
    copy->command->ext = copy->far;
    copy->command->loc = copy->near;
    return copy->command;
}

/* Issues commands for `bytes` and moves the addresses on. */
static void push_dense(copy_t *copy, uint32_t bytes)
{
    while (bytes > 0u) {
        const uint32_t part = (bytes <= COPY_MAX_BYTES) ? bytes : COPY_MAX_BYTES & ~7u;
        pi_cl_dma_copy_t *const command = next(copy);
        command->size = (uint16_t)part;
        pi_cl_dma_memcpy(command);
        copy->far += part;
        copy->near += part;
        bytes -= part;
    }
}

static void push_rows(copy_t *copy, uint32_t rows, uint32_t row_bytes, uint32_t row_stride)
{
    const uint32_t fit = (rows * row_bytes <= COPY_MAX_BYTES) ? rows : COPY_MAX_BYTES / row_bytes;
    while (rows > 0u) {
        const uint32_t part = (rows < fit) ? rows : fit;
        pi_cl_dma_copy_t *const command = next(copy);
        command->stride = row_stride;
        command->length = row_bytes;
        command->size = (uint16_t)(part * row_bytes);
        pi_cl_dma_memcpy_2d(command);
        copy->far += part * row_stride;
        copy->near += part * row_bytes;
        rows -= part;
    }
}

static void push_2d(copy_t *copy, uint32_t rows, uint32_t row_bytes, uint32_t row_stride)
{
    const uint32_t far = copy->far;
    if ((row_bytes == row_stride) || (rows == 1u)) {
        push_dense(copy, rows * row_bytes);
    } else if (row_bytes > COPY_MAX_BYTES) {
        for (uint32_t row = 0u; row < rows; row++) {
            copy->far = far + row * row_stride;
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
    copy_t copy = {.command = NULL, .far = address(far), .near = address(near), .direction = direction};
    if ((row_bytes == row_stride) || (rows == 1u)) {
        push_2d(&copy, planes, rows * row_bytes, plane_stride);
        return;
    }
    for (uint32_t plane = 0u; plane < planes; plane++) {
        copy.far = address(far) + plane * plane_stride;
        push_2d(&copy, rows, row_bytes, row_stride);
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
