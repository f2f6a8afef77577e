/* diana_device.c - the two accelerators on the peripheral bus: register files, trigger, status.
 *
 * Whether the chip takes writes or a second trigger while an accelerator works, and whether both may work at the same
 * time, is not public (sheet 6): each is a fault here, and so is a trigger before the accelerators' events are on.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "diana_twin.h"
#include "match_diana_twin.h"

#define SPACE 0x100u
#define EVENT_WORD 0x1A106018u
#define EVENTS 0xC00u

enum { TRIGGER = 0x00, STATUS = 0x0C, SOFT_CLEAR = 0x14, FIRST_JOB_REGISTER = 0x40 };

typedef struct {
  const char *name;
  uint32_t base, last; /* the last register */
  void (*trigger)(void);
  uint32_t operation, l2, words, l1, banks, rows; /* registers of a copy */
} shape_t;

static const shape_t shapes[DIANA_DEVICES] = {
    [DIANA_DIGITAL] = {"the digital array", 0x1A10C000u, 0xB8u, diana_digital_trigger, .operation = 0xA0u, .l2 = 0xA4u,
                       .words = 0xA8u, .l1 = 0xACu, .banks = 0xB0u, .rows = 0xB4u},
    [DIANA_ANALOG] = {"the analog array", 0x1A10D000u, 0x80u, diana_analog_trigger, .operation = 0x6Cu, .l2 = 0x70u,
                      .words = 0x74u, .l1 = 0x78u, .banks = 0x7Cu, .rows = 0x80u},
};

typedef struct {
  uint32_t word[SPACE / 4u];
  uint32_t accesses; /* not yet charged */
  bool busy, copies;
  uint64_t ticket, end_time;
} state_t;

static state_t states[DIANA_DEVICES];
static uint32_t events;

/* ---- work ------------------------------------------------------------------------------------------------------- */

uint32_t diana_register(diana_device_t device, uint32_t offset) { return states[device].word[offset / 4u]; }

void diana_run(diana_device_t device, const diana_step_t *steps, size_t count, match_twin_action_t run,
               const void *argument, size_t argument_bytes) {
  state_t *const state = &states[device];
  for (size_t i = 0u; i < count; i++) {
    match_twin_wait_until(steps[i].clock, state->end_time);
    state->end_time =
        match_twin_issue_kind(MATCH_TWIN_CLOCK_HOST, steps[i].clock, steps[i].cycles, steps[i].kind);
  }
  state->ticket = match_twin_defer(run, argument, argument_bytes);
  state->busy = true;
}

static void check_idle(void) {
  for (size_t i = 0u; i < DIANA_DEVICES; i++) {
    if (states[i].busy) {
      match_twin_faultf("%s works, and nobody waited until its status was 0", shapes[i].name);
    }
  }
}

/* What a copy costs includes the accesses that start it. */
static void trigger(diana_device_t device) {
  const shape_t *const shape = &shapes[device];
  state_t *const state = &states[device];
  const diana_copy_t copy = {diana_register(device, shape->operation), diana_register(device, shape->l2),
                             diana_register(device, shape->l1),        diana_register(device, shape->words),
                             diana_register(device, shape->banks),     diana_register(device, shape->rows)};
  if ((events & EVENTS) != EVENTS) {
    match_twin_faultf("%s is triggered before plp_hwme_enable", shape->name);
  }
  state->end_time = 0u;
  state->copies = copy.operation != 0u;
  if (state->copies) {
    diana_copy_trigger(device, &copy);
  } else {
    match_twin_spend_kind(MATCH_TWIN_CLOCK_HOST, state->accesses * MATCH_DIANA_REGISTER_CYCLES, "registers");
    shape->trigger();
  }
  state->accesses = 0u;
}

/* The first look finds it busy and takes as long as the work does; the next one finds its end. */
static uint32_t status(state_t *state) {
  if (state->busy && match_twin_now(MATCH_TWIN_CLOCK_HOST) < state->end_time) {
    match_twin_wait_until(MATCH_TWIN_CLOCK_HOST, state->end_time);
    return 1u;
  }
  if (state->busy) {
    match_twin_complete(state->ticket);
    state->busy = false;
  }
  if (!state->copies) {
    match_twin_spend_kind(MATCH_TWIN_CLOCK_HOST, MATCH_DIANA_REGISTER_CYCLES, "registers");
  }
  return 0u;
}

/* ---- bus -------------------------------------------------------------------------------------------------------- */

static diana_device_t device_at(uint32_t address) {
  for (size_t i = 0u; i < DIANA_DEVICES; i++) {
    const uint32_t offset = address - shapes[i].base;
    const bool is_known = offset <= SOFT_CLEAR || (offset >= FIRST_JOB_REGISTER && offset <= shapes[i].last);
    if (is_known && address % 4u == 0u) {
      return (diana_device_t)i;
    }
  }
  match_twin_faultf("nothing is known at 0x%08x of the peripheral bus", (unsigned)address);
}

void match_diana_twin_write(uint32_t address, uint32_t value) {
  if (address == EVENT_WORD) {
    events = value;
    return;
  }
  const diana_device_t device = device_at(address);
  const uint32_t offset = address - shapes[device].base;
  check_idle();
  states[device].accesses++;
  if (offset >= FIRST_JOB_REGISTER) {
    states[device].word[offset / 4u] = value;
  } else if (offset == TRIGGER) {
    trigger(device);
  } else if (offset == SOFT_CLEAR) {
    memset(states[device].word, 0, sizeof states[device].word);
  } else {
    match_twin_faultf("register 0x%02x of %s cannot be written, or what it does is not public", (unsigned)offset,
                      shapes[device].name);
  }
}

uint32_t match_diana_twin_read(uint32_t address) {
  if (address == EVENT_WORD) {
    return events;
  }
  const diana_device_t device = device_at(address);
  const uint32_t offset = address - shapes[device].base;
  if (offset != STATUS) {
    match_twin_faultf("register 0x%02x of %s cannot be read, or means nothing to the program", (unsigned)offset,
                      shapes[device].name);
  }
  return status(&states[device]);
}
