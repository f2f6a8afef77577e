/* carfield_transfer.c - copies in flight between L2 and a cluster's L1, whichever DMA makes them. A list belongs to the
 * cluster's own context. SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "carfield_twin.h"

#define MAX_COPIES 4096u

typedef struct {
  carfield_copy_t copy;
  uint32_t id;
  uint64_t ticket, end_time;
} flight_t;

static struct {
  flight_t flight[MAX_COPIES]; /* in order of issue */
  uint32_t count;
} lists[CARFIELD_UNITS];

static void perform(void *argument) {
  carfield_copy_t copy;
  memcpy(&copy, argument, sizeof copy);
  for (uint32_t row = 0u; row < copy.rows; row++) {
    memcpy(copy.to + row * copy.to_stride, copy.from + row * copy.from_stride, copy.row_bytes);
  }
}

static void poison(const carfield_copy_t *copy) {
  for (uint32_t row = 0u; row < copy->rows; row++) {
    memset(copy->to + row * copy->to_stride, MATCH_TWIN_POISON, copy->row_bytes);
  }
}

static unsigned channel(carfield_unit_t unit, bool inwards) {
  if (unit == CARFIELD_PULP) {
    return inwards ? MATCH_TWIN_CLOCK_PULP_DMA_IN : MATCH_TWIN_CLOCK_PULP_DMA_OUT;
  }
  return inwards ? MATCH_TWIN_CLOCK_SPATZ_DMA_IN : MATCH_TWIN_CLOCK_SPATZ_DMA_OUT;
}

uint64_t carfield_data_cycles(const void *outer, uint64_t bytes, uint64_t per_cycle) {
  const uint64_t slow = MATCH_CARFIELD_DRAM_BYTES_PER_CYCLE;
  if (!carfield_in_dram(outer, 1u)) {
    return (bytes + per_cycle - 1u) / per_cycle;
  }
  const uint64_t speed = per_cycle < slow ? per_cycle : slow;
  return MATCH_CARFIELD_DRAM_SETUP_CYCLES + (bytes + speed - 1u) / speed;
}

void carfield_transfer(carfield_unit_t unit, const carfield_copy_t *copy, uint64_t cycles, uint32_t id) {
  if (lists[unit].count == MAX_COPIES) {
    match_twin_faultf("more than %u copies without a wait", MAX_COPIES);
  }
  if (match_twin_mode() == MATCH_TWIN_LAZY) {
    poison(copy);
  }
  flight_t *flight = &lists[unit].flight[lists[unit].count++];
  *flight = (flight_t){.copy = *copy, .id = id};
  flight->end_time = match_twin_issue_kind(carfield_clock(unit), channel(unit, copy->inwards), cycles, "copy");
  flight->ticket = match_twin_defer(perform, copy, sizeof *copy);
}

bool carfield_finish(carfield_unit_t unit, uint32_t id, uint64_t cycles) {
  const uint32_t count = lists[unit].count;
  uint64_t end_time = 0u;
  uint32_t kept = 0u;
  for (uint32_t i = 0u; i < count; i++) {
    flight_t *flight = &lists[unit].flight[i];
    if (id != CARFIELD_ALL && flight->id != id) {
      lists[unit].flight[kept++] = *flight;
      continue;
    }
    match_twin_complete(flight->ticket);
    end_time = flight->end_time > end_time ? flight->end_time : end_time;
  }
  lists[unit].count = kept;
  if (match_twin_now(carfield_clock(unit)) < end_time) {
    match_twin_wait_until(carfield_clock(unit), end_time);
    match_twin_spend_kind(carfield_clock(unit), cycles, "copy wait");
  }
  return kept != count;
}

void carfield_check_idle(carfield_unit_t unit, const void *data, size_t bytes, const char *what) {
  const uintptr_t start = (uintptr_t)data;
  for (uint32_t i = 0u; i < lists[unit].count; i++) {
    const carfield_copy_t *copy = &lists[unit].flight[i].copy;
    const uintptr_t to = (uintptr_t)copy->to;
    const size_t span = (size_t)(copy->rows - 1u) * copy->to_stride + copy->row_bytes;
    if (copy->inwards && start < to + span && to < start + bytes) {
      match_twin_faultf("%s: a copy that was not waited for writes to these bytes of L1", what);
    }
  }
}

uint32_t carfield_in_flight(carfield_unit_t unit) { return lists[unit].count; }
