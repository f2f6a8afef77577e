/* SPDX-License-Identifier: Apache-2.0 */
/* whole: regions on unit engine, in place on ram. */
#include <stdint.h>
#include "engine.h"
#include "match_runtime.h"
#include "whole_tasks.h"

/* Add_0, Neg_6, Mul_1, Relu_2 on engine (engine_region)
 * N=72; 19 cycles (modelled) */
void whole_engine_00(void *argument)
{
    whole_region_task_t *const region = argument;
    region->status = engine_run(region->handle, region->task.in, region->task.out, region->task.scratch);
}

/* Sub_4, Mul_5, Add_7 on engine (engine_region)
 * N=48; 16 cycles (modelled) */
void whole_engine_02(void *argument)
{
    whole_region_task_t *const region = argument;
    region->status = engine_run(region->handle, region->task.in, region->task.out, region->task.scratch);
}
