/* match_gap9_cores.h - what the package's own files share: the workers as a team of their own, tasks of the cluster.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_GAP9_CORES_H
#define MATCH_GAP9_CORES_H

#include "pmsis.h"

#ifndef NUM_CORES
#define NUM_CORES 8
#endif

/* A port that measures defines it: this core has executed a part of a kernel so many times. */
#ifndef MATCH_GAP9_COUNT
#define MATCH_GAP9_COUNT(term, times) ((void)(times))
#endif

/* ---- fabric controller ------------------------------------------------------------------------------------------ */

/* Sends a task to the open cluster and returns at once; `end` is what pi_task_wait_on waits for. */
int match_gap9_send(struct pi_cluster_task *task, void (*entry)(void *), pi_task_t *end);

/* ---- controller ------------------------------------------------------------------------------------------------- */

/* Runs main on all workers, beside the controller, until the end: core 0 leads, the others follow. */
void match_gap9_team_begin(void (*main)(void *));
void match_gap9_team_end(void);
/* Whether the workers are between the two: then the controller has none. */
int match_gap9_team_is_led(void);

/* ---- workers ---------------------------------------------------------------------------------------------------- */

/* On all but core 0: runs the kernels that core 0 launches, until it leaves. */
void match_gap9_team_follow(void);
/* On core 0. */
void match_gap9_team_leave(void);

#endif
