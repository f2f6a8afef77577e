/* match_gap9_ne16.c - NE16 with its own requantisation: 32-bit scale and bias per channel.
 *
 * A tile of stride 1 is one job: the controller writes its words and is free until the wait. With stride 2 a
 * worker core issues a job for each 2 by 2 outputs, so that the controller is free too; where the workers run a loop of
 * their own the controller does, and is busy until the last job has begun.
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_gap9_api.h"
#include "match_gap9_cores.h"
#include "match_gap9_ne16_job.h"
#include "match_gap9_ne16_stride2.h"
#include "ne16_pulp_bsp.h"
#include "pmsis.h"
#include "pulp_nnx_ne16.h"

/* Bus cycles that NE16 may hold the cores off; the value of the published driver's examples. */
#define MAX_STALL 8

/* The tile that match_gap9_ne16_wait waits for; in L1, where its words are written and read for every tile. */
PI_L1 static struct {
    ne16_task_t task;
    match_gap9_ne16_tile_t tile;
    int on_team;
} job;

static void open_device(void *argument)
{
    ne16_pulp_conf_t conf = {.max_stall = MAX_STALL};
    (void)argument;
    ne16_nnx_init(ne16_pulp_get_dev(), &conf);
}

static void close_device(void *argument)
{
    (void)argument;
    ne16_nnx_term(ne16_pulp_get_dev());
}

int match_gap9_ne16_start(void)
{
    int status = match_gap9_start();
    if (status == 0) {
        status = match_gap9_call(open_device, NULL);
        if (status != 0) {
            match_gap9_stop();
        }
    }
    return status;
}

void match_gap9_ne16_stop(void)
{
    (void)match_gap9_call(close_device, NULL);
    match_gap9_stop();
}

static void issue_stride2(void)
{
    const match_gap9_ne16_tile_t *const t = &job.tile;
    match_gap9_ne16_fill(&job.task, t);
    match_gap9_ne16_dispatch_stride2(&job.task, t->oy, t->ox);
}

static void stride2_core(void *argument)
{
    (void)argument;
    if (pi_core_id() == 0) {
        issue_stride2();
        ne16_nnx_resolve_wait(ne16_pulp_get_dev(), &job.task);
    }
}

static void start(void)
{
    job.on_team = (job.tile.stride == 2u) && (match_gap9_team_is_led() == 0);
    if (job.on_team != 0) {
        match_gap9_team_launch(stride2_core, NULL);
        return;
    }
    if (job.tile.stride == 2u) {
        issue_stride2();
        return;
    }
    match_gap9_ne16_fill(&job.task, &job.tile);
    ne16_nnx_dispatch_wait(ne16_pulp_get_dev());
    (void)ne16_nnx_dispatch(ne16_pulp_get_dev(), &job.task);
}

void match_gap9_ne16_conv3x3(const match_conv2d_t *tile)
{
    match_gap9_ne16_tile_3x3(&job.tile, tile, 0);
    start();
}

void match_gap9_ne16_conv1x1(const match_conv2d_t *tile)
{
    match_gap9_ne16_tile_1x1(&job.tile, tile, 0);
    start();
}

void match_gap9_ne16_depthwise(const match_depthwise2d_t *tile)
{
    match_gap9_ne16_tile_depthwise(&job.tile, tile, 0);
    start();
}

void match_gap9_ne16_linear(const match_linear_t *tile)
{
    match_gap9_ne16_tile_linear(&job.tile, tile, 0);
    start();
}

void match_gap9_ne16_wait(void)
{
    if (job.on_team != 0) {
        match_gap9_team_wait();
    } else {
        ne16_nnx_resolve_wait(ne16_pulp_get_dev(), &job.task);
    }
}
