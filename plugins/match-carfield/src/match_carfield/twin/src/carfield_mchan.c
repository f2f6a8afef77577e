/* carfield_mchan.c - MCHAN through pulp-runtime. A counter stands for the commands pushed behind its allocation; the
 * software's cycles are paid with the commands, those of a copy with its first one. SPDX-License-Identifier: Apache-2.0 */
#include "carfield_twin.h"
#include "pulp.h"

#define SIZE_MASK 0x1FFFFu
#define INWARDS (1u << 17)
#define STRIDED (1u << 18)

static struct {
  bool taken[MATCH_CARFIELD_DMA_COUNTERS];
  uint32_t commands[MATCH_CARFIELD_DMA_COUNTERS];
  uint32_t current; /* the counter allocated last */
  bool open;        /* commands may follow */
} mchan;

int plp_dma_counter_alloc(void) {
  carfield_check_core(CARFIELD_PULP, "plp_dma_counter_alloc");
  for (uint32_t i = 0u; i < MATCH_CARFIELD_DMA_COUNTERS; i++) {
    if (!mchan.taken[i]) {
      mchan.taken[i] = true;
      mchan.commands[i] = 0u;
      mchan.current = i;
      mchan.open = true;
      return (int)i;
    }
  }
  match_twin_faultf("more than %u copies of MCHAN without a wait", MATCH_CARFIELD_DMA_COUNTERS);
}

void plp_dma_counter_free(int counter) {
  if (counter < 0 || counter >= (int)MATCH_CARFIELD_DMA_COUNTERS || !mchan.taken[counter]) {
    match_twin_faultf("counter %d of MCHAN was not allocated", counter);
  }
  mchan.taken[counter] = false;
  mchan.open = mchan.open && (uint32_t)counter != mchan.current;
}

unsigned int plp_dma_getCmd(int ext2loc, unsigned int size, int is2D, int trigEvt, int trigIrq, int broadcast) {
  (void)broadcast;
  if (size == 0u || size > MATCH_CARFIELD_DMA_MAX_BYTES) {
    match_twin_faultf("a command of MCHAN for %u bytes; 1 to %u are possible", size, MATCH_CARFIELD_DMA_MAX_BYTES);
  }
  if (trigEvt == 0 && trigIrq == 0) {
    match_twin_fault("a command of MCHAN that nobody is told the end of");
  }
  return size | (ext2loc != 0 ? INWARDS : 0u) | (is2D != 0 ? STRIDED : 0u);
}

static uint64_t price(const carfield_copy_t *copy, bool strided) {
  const uint64_t bytes = (uint64_t)copy->rows * copy->row_bytes;
  const void *const outer = copy->inwards ? copy->from : copy->to;
  const uint64_t rows = strided ? (uint64_t)copy->rows * MATCH_CARFIELD_PULP_DMA_ROW_CYCLES : 0u;
  const uint64_t command = mchan.commands[mchan.current] > 0u ? MATCH_CARFIELD_PULP_DMA_PLANE_CYCLES : 0u;
  return carfield_data_cycles(outer, bytes, MATCH_CARFIELD_PULP_DMA_BYTES_PER_CYCLE) + rows + command;
}

/* The core's cycles for a command. */
static uint64_t issue(bool strided) {
  const uint32_t before = mchan.commands[mchan.current];
  if (before == 0u) {
    return strided ? MATCH_CARFIELD_PULP_DMA_STRIDED_CYCLES : MATCH_CARFIELD_PULP_DMA_DENSE_CYCLES;
  }
  return MATCH_CARFIELD_PULP_DMA_FURTHER_CYCLES + (before == 1u ? MATCH_CARFIELD_PULP_DMA_PLANES_CYCLES : 0u);
}

static void push(unsigned int cmd, uint32_t loc, uint32_t ext, uint32_t stride, uint32_t length) {
  const uint32_t size = cmd & SIZE_MASK;
  carfield_check_core(CARFIELD_PULP, "plp_dma_cmd_push");
  if (!mchan.open) {
    match_twin_fault("a command of MCHAN without a counter");
  }
  if (length == 0u || length > MATCH_CARFIELD_DMA_MAX_BYTES || size % length != 0u) {
    match_twin_faultf("a command of MCHAN for %u bytes in rows of %u", (unsigned)size, (unsigned)length);
  }
  carfield_copy_t copy = {.rows = size / length, .row_bytes = length, .inwards = (cmd & INWARDS) != 0u};
  if (!copy.inwards && copy.rows > 1u && stride < length) {
    match_twin_faultf("a command of MCHAN writes rows of %u bytes only %u bytes apart", (unsigned)length,
                      (unsigned)stride);
  }
  const size_t span = (size_t)(copy.rows - 1u) * stride + length;
  uint8_t *outer = match_twin_host_pointer(ext, span, !copy.inwards);
  uint8_t *local = carfield_l1_pointer(CARFIELD_PULP, loc, size, "MCHAN's address in L1");
  if (outer == NULL || carfield_in_l1(CARFIELD_PULP, outer, 1u)) {
    match_twin_faultf("MCHAN's outer address 0x%08x with %zu bytes is in no known memory, not writable, or in L1",
                      (unsigned)ext, span);
  }
  copy.to = copy.inwards ? local : outer;
  copy.from = copy.inwards ? outer : local;
  copy.to_stride = copy.inwards ? length : stride;
  copy.from_stride = copy.inwards ? stride : length;
  match_twin_spend_kind(MATCH_TWIN_CLOCK_PULP, issue((cmd & STRIDED) != 0u), "copy issue");
  carfield_transfer(CARFIELD_PULP, &copy, price(&copy, (cmd & STRIDED) != 0u), mchan.current);
  mchan.commands[mchan.current]++;
}

void plp_dma_cmd_push(unsigned int cmd, unsigned int locAddr, unsigned int extAddr) {
  if ((cmd & STRIDED) != 0u) {
    match_twin_fault("a 2-D command of MCHAN was pushed without its stride");
  }
  push(cmd, locAddr, extAddr, cmd & SIZE_MASK, cmd & SIZE_MASK);
}

void plp_dma_cmd_push_2d(unsigned int cmd, unsigned int locAddr, unsigned int extAddr, unsigned int stride,
                         unsigned int length) {
  if ((cmd & STRIDED) == 0u) {
    match_twin_fault("a 1-D command of MCHAN was pushed with a stride");
  }
  if (stride > MATCH_CARFIELD_DMA_STRIDE_MAX_BYTES || length > MATCH_CARFIELD_DMA_STRIDE_MAX_BYTES) {
    match_twin_faultf("rows of %u bytes, %u apart: MCHAN has 16 bits for both", length, stride);
  }
  push(cmd, locAddr, extAddr, stride, length);
}

void plp_dma_wait(unsigned int counter) {
  carfield_check_core(CARFIELD_PULP, "plp_dma_wait");
  if (counter >= MATCH_CARFIELD_DMA_COUNTERS || !mchan.taken[counter]) {
    match_twin_faultf("a wait for counter %u of MCHAN, which was not allocated", counter);
  }
  (void)carfield_finish(CARFIELD_PULP, counter, MATCH_CARFIELD_PULP_DMA_WAIT_CYCLES);
  plp_dma_counter_free((int)counter);
}
