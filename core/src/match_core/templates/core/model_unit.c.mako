/* SPDX-License-Identifier: Apache-2.0 */
/* ${name}: layers on unit ${unit}, one function each: loops over tiles, copies, kernel launch and wait. */
#include <stdint.h>
% for header in headers:
#include "${header}"
% endfor
#include "match_runtime.h"
#include "${name}_tasks.h"

% for task in tasks:
/* ${task.title}
 * ${task.detail} */
void ${task.function}(void *argument)
{
    const match_task_t *const task = argument;
    uint8_t *const near = task->near;
% for line in task.pointers:
    ${line}
% endfor
${task.body}
}

% endfor
