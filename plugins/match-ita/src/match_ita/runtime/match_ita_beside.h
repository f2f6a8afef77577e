/* match_ita_beside.h - ITA and the compute cores side by side: a dispatch loop on the DM core, which drives ITA, and
 * one on core 0, which leads kernels on all compute cores. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_ITA_BESIDE_H
#define MATCH_ITA_BESIDE_H

#include "match_ita_ring.h"
#include "match_runtime.h"

/* ---- host ------------------------------------------------------------------------------------------------------- */

/* Hands loop(argument) to the DM core, or to core 0, and returns at once: 0, or -1 while the last one has not been
 * joined. */
int match_ita_ita_loop(void (*loop)(void *), void *argument);
int match_ita_snitch_loop(void (*loop)(void *), void *argument);
/* 0 once the loop has returned, -1 if it does not within a bounded time. */
int match_ita_ita_join(void);
int match_ita_snitch_join(void);

/* ---- cluster: 0 when the host has posted so many tasks, another number when the session was cancelled ----------- */

int match_ita_ita_wait(const match_queue_t *queue, uint32_t count);
int match_ita_snitch_wait(const match_queue_t *queue, uint32_t count);

#endif
