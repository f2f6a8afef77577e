/* match_ita_charge.h - what the twin puts in the place of hardware and of the runtime's hooks.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_ITA_CHARGE_H
#define MATCH_ITA_CHARGE_H

#include <stdint.h>

/* ---- ITA's registers -------------------------------------------------------------------------------------------- */

void match_ita_twin_write(uint32_t offset, uint32_t value);
uint32_t match_ita_twin_read(uint32_t offset);
/* The DM core looks again when something may have changed. */
void match_ita_twin_relax(void);

#define MATCH_ITA_WRITE(offset, value) match_ita_twin_write((offset), (value))
#define MATCH_ITA_READ(offset) match_ita_twin_read(offset)
#define MATCH_ITA_RELAX() match_ita_twin_relax()

/* ---- cores ------------------------------------------------------------------------------------------------------ */

/* A core begins with an order and ends with it; `desk` is that of the runtime. */
void match_ita_twin_wake(const void *desk);
void match_ita_twin_settle(const void *desk);
int match_ita_twin_look_again(void);

#define MATCH_ITA_WAKE(desk) match_ita_twin_wake(desk)
#define MATCH_ITA_SETTLE(desk) match_ita_twin_settle(desk)
#define MATCH_ITA_LOOK_AGAIN() match_ita_twin_look_again()

/* ---- cycles ----------------------------------------------------------------------------------------------------- */

/* Work of the calling compute core: its cycles, and in the upper word its uses of the unit that multiplies and divides.
 * Between two barriers the busiest core counts, or that unit with what all cores use it. */
void match_ita_twin_charge(uint64_t work);
void match_ita_twin_charge_launch(void);
void match_ita_twin_charge_tail(void);
void match_ita_twin_charge_team_launch(void);
void match_ita_twin_charge_team_wait(void);
void match_ita_twin_charge_barrier(void);
void match_ita_twin_charge_ring_post(void);
void match_ita_twin_charge_ring_serve(void);
void match_ita_twin_ring_waited(void);

#define match_ita_charge(work) match_ita_twin_charge(work)
#define MATCH_ITA_CHARGE_LAUNCH() match_ita_twin_charge_launch()
#define MATCH_ITA_CHARGE_TAIL() match_ita_twin_charge_tail()
#define MATCH_ITA_CHARGE_TEAM_LAUNCH() match_ita_twin_charge_team_launch()
#define MATCH_ITA_CHARGE_TEAM_WAIT() match_ita_twin_charge_team_wait()
#define MATCH_ITA_CHARGE_BARRIER() match_ita_twin_charge_barrier()
#define MATCH_ITA_CHARGE_RING_POST() match_ita_twin_charge_ring_post()
#define MATCH_ITA_CHARGE_RING_SERVE() match_ita_twin_charge_ring_serve()
#define MATCH_ITA_RING_WAITED() match_ita_twin_ring_waited()

/* ---- memory of the harness -------------------------------------------------------------------------------------- */

/* The first bytes of the cluster's L1. */
uint8_t *match_ita_twin_l1(uint32_t bytes);

#endif
