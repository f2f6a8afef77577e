/* SPDX-License-Identifier: Apache-2.0 */
/* ${name}: internal names, not for the application. An argument is a const match_task_t *. */
#ifndef ${guard}_TASKS_H
#define ${guard}_TASKS_H

#include <stdint.h>
% if queues or regions:
#include "${name}.h"
% endif
#include "${name}_port.h"
% if regions:
#include "match_region.h"
#include "match_runtime.h"
% endif
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
% elif queue.kind in ("host", "started"):
${code_sections[queue.name]} void ${name}_${queue.field}_run(${"" if queue.changes_state else "const "}${name}_state_t *state, uint32_t n);
% endif
% if queue.done:
${code_sections[queue.name]} void ${name}_${queue.field}_end(${name}_state_t *state, uint32_t n, uint32_t failed);
% endif
% endfor
% endif

% if regions:
/* Argument of a task that runs a region, and whether that failed. */
typedef struct {
    match_task_t task; /* the first member: the argument of other tasks */
    void *handle;      /* from load */
    int status;        /* 0: the outputs are written */
} ${name}_region_task_t;

/* All regions, when a state is initialised and when it is stopped; load returns 0 on success, else none is loaded. */
int ${name}_load_regions(${name}_state_t *state);
void ${name}_unload_regions(${name}_state_t *state);

/* Functions of the units that take regions, or of the regions' own code. */
% for prototype in prototypes:
${prototype}
% endfor

% endif
% for task in tasks:
${task.section} void ${task.function}(${task.parameters});
% endfor

% for constant in constants:
extern const ${constant.ctype} ${constant.name}[${constant.length}];
% endfor

#endif
