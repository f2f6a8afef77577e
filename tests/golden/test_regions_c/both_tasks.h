/* SPDX-License-Identifier: Apache-2.0 */
/* both: internal names, not for the application. An argument is a const match_task_t *. */
#ifndef BOTH_TASKS_H
#define BOTH_TASKS_H

#include <stdint.h>
#include "both.h"
#include "both_port.h"
#include "match_region.h"
#include "match_runtime.h"

/* Queues, and the addresses of a run. */
enum {
    both_queue_host,
    both_queue_engine,
    both_queues
};
enum {
    both_base_none,
    both_base_ram,
    both_base_in_x,
    both_base_in_y,
    both_base_out_early,
    both_base_out_late,
    both_base_out_other,
    both_bases
};

BOTH_HOST_CODE_SECTION void both_host_run(const both_state_t *state, uint32_t n);
BOTH_ENGINE_CODE_SECTION void both_engine_loop(void *state);

/* Argument of a task that runs a region, and whether that failed. */
typedef struct {
    match_task_t task; /* the first member: the argument of other tasks */
    void *handle;      /* from load */
    int status;        /* 0: the outputs are written */
} both_region_task_t;

/* All regions, when a state is initialised and when it is stopped; load returns 0 on success, else none is loaded. */
int both_load_regions(both_state_t *state);
void both_unload_regions(both_state_t *state);

/* Functions of the units that take regions, or of the regions' own code. */
int engine_load_json(const match_region_t *region, void **handle);
int engine_run(void *handle, const void *const *in, void *const *out, void *scratch);
void engine_unload(void *handle);

BOTH_ENGINE_CODE_SECTION void both_engine_00(void *argument);
BOTH_HOST_CODE_SECTION void both_host_01(void *argument);
BOTH_ENGINE_CODE_SECTION void both_engine_02(void *argument);

extern const float both_00_0[24];
extern const float both_02_0[1];

#endif
