/* carfield_sysdma.c - the system DMA as a context: it copies while everybody else goes on. One copy at a time, as its
 * only set of registers is used here. SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "carfield_twin.h"
#include "dma.h"

static struct {
  uint8_t *to;
  const uint8_t *from;
  size_t bytes;
  uint32_t context; /* 0: none */
  uint64_t last;
  volatile uint64_t done;
} dma;

static uint64_t duration(size_t bytes) {
  const uint64_t per_cycle = MATCH_CARFIELD_DRAM_BYTES_PER_CYCLE;
  return MATCH_CARFIELD_DRAM_SETUP_CYCLES + (bytes + per_cycle - 1u) / per_cycle;
}

static void run(void *argument) {
  (void)argument;
  if (match_twin_mode() == MATCH_TWIN_LAZY) {
    memset(dma.to, MATCH_TWIN_POISON, dma.bytes);
  }
  if (match_twin_mode() == MATCH_TWIN_EAGER) {
    memcpy(dma.to, dma.from, dma.bytes);
  }
  match_twin_spend_kind(MATCH_TWIN_CLOCK_SYSDMA, duration(dma.bytes), "swap");
  match_twin_yield(); /* others run while it copies */
  if (match_twin_mode() != MATCH_TWIN_EAGER) {
    match_twin_delay();
    memcpy(dma.to, dma.from, dma.bytes);
  }
}

/* Where an address of the bus lies on this machine: DRAM, else the program's own memory (L2). */
static uint8_t *place(uint64_t address, size_t bytes, bool write) {
  if (carfield_is_dram(address)) {
    return carfield_dram(address, bytes);
  }
  uint8_t *home = match_twin_host_pointer((uint32_t)address, bytes, write);
  if (home == NULL || (uint64_t)(uintptr_t)home != address || carfield_in_l1(CARFIELD_PULP, home, 1u) ||
      carfield_in_l1(CARFIELD_SPATZ, home, 1u)) {
    match_twin_faultf("the system DMA: %zu bytes at 0x%llx are neither in L2 nor in DRAM, or not writable", bytes,
                      (unsigned long long)address);
  }
  return home;
}

uint64_t sys_dma_memcpy(uint64_t dst, uint64_t src, uint64_t size, uint64_t conf) {
  if (conf != DMA_CONF_DECOUPLE_NONE || size == 0u) {
    match_twin_faultf("the system DMA: %llu bytes, configuration %llu", (unsigned long long)size,
                      (unsigned long long)conf);
  }
  if (dma.context != 0u) {
    match_twin_fault("the system DMA was started while a copy was not known to be over");
  }
  dma.to = place(dst, (size_t)size, true);
  dma.from = place(src, (size_t)size, false);
  dma.bytes = (size_t)size;
  match_twin_spend_kind(match_twin_context_clock(), MATCH_CARFIELD_SYSDMA_ISSUE_CYCLES, "swap issue");
  dma.context = match_twin_start("link", MATCH_TWIN_CLOCK_SYSDMA, run, NULL);
  return ++dma.last;
}

volatile uint64_t *sys_dma_done_ptr(void) {
  match_twin_spend_kind(match_twin_context_clock(), MATCH_CARFIELD_SYSDMA_POLL_CYCLES, "swap poll");
  if (dma.context != 0u && match_twin_ended(dma.context)) {
    match_twin_join(dma.context);
    dma.context = 0u;
    dma.done = dma.last;
  }
  return &dma.done;
}
