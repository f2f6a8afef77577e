/* SPDX-License-Identifier: Apache-2.0 */
/* ${name}: inner names, not for the application. An argument is a const match_task_t *. */
#ifndef ${guard}_TASKS_H
#define ${guard}_TASKS_H

#include <stdint.h>
% if queues:
#include "${name}.h"
% endif
#include "${name}_port.h"
% if queues:

/* Queues, and the addresses of a run. */
enum {
% for queue in queues:
    ${name}_queue_${queue.field},
% endfor
    ${name}_queues
};
enum {
% for base in bases:
    ${name}_base_${base},
% endfor
    ${name}_bases
};

% for queue in queues:
% if queue.kind == "unit":
${code_sections[queue.name]} void ${name}_${queue.field}_loop(void *state);
% elif queue.kind == "host":
${code_sections[queue.name]} void ${name}_${queue.field}_run(const ${name}_state_t *state, uint32_t n);
% endif
% endfor
% endif

% for task in tasks:
${task.section} void ${task.function}(${task.parameters});
% endfor

% for constant in constants:
extern const ${constant.ctype} ${constant.name}[${constant.length}];
% endfor

#endif
