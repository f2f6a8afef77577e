/* gap9_dma.c - MCHAN through PMSIS: 1-D and 2-D commands, the external side strided.
 *
 * One clock per direction: commands of one direction queue, opposite directions overlap. A transfer is one command or
 * several that were merged under its id. Software cost as published is per transfer, not per command: the planes of a
 * 3-D copy, or the channels of an HWC to CHW copy, are merged and pay it once. SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <string.h>

#include "gap9_twin.h"
#include "match_twin_context.h"
#include "pmsis.h"

typedef struct {
  uint8_t *ext;
  uint8_t *loc;
  uint32_t rows, row_bytes, stride;
  bool inwards;
} copy_t;

typedef struct {
  copy_t copy;
  const void *owner; /* the structure that waits for the transfer */
  uint32_t id;
  uint64_t ticket, end_time;
} command_t;

#define MAX_COMMANDS 4096u

typedef struct {
  command_t command[MAX_COMMANDS]; /* in order of issue */
  uint32_t count;
} queue_t;

/* Each context has its own: the controller, and a worker that copies for its unit. */
static queue_t queues[MATCH_TWIN_MAX_CONTEXTS];
/* In the timeline: contexts below this number have copied. */
static uint32_t used_queues;

/* The last transfer of the port, which merged commands join; ids count on and name no hardware id. All cores of the
 * cluster issue through one port (measured on GVSoC: of 800 merged copies of two cores, 400 were incomplete). */
static struct {
  _Atomic uint32_t last_id, context;
} port;

static queue_t *own(void) { return &queues[match_twin_context()]; }

static void perform(void *argument) {
  copy_t copy;
  memcpy(&copy, argument, sizeof copy);
  for (uint32_t row = 0u; row < copy.rows; row++) {
    uint8_t *ext = copy.ext + (size_t)row * copy.stride;
    uint8_t *loc = copy.loc + (size_t)row * copy.row_bytes;
    memcpy(copy.inwards ? loc : ext, copy.inwards ? ext : loc, copy.row_bytes);
  }
}

static void poison(const copy_t *copy) {
  for (uint32_t row = 0u; row < copy->rows; row++) {
    uint8_t *target = copy->inwards ? copy->loc + (size_t)row * copy->row_bytes : copy->ext + (size_t)row * copy->stride;
    memset(target, MATCH_TWIN_POISON, copy->row_bytes);
  }
}

/* Cycles of the channel and of the issuing core. */
static uint64_t price(const copy_t *copy, bool strided, bool merged, uint64_t *issue) {
  const uint32_t offset = (uint32_t)((uintptr_t)copy->loc % MATCH_GAP9_DMA_L1_WORD_BYTES);
  uint64_t cycles = gap9_cost_dma(copy->rows, copy->row_bytes, copy->inwards, strided, offset);
  *issue = MATCH_GAP9_DMA_SETUP_CYCLES + MATCH_GAP9_DMA_API_CYCLES;
#if MATCH_GAP9_COUNTED
  *issue = merged ? MATCH_GAP9_DMA_PLANE_ISSUE_CYCLES : *issue + (strided ? MATCH_GAP9_DMA_ROWS_CYCLES : 0u);
#endif
  if (merged && !MATCH_GAP9_SIMULATOR_FORMS) {
    *issue = 0u;
    cycles += copy->row_bytes == 1u ? 0u : MATCH_GAP9_DMA_PLANE_CYCLES;
  }
  return cycles;
}

/* The queues that the running context may look at: in threads only its own. */
static uint32_t first_queue(void) { return match_twin_mode() == MATCH_TWIN_THREADS ? match_twin_context() : 0u; }

static uint32_t end_of_queues(void) {
  return match_twin_mode() == MATCH_TWIN_THREADS ? match_twin_context() + 1u : used_queues;
}

static uint32_t ids_in_flight(void) {
  uint32_t ids = 0u;
  for (uint32_t q = first_queue(); q < end_of_queues(); q++) {
    const queue_t *dma = &queues[q];
    for (uint32_t i = 0u; i < dma->count; i++) {
      ids += i == 0u || dma->command[i].id != dma->command[i - 1u].id ? 1u : 0u;
    }
  }
  return ids;
}

static copy_t check(uint32_t ext, uint32_t loc, uint32_t size, uint32_t stride, uint32_t length, pi_cl_dma_dir_e dir) {
  copy_t copy = {.row_bytes = length, .stride = stride, .inwards = dir == PI_CL_DMA_DIR_EXT2LOC};
  if (!gap9_on_cluster()) {
    match_twin_fault("the cluster DMA was programmed by the fabric controller");
  }
  if (size == 0u) {
    match_twin_fault("a DMA command of 0 bytes");
  }
  if (length == 0u || size % length != 0u) {
    match_twin_faultf("a 2-D DMA command of %u bytes in rows of %u", (unsigned)size, (unsigned)length);
  }
  copy.rows = size / length;
  if (!copy.inwards && copy.rows > 1u && stride < length) {
    match_twin_faultf("a 2-D DMA command writes rows of %u bytes only %u bytes apart", (unsigned)length,
                      (unsigned)stride);
  }
  if (gap9_is_l1(ext)) {
    match_twin_faultf("the external DMA address 0x%08x is in L1", (unsigned)ext);
  }
  const size_t span = (size_t)(copy.rows - 1u) * stride + length;
  copy.ext = match_twin_host_pointer(ext, span, !copy.inwards);
  if (copy.ext == NULL) {
    match_twin_faultf("the external DMA address 0x%08x with %zu bytes is in no known memory, or not writable",
                      (unsigned)ext, span);
  }
  copy.loc = gap9_l1_pointer(loc, size, "local DMA address");
  return copy;
}

/* The id of a new transfer that `owner` waits for. */
static uint32_t begin(const void *owner) {
  queue_t *dma = own();
  for (uint32_t i = 0u; i < dma->count; i++) {
    if (dma->command[i].owner == owner) {
      match_twin_fault("a DMA command structure was reused before its transfer was waited for");
    }
  }
  if (ids_in_flight() == MATCH_GAP9_DMA_TRANSFER_IDS) {
    match_twin_faultf("more than %u DMA transfers without a wait", MATCH_GAP9_DMA_TRANSFER_IDS);
  }
  atomic_store_explicit(&port.context, match_twin_context(), memory_order_relaxed);
  return atomic_fetch_add_explicit(&port.last_id, 1u, memory_order_relaxed) + 1u;
}

/* The id of the transfer that a merged command joins. */
static uint32_t join(void) {
  const queue_t *dma = own();
  match_twin_yield(); /* another core may issue between two commands of a copy */
  const uint32_t id = atomic_load_explicit(&port.last_id, memory_order_relaxed);
  if (dma->count > 0u && atomic_load_explicit(&port.context, memory_order_relaxed) != match_twin_context()) {
    match_twin_fault("a DMA command was merged with a transfer of another core: the port has one last id for all cores");
  }
  if (dma->count == 0u || dma->command[dma->count - 1u].id != id) {
    match_twin_fault("a DMA command was merged with a transfer that was waited for already, or with none");
  }
  return id;
}

static void issue(const copy_t *copy, bool strided, bool merged, const void *owner, uint32_t id) {
  queue_t *dma = own();
  if (dma->count == MAX_COMMANDS) {
    match_twin_faultf("more than %u DMA commands without a wait", MAX_COMMANDS);
  }
  if (match_twin_mode() == MATCH_TWIN_LAZY) {
    poison(copy);
  }
  if (match_twin_mode() != MATCH_TWIN_THREADS && used_queues <= match_twin_context()) {
    used_queues = match_twin_context() + 1u;
  }
  uint64_t busy;
  const uint64_t cycles = price(copy, strided, merged, &busy);
  const unsigned channel = copy->inwards ? MATCH_TWIN_CLOCK_DMA_IN : MATCH_TWIN_CLOCK_DMA_OUT;
  match_twin_spend_kind(gap9_clock(), busy, "dma issue");
  command_t *command = &dma->command[dma->count++];
  *command = (command_t){.copy = *copy, .owner = owner, .id = id};
  command->end_time = match_twin_issue_kind(gap9_clock(), channel, cycles, "copy");
  command->ticket = match_twin_defer(perform, copy, sizeof *copy);
}

/* Merging leaves the structure's id as it is: the one who waits is the transfer's first command. */
static void push(pi_cl_dma_copy_t *copy, uint32_t stride, uint32_t length, bool strided) {
  const copy_t checked = check(copy->ext, copy->loc, copy->size, stride, length, copy->dir);
  const uint32_t id = copy->merge != 0u ? join() : begin(copy);
  copy->id = copy->merge != 0u ? copy->id : id;
  issue(&checked, strided, copy->merge != 0u, copy->merge != 0u ? NULL : copy, id);
}

void pi_cl_dma_memcpy(pi_cl_dma_copy_t *copy) { push(copy, copy->size, copy->size, false); }

void pi_cl_dma_memcpy_2d(pi_cl_dma_copy_2d_t *copy) { push(copy, copy->stride, copy->length, true); }

/* A core that has to sleep for the transfer needs to wake up; one that is over costs nothing to wait for, or, where code
 * is counted, the look at it. */
static void finish(uint32_t id) {
  queue_t *dma = own();
  uint64_t end_time = 0u;
  bool inwards = false;
  uint32_t kept = 0u;
  for (uint32_t i = 0u; i < dma->count; i++) {
    const command_t *command = &dma->command[i];
    if (command->id != id) {
      dma->command[kept++] = *command;
      continue;
    }
    match_twin_complete(command->ticket);
    inwards = command->end_time > end_time ? command->copy.inwards : inwards;
    end_time = command->end_time > end_time ? command->end_time : end_time;
  }
  dma->count = kept;
#if MATCH_GAP9_COUNTED
  match_twin_spend_kind(gap9_clock(), MATCH_GAP9_DMA_WAIT_IN_CYCLES, "dma wait");
  match_twin_wait_until(gap9_clock(), end_time);
#else
  if (match_twin_now(gap9_clock()) < end_time) {
    match_twin_wait_until(gap9_clock(), end_time);
    match_twin_spend_kind(gap9_clock(), inwards ? MATCH_GAP9_DMA_WAIT_IN_CYCLES : MATCH_GAP9_DMA_WAIT_OUT_CYCLES,
                          "dma wait");
  }
#endif
}

void pi_cl_dma_wait(void *copy) {
  const queue_t *dma = own();
  for (uint32_t i = 0u; i < dma->count; i++) {
    if (dma->command[i].owner == copy) {
      finish(dma->command[i].id);
      return;
    }
  }
  match_twin_fault("a wait for a DMA command that was not issued or was waited for already");
}

uint32_t gap9_dma_in_flight(void) { return own()->count; }

/* In threads nobody may look at the lists of others: there the sanitizer finds who touches such bytes. */
void gap9_dma_check_idle(const void *data, size_t size, const char *what) {
  const uintptr_t start = (uintptr_t)data;
  for (uint32_t q = 0u; match_twin_mode() != MATCH_TWIN_THREADS && q < used_queues; q++) {
    for (uint32_t i = 0u; i < queues[q].count; i++) {
      const copy_t *copy = &queues[q].command[i].copy;
      const uintptr_t loc = (uintptr_t)copy->loc;
      if (copy->inwards && start < loc + (size_t)copy->rows * copy->row_bytes && loc < start + size) {
        match_twin_faultf("%s: a DMA copy that was not waited for writes to these bytes of L1", what);
      }
    }
  }
}

void pi_cl_dma_flush(void) {
  const queue_t *dma = own();
  while (dma->count > 0u) {
    finish(dma->command[0].id);
  }
}
