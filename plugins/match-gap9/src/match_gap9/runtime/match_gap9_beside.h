/* match_gap9_beside.h - cluster and NE16 side by side: a dispatch loop on core 0 of the workers, which leads kernels on
 * all eight, and one on the controller core, which drives NE16. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_GAP9_BESIDE_H
#define MATCH_GAP9_BESIDE_H

#include <stdint.h>

#include "match_runtime.h"

/* ---- fabric controller --------------------------------------------------------------------------------------- */

/* Hands loop(argument) to core 0 of the workers, or to the controller, and returns at once: 0, or -1 while the last one
 * has not been joined. The first one of a session starts the cluster's task, the last join ends it. */
int match_gap9_team_loop(void (*loop)(void *), void *argument);
int match_gap9_ne16_loop(void (*loop)(void *), void *argument);
/* 0 once the loop has returned, -1 if it does not within a bounded time. */
int match_gap9_team_join(void);
int match_gap9_ne16_join(void);

/* ---- cluster ------------------------------------------------------------------------------------------------- */

/* Returns 0 when the host has posted so many tasks, another number when the session was cancelled. */
int match_gap9_queue_wait(const match_queue_t *queue, uint32_t count);

#endif
