/* ne16_registers.c - the HWPE register file of NE16: two job contexts, acquire, trigger, status, events.
 *
 * A job's end is a point in time; a context is free for the program once its clock has passed that point. In lazy
 * mode the job is computed when the program sees it end. SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "hwpe.h"
#include "ne16.h"
#include "ne16_pulp_bsp.h"
#include "ne16_twin.h"

enum { TRIGGER = 0, ACQUIRE = 1, FINISHED = 2, STATUS = 3, RUNNING = 4, SOFT_CLEAR = 5, FIRST_WORD = 8 };

typedef enum { FREE, ACQUIRED, COMMITTED, STARTED } context_state_t;

typedef struct {
  context_state_t state;
  bool of_worker; /* whether a worker or the controller has acquired it */
  uint8_t id;
  uint32_t words[NE16_JOB_WORDS]; /* kept from job to job */
  uint32_t written;               /* words since it was acquired */
  uint64_t ticket, end_time;
} context_t;

static struct {
  bool open;
  context_t context[MATCH_GAP9_NE16_CONTEXTS];
  uint32_t next_config; /* context of the next acquire */
  uint32_t next_run;    /* oldest context in use */
  uint8_t next_id, last_id;
  uint32_t finished;
  bool event;
} ne16;

static uint32_t registers[FIRST_WORD + NE16_JOB_WORDS]; /* only its address is used */

/* ---- time ------------------------------------------------------------------------------------------------ */

/* Takes note of jobs whose end the caller's clock has passed, oldest first. */
static void retire(void) {
  for (unsigned i = 0u; i < MATCH_GAP9_NE16_CONTEXTS; i++) {
    context_t *oldest = &ne16.context[ne16.next_run];
    if (oldest->state != STARTED || oldest->end_time > match_twin_now(gap9_clock())) {
      return;
    }
    match_twin_complete(oldest->ticket);
    oldest->state = FREE;
    ne16.last_id = oldest->id;
    ne16.finished++;
    ne16.event = true;
    ne16.next_run = (ne16.next_run + 1u) % MATCH_GAP9_NE16_CONTEXTS;
  }
}

void ne16_pulp_event_wait_and_clear(void) {
  retire();
  const context_t *oldest = &ne16.context[ne16.next_run];
  if (!ne16.event) {
    if (oldest->state != STARTED) {
      match_twin_fault("a wait for an NE16 event that never comes: no job is running");
    }
    match_twin_wait_until(gap9_clock(), oldest->end_time);
    retire();
  }
  ne16.event = false;
}

static void run(void *argument) {
  uint32_t words[NE16_JOB_WORDS];
  memcpy(words, argument, sizeof words);
  const ne16_config_t config = ne16_decode(words);
  ne16_compute(&config);
}

static void start(context_t *context) {
  const ne16_config_t config = ne16_decode(context->words);
  if (match_twin_mode() == MATCH_TWIN_LAZY) {
    ne16_poison(&config);
  }
  context->end_time =
      match_twin_issue_kind(gap9_clock(), MATCH_TWIN_CLOCK_NE16, gap9_cost_ne16(&config.tiles), "ne16 job");
  context->ticket = match_twin_defer(run, context->words, sizeof context->words);
  context->state = STARTED;
}

static void trigger(uint32_t value) {
  context_t *context = &ne16.context[ne16.next_config];
  if (context->state != ACQUIRED || value > 1u) {
    match_twin_fault("NE16: a trigger without an acquired job, or with a value other than 0 and 1");
  }
  match_twin_spend_kind(gap9_clock(), gap9_cost_ne16_program(context->written), "ne16 program");
  context->state = COMMITTED;
  ne16.next_config = (ne16.next_config + 1u) % MATCH_GAP9_NE16_CONTEXTS;
  for (unsigned i = 0u; value == 0u && i < MATCH_GAP9_NE16_CONTEXTS; i++) {
    context_t *waiting = &ne16.context[(ne16.next_run + i) % MATCH_GAP9_NE16_CONTEXTS];
    if (waiting->state == COMMITTED) {
      start(waiting);
    }
  }
}

static uint32_t acquire(void) {
  context_t *context = &ne16.context[ne16.next_config];
  for (unsigned i = 0u; i < MATCH_GAP9_NE16_CONTEXTS; i++) {
    if (ne16.context[i].state != FREE && ne16.context[i].of_worker != gap9_in_team()) {
      match_twin_fault("NE16 is used while it has jobs of another core");
    }
  }
  if (context->state == ACQUIRED) {
    return UINT32_MAX - 1u; /* locked: acquired and not committed */
  }
  if (context->state != FREE) {
    return UINT32_MAX; /* both contexts are taken */
  }
  context->state = ACQUIRED;
  context->of_worker = gap9_in_team();
  context->written = 0u;
  context->id = ne16.next_id;
  ne16.next_id++;
  return context->id;
}

static void soft_clear(void) {
  for (unsigned i = 0u; i < MATCH_GAP9_NE16_CONTEXTS; i++) {
    if (ne16.context[i].state != FREE) {
      match_twin_fault("NE16 is cleared while a job is acquired or running");
    }
    memset(ne16.context[i].words, 0, sizeof ne16.context[i].words);
  }
  ne16.event = false;
  ne16.finished = 0u;
}

/* ---- register access -------------------------------------------------------------------------------------- */

static void check_access(const hwpe_dev_t *dev, int reg) {
  if (dev->base_addr != registers || reg < 0 || (uint32_t)reg >= FIRST_WORD + NE16_JOB_WORDS) {
    match_twin_faultf("register %d of an unknown engine", reg);
  }
  if (!ne16.open) {
    match_twin_fault("NE16 is accessed while its clock is gated; ne16_nnx_init comes first");
  }
  retire();
}

void hwpe_reg_write(const hwpe_dev_t *dev, int reg, uint32_t value) {
  check_access(dev, reg);
  if (reg == TRIGGER) {
    trigger(value);
  } else if (reg == SOFT_CLEAR) {
    soft_clear();
  } else if (reg >= FIRST_WORD) {
    if (ne16.context[ne16.next_config].state != ACQUIRED) {
      match_twin_fault("NE16: a job word is written without an acquired job");
    }
    ne16.context[ne16.next_config].words[reg - FIRST_WORD] = value;
    ne16.context[ne16.next_config].written++;
  } else {
    match_twin_faultf("NE16: register %d cannot be written", reg);
  }
}

uint32_t hwpe_reg_read(const hwpe_dev_t *dev, int reg) {
  uint32_t value = 0u;
  check_access(dev, reg);
  if (reg == ACQUIRE) {
    return acquire();
  }
  if (reg == FINISHED) {
    value = ne16.finished;
    ne16.finished = 0u;
  } else if (reg == STATUS) {
    for (unsigned i = 0u; i < MATCH_GAP9_NE16_CONTEXTS; i++) {
      value |= ne16.context[i].state != FREE ? 1u << (8u * i) : 0u;
    }
  } else if (reg == RUNNING) {
    const context_t *oldest = &ne16.context[ne16.next_run];
    value = oldest->state == STARTED ? oldest->id : ne16.last_id;
  } else if (reg >= FIRST_WORD) {
    value = ne16.context[ne16.next_config].words[reg - FIRST_WORD];
  } else {
    match_twin_faultf("NE16: register %d cannot be read", reg);
  }
  return value;
}

void hwpe_task_reg_write(const hwpe_dev_t *dev, int reg, uint32_t value) {
  hwpe_reg_write(dev, FIRST_WORD + reg, value);
}

void hwpe_soft_clear(const hwpe_dev_t *dev) { hwpe_reg_write(dev, SOFT_CLEAR, 0u); }

uint32_t hwpe_task_queue_status(const hwpe_dev_t *dev) { return hwpe_reg_read(dev, STATUS); }

int hwpe_task_queue_acquire_task(const hwpe_dev_t *dev, uint8_t *id) {
  const uint32_t value = hwpe_reg_read(dev, ACQUIRE);
  if (value >= 256u) {
    return 1;
  }
  *id = (uint8_t)value;
  return 0;
}

void hwpe_task_queue_write_task(const hwpe_dev_t *dev, const uint32_t *data, int len) {
  for (int i = 0; i < len; i++) {
    hwpe_task_reg_write(dev, i, data[i]);
  }
}

void hwpe_task_queue_release_and_run(const hwpe_dev_t *dev) { hwpe_reg_write(dev, TRIGGER, 0u); }

uint8_t hwpe_last_task_id(const hwpe_dev_t *dev) { return (uint8_t)hwpe_reg_read(dev, RUNNING); }

/* ---- board support ---------------------------------------------------------------------------------------- */

void ne16_pulp_open(ne16_pulp_conf_t *conf) {
  if (!gap9_on_cluster()) {
    match_twin_fault("NE16 is opened by the fabric controller; the published driver runs on the cluster");
  }
  if (conf->max_stall < 0 || conf->max_stall > 255) {
    match_twin_faultf("NE16: a maximum stall of %d does not fit its 8 bits", conf->max_stall);
  }
  ne16.open = true;
}

void ne16_pulp_close(void) { ne16.open = false; }

const ne16_dev_t *ne16_pulp_get_dev(void) {
  static const ne16_dev_t device = {.hwpe_dev = {.base_addr = registers}};
  return &device;
}

int ne16_task_queue_tasks_in_flight(const ne16_dev_t *dev) {
  const uint32_t status = hwpe_task_queue_status(&dev->hwpe_dev);
  return (int)((status & 1u) + ((status >> 8) & 1u));
}

int ne16_task_queue_empty(const ne16_dev_t *dev) { return ne16_task_queue_tasks_in_flight(dev) == 0; }

int ne16_task_queue_full(const ne16_dev_t *dev) {
  return ne16_task_queue_tasks_in_flight(dev) == (int)MATCH_GAP9_NE16_CONTEXTS;
}
