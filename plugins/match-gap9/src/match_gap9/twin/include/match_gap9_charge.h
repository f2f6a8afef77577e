/* match_gap9_charge.h - cycle hooks for the files of runtime/; on silicon the macros are empty.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_GAP9_TWIN_CHARGE_H
#define MATCH_GAP9_TWIN_CHARGE_H

#include <stdint.h>

#include "match_gap9_timing.h"

/* The running core has spent `cycles` in a kernel; at the next barrier the team's clock is where its slowest core is. */
void match_gap9_twin_count(const char *kernel, uint64_t cycles);
void match_gap9_twin_charge_team_lead(void);
void match_gap9_twin_charge_task(void);
int match_gap9_twin_look_again(void);
void match_gap9_twin_charge_ne16_words(void);
void match_gap9_twin_charge_ne16_rows(void);

#define MATCH_GAP9_COUNT(term, times) \
  match_gap9_twin_count(__func__, (uint64_t)(times) * MATCH_GAP9_SDK_##term##_CYCLES)
#define MATCH_GAP9_CHARGE_TEAM_LEAD() match_gap9_twin_charge_team_lead()
#define MATCH_GAP9_CHARGE_TASK() match_gap9_twin_charge_task()
#define MATCH_GAP9_LOOK_AGAIN() match_gap9_twin_look_again()
#define MATCH_GAP9_CHARGE_NE16_WORDS() match_gap9_twin_charge_ne16_words()
#define MATCH_GAP9_CHARGE_NE16_ROWS() match_gap9_twin_charge_ne16_rows()

#endif
