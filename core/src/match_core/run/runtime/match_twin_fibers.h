/* match_twin_fibers.h - cores of a team as fibers of one context's thread: each runs until it yields or ends.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_TWIN_FIBERS_H
#define MATCH_TWIN_FIBERS_H

#include <stdbool.h>

typedef struct match_twin_fiber match_twin_fiber_t;

/* Makes a fiber ready to call entry(argument); an earlier one of the same place (NULL: none yet) is made anew, whether
 * it has ended or not. */
void match_twin_fiber_make(match_twin_fiber_t **place, void (*entry)(void *), void *argument);
/* Lets it run up to its next yield or its end; tells whether it goes on. */
bool match_twin_fiber_run(match_twin_fiber_t *fiber);
/* Goes back to where the running fiber was let run. */
void match_twin_fiber_yield(void);
/* A fiber that was made is not let run again. */
void match_twin_fiber_drop(match_twin_fiber_t *fiber);

#endif
