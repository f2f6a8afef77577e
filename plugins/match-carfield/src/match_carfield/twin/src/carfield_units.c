/* carfield_units.c - the clusters as contexts. A context is core 0 of a cluster from a letter of the host until the
 * cluster's main would sleep for the next one. SPDX-License-Identifier: Apache-2.0 */
#include "carfield_twin.h"
#include "match_carfield_pulp.h"
#include "match_carfield_spatz.h"

/* A program may have no code for one of the units. */
#pragma weak match_carfield_pulp_follow
#pragma weak match_carfield_spatz_follow

typedef struct {
  int (*serve)(void);
  uint32_t context; /* 0: none */
  bool exited;
} unit_t;

/* Written by the host only, but for `exited`, which the host reads behind the context's end. */
static unit_t units[CARFIELD_UNITS];

/* Which unit the running thread is; the host's has none. */
static _Thread_local const unit_t *running;

const char *carfield_name(carfield_unit_t unit) { return unit == CARFIELD_PULP ? "pulp" : "spatz"; }

unsigned carfield_clock(carfield_unit_t unit) {
  return unit == CARFIELD_PULP ? MATCH_TWIN_CLOCK_PULP : MATCH_TWIN_CLOCK_SPATZ;
}

bool carfield_on(carfield_unit_t unit) { return running == &units[unit]; }

void carfield_check_core(carfield_unit_t unit, const char *what) {
  if (!carfield_on(unit) || carfield_core(unit) != 0u) {
    match_twin_faultf("%s: only core 0 of %s can do this", what, carfield_name(unit));
  }
}

static void run(void *argument) {
  unit_t *unit = argument;
  const carfield_unit_t which = (carfield_unit_t)(unit - units);
  running = unit;
  carfield_team_begin(which, which == CARFIELD_PULP ? match_carfield_pulp_follow : match_carfield_spatz_follow);
  unit->exited = unit->serve() == 0;
  carfield_team_end(which);
  if (carfield_in_flight(which) != 0u) {
    match_twin_faultf("%s: %u copies were never waited for", carfield_name(which), (unsigned)carfield_in_flight(which));
  }
}

void carfield_begin(carfield_unit_t unit, int (*serve)(void)) {
  units[unit].serve = serve;
  units[unit].context = match_twin_start(carfield_name(unit), carfield_clock(unit), run, &units[unit]);
}

bool carfield_is_running(carfield_unit_t unit) { return units[unit].context != 0u; }

void carfield_settle(carfield_unit_t unit) {
  if (units[unit].context != 0u) {
    match_twin_join(units[unit].context);
    units[unit].context = 0u;
  }
}

bool carfield_has_exited(carfield_unit_t unit) {
  if (units[unit].context != 0u && match_twin_ended(units[unit].context)) {
    carfield_settle(unit);
  }
  return units[unit].context == 0u && units[unit].exited;
}

void carfield_kernel(carfield_unit_t unit, const char *name, uint64_t cycles) {
  carfield_check_core(unit, name);
  match_twin_spend_kind(carfield_clock(unit), cycles, name);
}
