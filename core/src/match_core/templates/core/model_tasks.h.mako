/* SPDX-License-Identifier: Apache-2.0 */
/* ${name}: inner names, not for the application. Each task takes a const match_task_t *. */
#ifndef ${guard}_TASKS_H
#define ${guard}_TASKS_H

#include <stdint.h>

% for function in functions:
void ${function}(void *argument);
% endfor

% for constant in constants:
extern const ${constant.ctype} ${constant.name}[${constant.length}];
% endfor

#endif
