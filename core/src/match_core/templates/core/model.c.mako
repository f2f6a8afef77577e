/* SPDX-License-Identifier: Apache-2.0 */
/* ${name}: the order of tasks. ${summary} */
#include "${name}.h"

#include <stddef.h>
% for header in headers:
#include "${header}"
% endfor
#include "match_runtime.h"
#include "${name}_port.h"
#include "${name}_tasks.h"

int ${name}_init(const ${name}_t *ctx)
{
% for arena in arenas:
    if ((ctx->${arena.field} == NULL) || (((uintptr_t)ctx->${arena.field} % ${guard}_${arena.macro}_ALIGN) != 0u)) {
        return ${guard}_ERROR_ARENA;
    }
% endfor
% for store in stores:
    if ((ctx->${store.field} % ${guard}_${store.macro}_ALIGN) != 0u) {
        return ${guard}_ERROR_ARENA;
    }
% endfor
% if not arenas and not stores:
    (void)ctx;
% endif
% for start in starts:
    if (${start}() != 0) {
        return ${guard}_ERROR_UNIT;
    }
% endfor
    return ${guard}_OK;
}

int ${name}_run(const ${name}_t *ctx, const ${name}_inputs_t *inputs, const ${name}_outputs_t *outputs)
{
% if uses_home:
    uint8_t *const ${home} = ctx->${home};
% elif not arenas:
    (void)ctx;
% endif
% if not inputs:
    (void)inputs;
% endif
% for task in tasks:

${task.note}
    {
        const void *const in[] = {${task.inputs}};
        void *const out[] = {${task.outputs}};
% if task.private_near:
        uint8_t *const private_near[] = {${task.private_near}};
% endif
        match_task_t task = {${task.fields}};
        MATCH_NODE_BEGIN(${task.index}u);
% if task.call:
        if (${task.call}(${task.function}, &task) != 0) {
            return ${guard}_ERROR_UNIT;
        }
% else:
        ${task.function}(&task);
% endif
        MATCH_NODE_END(${task.index}u);
    }
% endfor
    return ${guard}_OK;
}

void ${name}_stop(const ${name}_t *ctx)
{
    (void)ctx;
% for stop in stops:
    ${stop}();
% endfor
}
