<%
    import re

    from match_core.lower.text import broken

    code = [*helpers, *(task.definition for task in tasks)]
    floats = any(re.search(r"\b(float|double)\b", text) for text in code)
%>\
/* SPDX-License-Identifier: Apache-2.0 */
% if any(task.region is None for task in tasks):
/* ${name}: kernels of unit ${unit}, in place on ${home}; tasks with the same computation share a kernel. */
% elif tasks:
/* ${name}: regions on unit ${unit}, in place on ${home}. */
% else:
/* ${name}: ${unit} hands tasks to units that have no loop of their own. */
% endif
% if floats:
#include "match_float.h"
% endif
#include <stdint.h>
% for include in includes:
#include <${include}>
% endfor
% for header in headers:
#include "${header}"
% endfor
#include "match_runtime.h"
#include "${name}_tasks.h"

% for helper in helpers:
${helper}
% endfor
% for task in tasks:
% if task.region is not None:
${task.definition}
% else:
${task.heading}
% if task.definition:
${task.definition}
% endif
void ${task.function}(${task.parameters})
{
% if task.parameters == "void *argument":
    const match_task_t *const task = argument;
% endif
${"\n".join(broken(f"{task.kernel}({task.arguments});", 4))}
}

% endif
% endfor
% if queue is not None:
<%include file="task_table.c.mako"/>
% endif
