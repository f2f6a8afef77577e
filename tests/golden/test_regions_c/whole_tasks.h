/* SPDX-License-Identifier: Apache-2.0 */
/* whole: internal names, not for the application. An argument is a const match_task_t *. */
#ifndef WHOLE_TASKS_H
#define WHOLE_TASKS_H

#include <stdint.h>
#include "whole.h"
#include "whole_port.h"
#include "match_region.h"
#include "match_runtime.h"

/* Argument of a task that runs a region, and whether that failed. */
typedef struct {
    match_task_t task; /* the first member: the argument of other tasks */
    void *handle;      /* from load */
    int status;        /* 0: the outputs are written */
} whole_region_task_t;

/* All regions, when a state is initialised and when it is stopped; load returns 0 on success, else none is loaded. */
int whole_load_regions(whole_state_t *state);
void whole_unload_regions(whole_state_t *state);

/* Functions of the units that take regions, or of the regions' own code. */
int engine_load_json(const match_region_t *region, void **handle);
int engine_run(void *handle, const void *const *in, void *const *out, void *scratch);
void engine_unload(void *handle);

WHOLE_ENGINE_CODE_SECTION void whole_engine_00(void *argument);
WHOLE_HOST_CODE_SECTION void whole_host_01(const void *input, void *output);
WHOLE_ENGINE_CODE_SECTION void whole_engine_02(void *argument);

extern const float whole_00_0[24];
extern const float whole_02_0[1];

#endif
