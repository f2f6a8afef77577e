/* SPDX-License-Identifier: Apache-2.0 */
/* ${name}: layers on unit ${unit}, one function each: steps over tiles, copies, kernel launch and wait. */
#include <stdint.h>
% for header in headers:
#include "${header}"
% endfor
#include "match_runtime.h"
#include "${name}_tasks.h"

% for task in tasks:
${task.definition}
% endfor
% if queue is not None:
<%include file="task_table.c.mako"/>
% endif
