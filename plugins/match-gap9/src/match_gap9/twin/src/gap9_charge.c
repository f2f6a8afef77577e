/* gap9_charge.c - cycles of the runtime around kernels. SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>

#include "gap9_twin.h"
#include "match_gap9_charge.h"
#include "match_twin_context.h"

void match_gap9_twin_charge_team_lead(void) {
  match_twin_spend_kind(gap9_clock(), MATCH_GAP9_TEAM_LEAD_CYCLES + MATCH_GAP9_STEP_CYCLES, "lead team");
}

int match_gap9_twin_look_again(void) { return match_twin_relax_bounded(); }

/* The instruction cache holds the code of another layer: for the controller, for the workers. Side by side the controller
 * runs little but NE16's code. */
static bool cold[2];

void gap9_layer_begins(void) { cold[0] = cold[1] = true; }

void match_gap9_twin_charge_task(void) {
  if (gap9_in_team()) {
    cold[1] = true;
  }
}

/* By whichever core fills the words: the controller or a worker. */
void match_gap9_twin_charge_ne16_words(void) {
  const uint64_t step = gap9_in_team() ? 0u : MATCH_GAP9_STEP_CYCLES; /* the launch of a team has paid it */
  bool *const mine = &cold[gap9_in_team() ? 1 : 0];
  const uint64_t first = *mine ? MATCH_GAP9_NE16_COLD_CYCLES : 0u;
  *mine = false;
  match_twin_spend_kind(gap9_clock(), MATCH_GAP9_NE16_WORDS_CYCLES + step + first, "ne16 words");
}

void match_gap9_twin_charge_ne16_rows(void) {
  match_twin_spend_kind(gap9_clock(), MATCH_GAP9_NE16_ROWS_CYCLES, "ne16 words");
}
