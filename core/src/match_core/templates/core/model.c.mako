<%
    from match_core.lower.text import comment

    words = "the order of tasks"
    summary = comment(f"{name}: {words}. {len(tasks)} tasks on {', '.join(units)}; {cycles} cycles (modelled).")
%>\
/* SPDX-License-Identifier: Apache-2.0 */
${summary}
#include "${name}.h"

#include <stddef.h>
% for header in headers:
#include "${header}"
% endfor
#include "match_runtime.h"
#include "${name}_port.h"
#include "${name}_tasks.h"

<%include file="model_init.c.mako"/>
int ${name}_start(const ${name}_t *ctx, const ${name}_inputs_t *inputs, const ${name}_outputs_t *outputs)
{
    const int status = startable(ctx, inputs, outputs);
    if (status == ${guard}_OK) {
        ${name}_state_t *const state = ctx->state;
        state->inputs = *inputs;
        state->outputs = *outputs;
        state->next = 0u;
        state->cancelled = 0u;
        state->status = ${guard}_BUSY;
    }
    return status;
}

/* Runs the next task. */
int ${name}_poll(const ${name}_t *ctx)
{
    const int status = initialised(ctx);
    if (status != ${guard}_OK) {
        return status;
    }
    ${name}_state_t *const state = ctx->state;
% if uses_home:
    uint8_t *const ${home} = ctx->${home};
% endif
    if (state->status != ${guard}_BUSY) {
        return state->status;
    }
    if (state->cancelled != 0u) {
% if swap_wait:
        ${swap_wait}(0u);
% endif
        state->status = ${guard}_CANCELLED;
        return ${guard}_CANCELLED;
    }
    switch (state->next++) {
% for number, task in enumerate(tasks):

${task.note}
% if task.step.direct:
    case ${number}u:
% for line in task.step.before:
        ${line}
% endfor
        MATCH_NODE_BEGIN(${task.index}u);
        ${task.function}(${task.step.direct});
        MATCH_NODE_END(${task.index}u);
        break;
% else:
    case ${number}u: {
        const void *const in[] = {${task.step.inputs}};
        void *const out[] = {${task.step.outputs}};
% if task.step.private_near:
        uint8_t *const private_near[] = {${task.step.private_near}};
% endif
% if task.step.handle:
        ${name}_region_task_t task = {
            .task = {${task.step.fields}},
            .handle = ${task.step.handle},
        };
% else:
        match_task_t task = {${task.step.fields}};
% endif
% for line in task.step.before:
        ${line}
% endfor
        MATCH_NODE_BEGIN(${task.index}u);
% if task.step.call:
        if (${task.step.call}(${task.function}, &task) != 0) {
            state->status = ${guard}_ERROR_UNIT;
        }
% else:
        ${task.function}(&task);
% endif
        MATCH_NODE_END(${task.index}u);
% if task.step.handle:
        if (task.status != 0) {
            state->status = ${guard}_ERROR_UNIT;
        }
% endif
        break;
    }
% endif
% endfor

    default:
        break;
    }
% if tasks:
    if ((state->next >= ${len(tasks)}u) && (state->status == ${guard}_BUSY)) {
        state->status = ${guard}_OK;
    }
% else:
    state->status = ${guard}_OK;
% endif
    return state->status;
}

int ${name}_wait(const ${name}_t *ctx)
{
    int status = ${name}_poll(ctx);
    while (status == ${guard}_BUSY) {
        MATCH_YIELD();
        status = ${name}_poll(ctx);
    }
    return status;
}
