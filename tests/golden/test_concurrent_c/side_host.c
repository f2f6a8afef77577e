/* SPDX-License-Identifier: Apache-2.0 */
/* side: kernels of unit host, in place on home; tasks with the same computation share a kernel. */
#include <stdint.h>
#include "match_runtime.h"
#include "side_tasks.h"

/* n0 on host (invert)
 * N=324; 0 cycles (modelled) */
SIDE_HOST_CODE_SECTION
static void side_host_00_kernel(const uint8_t *restrict in, uint8_t *restrict out)
{
    for (uint32_t i = 0u; i < 324u; i++) {
        out[i] = (uint8_t)~in[i];
    }
}

void side_host_00(void *argument)
{
    const match_task_t *const task = argument;
    side_host_00_kernel(task->in[0], task->out[0]);
}

/* n4 on host (invert)
 * N=243; 0 cycles (modelled) */
SIDE_HOST_CODE_SECTION
static void side_host_06_kernel(const uint8_t *restrict in, uint8_t *restrict out)
{
    for (uint32_t i = 0u; i < 243u; i++) {
        out[i] = (uint8_t)~in[i];
    }
}

void side_host_06(void *argument)
{
    const match_task_t *const task = argument;
    side_host_06_kernel(task->in[0], task->out[0]);
}

/* The tasks of host, in order. */
static const match_row_t rows[] = {
    /* 0: n0 */
    {.run = side_host_00, .node = 0u,
     .in = (const match_place_t[]){{side_base_in_x, 0u}}, .inputs = 1u,
     .out = (const match_place_t[]){{side_base_home, 0u}}, .outputs = 1u},
    /* 6: n4 */
    {.run = side_host_06, .node = 6u,
     .in = (const match_place_t[]){{side_base_home, 3072u}}, .inputs = 1u,
     .out = (const match_place_t[]){{side_base_out_out, 0u}}, .outputs = 1u},
};

/* Runs a task with the addresses of this run. */
void side_host_run(const side_state_t *state, uint32_t n)
{
    const match_row_t *const row = &rows[n];
    const void *in[1];
    void *out[1];
    for (uint32_t i = 0u; i < row->inputs; i++) {
        in[i] = match_at(state->base, row->in[i]);
    }
    for (uint32_t i = 0u; i < row->outputs; i++) {
        out[i] = match_at(state->base, row->out[i]);
    }
    match_task_t task = {
        .near = match_at(state->base, row->near),
        .in = in,
        .out = out,
        .scratch = match_at(state->base, row->scratch),
        .store = state->store,
    };
    MATCH_NODE_BEGIN(row->node);
    row->run(&task);
    MATCH_NODE_END(row->node);
}
