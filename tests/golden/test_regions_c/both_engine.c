/* SPDX-License-Identifier: Apache-2.0 */
/* both: regions on unit engine, in place on ram. */
#include <stdint.h>
#include "engine.h"
#include "match_runtime.h"
#include "both_tasks.h"

/* Add_0, Neg_6, Mul_1, Relu_2 on engine (engine_region)
 * N=72; 19 cycles (modelled) */
void both_engine_00(void *argument)
{
    both_region_task_t *const region = argument;
    region->status = engine_run(region->handle, region->task.in, region->task.out, region->task.scratch);
}

/* Sub_4, Mul_5, Add_7 on engine (engine_region)
 * N=48; 16 cycles (modelled) */
void both_engine_02(void *argument)
{
    both_region_task_t *const region = argument;
    region->status = engine_run(region->handle, region->task.in, region->task.out, region->task.scratch);
}

/* The tasks of engine, in order. */
static const match_row_t rows[] = {
    /* 0: Add_0, Neg_6, Mul_1, Relu_2 */
    {.run = both_engine_00, .node = 0u,
     .in = (const match_place_t[]){{both_base_in_x, 0u}, {both_base_in_y, 0u}}, .inputs = 2u,
     .scratch = {both_base_ram, 288u},
     .out = (const match_place_t[]){{both_base_out_early, 0u}, {both_base_ram, 0u}, {both_base_ram, 96u}}, .outputs = 3u},
    /* 2: Sub_4, Mul_5, Add_7 */
    {.run = both_engine_02, .node = 2u,
     .in = (const match_place_t[]){{both_base_ram, 192u}, {both_base_out_early, 0u}, {both_base_ram, 0u}}, .inputs = 3u,
     .scratch = {both_base_ram, 288u},
     .out = (const match_place_t[]){{both_base_out_late, 0u}, {both_base_out_other, 0u}}, .outputs = 2u},
};

/* By task: the number of its region plus 1, 0 for other tasks. */
static const uint32_t region_of[] = {
    1u, 2u,
};

/* Runs a task with the addresses of this run. */
BOTH_ENGINE_CODE_SECTION
static void run_task(both_state_t *state, uint32_t n)
{
    const match_row_t *const row = &rows[n];
    const void *in[3];
    void *out[3];
    for (uint32_t i = 0u; i < row->inputs; i++) {
        in[i] = match_at(state->base, row->in[i]);
    }
    for (uint32_t i = 0u; i < row->outputs; i++) {
        out[i] = match_at(state->base, row->out[i]);
    }
    const uint32_t region = region_of[n];
    both_region_task_t task = {.task = {
        .near = match_at(state->base, row->near),
        .in = in,
        .out = out,
        .scratch = match_at(state->base, row->scratch),
    }};
    if (region > 0u) {
        task.handle = (void *)(uintptr_t)state->region_handle[region - 1u];
    }
    MATCH_NODE_BEGIN(row->node);
    row->run(&task);
    MATCH_NODE_END(row->node);
    if (region > 0u) {
        state->region_result[region - 1u].failed = (task.status != 0) ? 1u : 0u;
    }
}

/* The unit's part of a run: waits until the host has posted a task, then runs it. */
void both_engine_loop(void *argument)
{
    both_state_t *const state = argument;
    match_queue_t *const queue = &state->queue[both_queue_engine];
    for (uint32_t n = 0u; n < 2u; n++) {
        if (match_spin(queue, n + 1u) != 0) {
            return;
        }
        run_task(state, n);
        match_store(&queue->done, n + 1u);
    }
}
