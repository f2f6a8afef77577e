/* ita_registers.c - the HWPE register file: job contexts, acquire, trigger, status. A job's end is a point in time;
 * its context is free for the program once the DM core's clock has passed that point.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "ita_twin.h"
#include "match_ita_charge.h"

enum { TRIGGER = 0x00, ACQUIRE = 0x04, STATUS = 0x0C, SOFT_CLEAR = 0x14, FIRST_WORD = 0x20 };

/* Words that have to be written before a context's first job: all but the sequence length, which nothing reads. */
#define ALL_WORDS 0x1FFDFu
/* What a job needs beyond its addresses and flags; written once into each context. */
#define COMMON_WORDS 0x1BFC0u
/* Cycles between two looks at ITA while the DM core waits for other things too. */
#define LOOK_CYCLES 16u

typedef enum { FREE, ACQUIRED, STARTED } state_t;

typedef struct {
  state_t state;
  uint32_t words[ITA_WORDS];
  uint32_t written; /* words since the soft clear */
  bool is_set_up;   /* common words since the acquire */
  uint64_t ticket, end_time;
} context_t;

static struct {
  context_t context[MATCH_ITA_CONTEXTS];
  uint32_t next; /* of the next acquire */
  uint32_t oldest;
  uint32_t id;
} ita;

/* ---- time ------------------------------------------------------------------------------------------------------- */

/* Takes note of jobs whose end the DM core's clock has passed, oldest first. */
static void retire(void) {
  for (uint32_t i = 0u; i < MATCH_ITA_CONTEXTS; i++) {
    context_t *oldest = &ita.context[ita.oldest];
    if (oldest->state != STARTED || oldest->end_time > match_twin_now(MATCH_TWIN_CLOCK_CONTROL)) {
      return;
    }
    match_twin_complete(oldest->ticket);
    oldest->state = FREE;
    ita.oldest = (ita.oldest + 1u) % MATCH_ITA_CONTEXTS;
  }
}

static void run(void *argument) {
  ita_job_t job;
  memcpy(&job, argument, sizeof job);
  ita_compute(&job);
}

/* From the start of a job to the start of the next one. All streams share one port of L1, an access a cycle, and the
 * next job starts when those of this one have ended. */
static uint64_t cycles_of(const ita_job_t *job) {
  const uint64_t waits = job->preload ? MATCH_ITA_JOB_FIRST_WEIGHT_READS : 0u;
  uint64_t accesses = MATCH_ITA_JOB_INPUT_READS + MATCH_ITA_JOB_WEIGHT_READS + waits;
  accesses += job->nextload ? MATCH_ITA_JOB_FIRST_WEIGHT_READS : 0u;
  accesses += job->has_bias ? MATCH_ITA_JOB_BIAS_READS : 0u;
  accesses += job->has_output ? MATCH_ITA_JOB_WRITES : 0u;
  return MATCH_ITA_JOB_FILL_CYCLES + waits + (accesses > MATCH_ITA_JOB_CYCLES ? accesses : MATCH_ITA_JOB_CYCLES) +
         (job->has_output ? MATCH_ITA_JOB_DRAIN_CYCLES : 0u) + MATCH_ITA_JOB_TURN_CYCLES;
}

static void trigger(uint32_t value) {
  context_t *context = &ita.context[ita.next];
  if (context->state != ACQUIRED || value != 0u) {
    match_twin_fault("ITA: a trigger without an acquired job, or with a value other than 0");
  }
  if ((context->written & ALL_WORDS) != ALL_WORDS) {
    match_twin_faultf("ITA: a job with words that were never written: 0x%05x",
                      (unsigned)(ALL_WORDS & ~context->written));
  }
  match_twin_spend_kind(MATCH_TWIN_CLOCK_CONTROL,
                        MATCH_ITA_JOB_PROGRAM_CYCLES + (context->is_set_up ? MATCH_ITA_JOB_SETUP_CYCLES : 0u),
                        "ita program");
  const ita_job_t job = ita_next_job(context->words);
  context->end_time =
      match_twin_issue_kind(MATCH_TWIN_CLOCK_CONTROL, MATCH_TWIN_CLOCK_ITA, cycles_of(&job), "ita job");
  context->ticket = match_twin_defer(run, &job, sizeof job);
  context->state = STARTED;
  ita.next = (ita.next + 1u) % MATCH_ITA_CONTEXTS;
}

static uint32_t acquire(void) {
  context_t *context = &ita.context[ita.next];
  if (context->state == ACQUIRED) {
    return UINT32_MAX - 1u; /* locked: acquired and not triggered */
  }
  if (context->state == STARTED) {
    return UINT32_MAX; /* all contexts are taken */
  }
  context->state = ACQUIRED;
  context->is_set_up = false;
  return ita.id++ & 0xFFu;
}

static uint32_t status(void) {
  uint32_t busy = 0u;
  for (uint32_t i = 0u; i < MATCH_ITA_CONTEXTS; i++) {
    busy |= ita.context[i].state != FREE ? 1u << (8u * i) : 0u;
  }
  return busy;
}

/* Forgets the contexts, but not where ITA is in the order of steps: the engine is not reset. */
static void soft_clear(void) {
  if (status() != 0u) {
    match_twin_fault("ITA is cleared while a job is acquired or running");
  }
  memset(&ita, 0, sizeof ita);
}

/* ---- access ----------------------------------------------------------------------------------------------------- */

static void check_access(uint32_t offset) {
  ita_check_dm_core("an access to ITA's registers");
  if (offset % 4u != 0u || offset >= FIRST_WORD + 4u * ITA_WORDS) {
    match_twin_faultf("ITA has no register at 0x%02x", (unsigned)offset);
  }
  retire();
}

static void write_word(uint32_t index, uint32_t value) {
  context_t *context = &ita.context[ita.next];
  if (context->state != ACQUIRED) {
    match_twin_fault("ITA: a job word is written without an acquired job");
  }
  context->words[index] = value;
  context->written |= 1u << index;
  context->is_set_up |= ((1u << index) & COMMON_WORDS) != 0u;
}

void match_ita_twin_write(uint32_t offset, uint32_t value) {
  check_access(offset);
  if (offset >= FIRST_WORD) {
    write_word((offset - FIRST_WORD) / 4u, value);
  } else if (offset == TRIGGER) {
    trigger(value);
  } else if (offset == SOFT_CLEAR) {
    soft_clear();
  } else {
    match_twin_faultf("ITA: register 0x%02x cannot be written", (unsigned)offset);
  }
}

uint32_t match_ita_twin_read(uint32_t offset) {
  check_access(offset);
  if (offset >= FIRST_WORD) {
    return ita.context[ita.next].words[(offset - FIRST_WORD) / 4u];
  }
  if (offset != ACQUIRE && offset != STATUS) {
    match_twin_faultf("ITA: register 0x%02x cannot be read, or means nothing to the program", (unsigned)offset);
  }
  return offset == ACQUIRE ? acquire() : status();
}

/* Only ITA can change anything in a sequential program. */
void match_ita_twin_relax(void) {
  const context_t *oldest = &ita.context[ita.oldest];
  const uint64_t now = match_twin_now(MATCH_TWIN_CLOCK_CONTROL);
  if (match_twin_mode() == MATCH_TWIN_THREADS) {
    match_twin_relax();
    return;
  }
  if (oldest->state != STARTED) {
    match_twin_fault("a wait for ITA, which has no job");
  }
  const bool is_near = !ita_is_beside() || oldest->end_time < now + LOOK_CYCLES;
  match_twin_wait_until(MATCH_TWIN_CLOCK_CONTROL, is_near ? oldest->end_time : now + LOOK_CYCLES);
}
