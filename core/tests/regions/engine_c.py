"""The C of the engine: its header, the runtime that runs its programs, and its twin."""

from __future__ import annotations

HEADER = """
#ifndef ENGINE_H
#define ENGINE_H
#include <stdint.h>
#include "match_region.h"
int engine_start(void);
void engine_stop(void);
int engine_call(void (*entry)(void *), void *argument);
int engine_launch(void (*loop)(void *), void *argument);
int engine_join(void);
int engine_open(const match_region_t *region, const int32_t *steps, uint32_t numbers, void **handle);
int engine_load_json(const match_region_t *region, void **handle);
int engine_load_binary(const match_region_t *region, void **handle);
int engine_run(void *handle, const void *const *in, void *const *out, void *scratch);
int engine_begin(void *handle, const void *const *in, void *const *out, void *scratch);
int engine_done(void);
void engine_unload(void *handle);
/* For tests: how often each was called, and which call fails (counted from 1). */
extern uint32_t engine_loads, engine_unloads, engine_runs, engine_failing_load, engine_failing_run;
#endif
"""

SOURCE = r"""
#include "engine.h"
#include <stdlib.h>
#include <string.h>

typedef struct {
    const match_region_t *region;
    uint32_t numbers;
    int32_t steps[];
} engine_t;

uint32_t engine_loads, engine_unloads, engine_runs, engine_failing_load, engine_failing_run;

int engine_open(const match_region_t *region, const int32_t *steps, uint32_t numbers, void **handle)
{
    engine_loads++;
    if (engine_loads == engine_failing_load) {
        return 1;
    }
    engine_t *const engine = malloc(sizeof(engine_t) + numbers * sizeof(int32_t));
    if (engine == NULL) {
        return 1;
    }
    engine->region = region;
    engine->numbers = numbers;
    memcpy(engine->steps, steps, numbers * sizeof(int32_t));
    *handle = engine;
    return 0;
}

int engine_load_binary(const match_region_t *region, void **handle)
{
    const uint32_t numbers = region->code_bytes / 4u;
    int32_t *const steps = malloc(region->code_bytes + 4u);
    if (steps == NULL) {
        return 1;
    }
    memcpy(steps, region->code, region->code_bytes);
    const int status = engine_open(region, steps, numbers, handle);
    free(steps);
    return status;
}

int engine_load_json(const match_region_t *region, void **handle)
{
    char *const text = malloc(region->code_bytes + 1u);
    int32_t *const steps = malloc((region->code_bytes + 1u) * sizeof(int32_t));
    int status = 1;
    if ((text != NULL) && (steps != NULL)) {
        uint32_t numbers = 0u;
        memcpy(text, region->code, region->code_bytes);
        text[region->code_bytes] = '\0';
        for (char *at = text + 1; *at != ']'; at += (*at == ',') ? 1 : 0) {
            steps[numbers++] = (int32_t)strtol(at, &at, 10);
        }
        status = engine_open(region, steps, numbers, handle);
    }
    free(text);
    free(steps);
    return status;
}

int engine_run(void *handle, const void *const *in, void *const *out, void *scratch)
{
    const engine_t *const engine = handle;
    engine_runs++;
    if (engine_runs == engine_failing_run) {
        return 1;
    }
    for (uint32_t n = 0u; n < engine->numbers; n += 10u) {
        const int32_t *const step = &engine->steps[n];
        const float *read[2];
        for (int operand = 0; operand < 2; operand++) {
            const int32_t slot = step[1 + 3 * operand], place = step[2 + 3 * operand];
            const int32_t count = step[3 + 3 * operand];
            read[operand] = (count == 0)  ? NULL
                            : (slot == 0) ? in[place]
                            : (slot == 1) ? engine->region->constants[place].data
                            : (slot == 2) ? out[place]
                                          : (const float *)scratch + place;
        }
        float *const made = (step[7] == 2) ? out[step[8]] : (float *)scratch + step[8];
        for (int32_t i = 0; i < step[9]; i++) {
            const float a = read[0][(step[3] == 1) ? 0 : i];
            const float b = (read[1] != NULL) ? read[1][(step[6] == 1) ? 0 : i] : 0.0f;
            switch (step[0]) {
            case 1: made[i] = a + b; break;
            case 2: made[i] = a - b; break;
            case 3: made[i] = a * b; break;
            case 4: made[i] = (a > 0.0f) ? a : 0.0f; break;
            default: made[i] = -a; break;
            }
        }
    }
    return 0;
}

void engine_unload(void *handle)
{
    engine_unloads++;
    free(handle);
}
"""

TWIN = r"""
#include "engine.h"
#include "match_twin.h"
#include "match_twin_context.h"
#include <string.h>

static uint32_t context;

int engine_start(void) { return 0; }
void engine_stop(void) {}
int engine_call(void (*entry)(void *), void *argument)
{
    entry(argument);
    return 0;
}
int engine_launch(void (*loop)(void *), void *argument)
{
    context = match_twin_start("engine", 1u, loop, argument);
    return 0;
}
int engine_join(void) { return match_twin_join_bounded(context); }

static struct {
    void *handle, *out[8], *scratch;
    const void *in[8];
    int status;
    uint32_t busy;
} job;

static void work(void *argument)
{
    (void)argument;
    const match_region_t *const region = *(const match_region_t *const *)job.handle;
    uint32_t elements = 0u;
    for (uint32_t n = 0u; n < region->outputs_count; n++) {
        uint32_t count = 1u;
        for (uint32_t axis = 0u; axis < region->outputs[n].rank; axis++) {
            count *= region->outputs[n].dims[axis];
        }
        elements += count;
    }
    match_twin_spend(1u, 10u + (elements + 7u) / 8u); /* as the cost model says */
    job.status = engine_run(job.handle, job.in, job.out, job.scratch);
}
int engine_begin(void *handle, const void *const *in, void *const *out, void *scratch)
{
    if (job.busy != 0u) {
        return 1;
    }
    const match_region_t *const region = *(const match_region_t *const *)handle;
    job.handle = handle;
    job.scratch = scratch;
    memcpy(job.in, in, region->inputs_count * sizeof *in);
    memcpy(job.out, out, region->outputs_count * sizeof *out);
    job.busy = 1u;
    context = match_twin_start_region("engine", 1u, work, NULL);
    return 0;
}
int engine_done(void)
{
    if (!match_twin_ended(context)) {
        return 0;
    }
    match_twin_join(context);
    job.busy = 0u;
    return (job.status == 0) ? 1 : -1;
}
int match_port_wait(void) { return match_twin_relax_bounded(); }
"""
