/* match_ita_team.h - the compute cores as a team that runs one kernel. Programs include it, so it needs no header of
 * the Snitch runtime: another cluster may have one of the same name. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_ITA_TEAM_H
#define MATCH_ITA_TEAM_H

#include <stdint.h>

/* ---- by the DM core, or by core 0 where it has a loop of its own ------------------------------------------------ */

/* All compute cores run entry(context), which stays as it is until the wait. Where core 0 leads, launch returns when
 * all are done. */
void match_ita_team_launch(void (*entry)(void *), const void *context);
void match_ita_team_wait(void);

/* ---- in a kernel ------------------------------------------------------------------------------------------------ */

/* Number within the team, and how many there are. */
uint32_t match_ita_core(void);
uint32_t match_ita_cores(void);
/* Goes on when all cores of the team are here. */
void match_ita_barrier(void);

#endif
