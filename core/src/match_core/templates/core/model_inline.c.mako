/* SPDX-License-Identifier: Apache-2.0 */
/* ${name}: kernels of unit ${unit}, one function per node, in place on ${home}. */
#include <stdint.h>
% for include in includes:
#include <${include}>
% endfor
% for header in headers:
#include "${header}"
% endfor
#include "match_runtime.h"
% if table:
#include "${name}_port.h"
% endif
#include "${name}_tasks.h"

% for helper in helpers:
${helper}
% endfor
% for task in tasks:
${task.heading}
${task.definition}
void ${task.function}(void *argument)
{
    const match_task_t *const task = argument;
    ${task.kernel}(${task.arguments});
}

% endfor
% if table:
${table}
% endif
