/* gap9_dma.c - MCHAN through PMSIS: 1-D and 2-D commands, the external side strided.
 *
 * One clock per direction: commands of one direction queue, opposite directions overlap. Software cost as published
 * is per operand, not per command; a run of equal 2-D commands without a wait in between (the planes of a 3-D copy,
 * the channels of an HWC to CHW copy) therefore pays it once. SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "gap9_twin.h"
#include "pmsis.h"

typedef struct {
  uint8_t *ext;
  uint8_t *loc;
  uint32_t rows, row_bytes, stride;
  bool inwards;
} copy_t;

typedef struct {
  const pi_cl_dma_cmd_t *cmd;
  uint64_t ticket, end_time;
  bool inwards;
} transfer_t;

static struct {
  transfer_t slot[MATCH_GAP9_DMA_TRANSFER_IDS]; /* in order of issue */
  uint32_t count;
  /* The last command, while nothing was waited for since. */
  bool run;
  copy_t last;
} dma;

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

/* Cycles of the channel and of the issuing core for the command, given the one before. */
static uint64_t price(const copy_t *copy, bool strided, uint64_t *issue) {
  const uint32_t offset = (uint32_t)((uintptr_t)copy->loc % MATCH_GAP9_DMA_L1_WORD_BYTES);
  uint64_t cycles = gap9_cost_dma(copy->rows, copy->row_bytes, copy->inwards, strided, offset);
  const bool next_plane = dma.run && strided && copy->inwards == dma.last.inwards && copy->rows == dma.last.rows &&
                          copy->row_bytes == dma.last.row_bytes && copy->stride == dma.last.stride;
  *issue = MATCH_GAP9_DMA_SETUP_CYCLES + MATCH_GAP9_DMA_API_CYCLES;
  if (next_plane && !MATCH_GAP9_PRESET_ENGINE) {
    *issue = 0u;
    cycles += copy->row_bytes == 1u ? 0u : MATCH_GAP9_DMA_PLANE_CYCLES;
  }
  dma.run = strided;
  dma.last = *copy;
  return cycles;
}

static void start(uint32_t ext, uint32_t loc, uint32_t size, uint32_t stride, uint32_t length, bool strided,
                  pi_cl_dma_dir_e dir, pi_cl_dma_cmd_t *cmd) {
  copy_t copy = {.row_bytes = length, .stride = stride, .inwards = dir == PI_CL_DMA_DIR_EXT2LOC};
  if (!gap9_on_cluster()) {
    match_twin_fault("the cluster DMA was programmed by the fabric controller");
  }
  if (size == 0u || size > MATCH_GAP9_DMA_MAX_BYTES) {
    match_twin_faultf("a DMA command of %u bytes; 1 to %u are possible", (unsigned)size, MATCH_GAP9_DMA_MAX_BYTES);
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
  for (uint32_t i = 0u; i < dma.count; i++) {
    if (dma.slot[i].cmd == cmd) {
      match_twin_fault("a DMA command structure was reused before its transfer was waited for");
    }
  }
  if (dma.count == MATCH_GAP9_DMA_TRANSFER_IDS) {
    match_twin_faultf("more than %u DMA transfers without a wait", MATCH_GAP9_DMA_TRANSFER_IDS);
  }
  if (match_twin_mode() == MATCH_TWIN_LAZY) {
    poison(&copy);
  }
  uint64_t issue;
  const uint64_t cycles = price(&copy, strided, &issue);
  match_twin_spend_kind(MATCH_TWIN_CLOCK_CLUSTER, issue, "dma issue");
  transfer_t *slot = &dma.slot[dma.count];
  dma.count++;
  slot->cmd = cmd;
  slot->inwards = copy.inwards;
  slot->end_time = match_twin_issue_kind(MATCH_TWIN_CLOCK_CLUSTER,
                                         copy.inwards ? MATCH_TWIN_CLOCK_DMA_IN : MATCH_TWIN_CLOCK_DMA_OUT, cycles,
                                         "copy");
  slot->ticket = match_twin_defer(perform, &copy, sizeof copy);
  cmd->id = (uint32_t)slot->ticket;
}

void pi_cl_dma_cmd(uint32_t ext, uint32_t loc, uint32_t size, pi_cl_dma_dir_e dir, pi_cl_dma_cmd_t *cmd) {
  start(ext, loc, size, size, size, false, dir, cmd);
}

void pi_cl_dma_cmd_2d(uint32_t ext, uint32_t loc, uint32_t size, uint32_t stride, uint32_t length,
                      pi_cl_dma_dir_e dir, pi_cl_dma_cmd_t *cmd) {
  start(ext, loc, size, stride, length, true, dir, cmd);
}

static void finish(uint32_t index) {
  const transfer_t done = dma.slot[index];
  for (dma.count--; index < dma.count; index++) {
    dma.slot[index] = dma.slot[index + 1u];
  }
  dma.run = false;
  match_twin_complete(done.ticket);
  if (match_twin_now(MATCH_TWIN_CLOCK_CLUSTER) < done.end_time) {
    /* The core sleeps and needs to wake up; a transfer that is over costs nothing to wait for. */
    match_twin_wait_until(MATCH_TWIN_CLOCK_CLUSTER, done.end_time);
    match_twin_spend_kind(MATCH_TWIN_CLOCK_CLUSTER,
                          done.inwards ? MATCH_GAP9_DMA_WAIT_IN_CYCLES : MATCH_GAP9_DMA_WAIT_OUT_CYCLES, "dma wait");
  }
}

void pi_cl_dma_cmd_wait(pi_cl_dma_cmd_t *cmd) {
  for (uint32_t i = 0u; i < dma.count; i++) {
    if (dma.slot[i].cmd == cmd) {
      finish(i);
      return;
    }
  }
  match_twin_fault("a wait for a DMA command that was not issued or was waited for already");
}

uint32_t gap9_dma_in_flight(void) { return dma.count; }

void pi_cl_dma_flush(void) {
  while (dma.count > 0u) {
    finish(0u);
  }
}
