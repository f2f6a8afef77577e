/* gap9_memory.c - L1 of the twin and its allocator. SPDX-License-Identifier: Apache-2.0 */
#include "gap9_twin.h"
#include "pmsis.h"

#define MAX_BLOCKS 64u
#define ALIGNMENT 16u

_Alignas(ALIGNMENT) uint8_t match_gap9_l1[MATCH_GAP9_L1_BYTES];

/* ---- checks ---------------------------------------------------------------------------------------------- */

static bool inside_l1(size_t offset, size_t size) {
  return offset < sizeof match_gap9_l1 && size <= sizeof match_gap9_l1 - offset;
}

void gap9_check_l1(const void *data, size_t size, const char *what) {
  if (size > 0u && !inside_l1((size_t)((uintptr_t)data - (uintptr_t)match_gap9_l1), size)) {
    match_twin_faultf("%s: %zu bytes are not in L1", what, size);
  }
  gap9_dma_check_idle(data, size, what);
}

bool gap9_is_l1(uint32_t address) {
  return address - (uint32_t)(uintptr_t)match_gap9_l1 < sizeof match_gap9_l1;
}

uint8_t *gap9_l1_pointer(uint32_t address, size_t size, const char *what) {
  const uint32_t offset = address - (uint32_t)(uintptr_t)match_gap9_l1;
  if (!inside_l1(offset, size)) {
    match_twin_faultf("%s: address 0x%08x with %zu bytes is outside of L1 (offset %d)", what, (unsigned)address, size,
                      (int)(int32_t)offset);
  }
  return &match_gap9_l1[offset];
}

uint8_t *gap9_l1_access(uint32_t address, size_t size, const char *what) {
  uint8_t *data = gap9_l1_pointer(address, size, what);
  gap9_dma_check_idle(data, size, what);
  return data;
}

/* ---- allocator: first fit, blocks sorted by address ------------------------------------------------------- */

typedef struct {
  size_t start, size;
} block_t;

static struct {
  size_t count;
  block_t block[MAX_BLOCKS];
} l1;

void *pi_l1_malloc(struct pi_device *device, uint32_t size) {
  const size_t wanted = (size + ALIGNMENT - 1u) / ALIGNMENT * ALIGNMENT;
  size_t place = 0u;
  size_t start = 0u;
  (void)device;
  while (place < l1.count && l1.block[place].start - start < wanted) {
    start = l1.block[place].start + l1.block[place].size;
    place++;
  }
  if (wanted == 0u || wanted > sizeof match_gap9_l1 - start) {
    return NULL; /* as the SDK does */
  }
  if (l1.count == MAX_BLOCKS) {
    match_twin_faultf("more than %u blocks allocated in L1", MAX_BLOCKS);
  }
  for (size_t i = l1.count; i > place; i--) {
    l1.block[i] = l1.block[i - 1u];
  }
  l1.block[place] = (block_t){start, wanted};
  l1.count++;
  return match_gap9_l1 + start;
}

void pi_l1_free(struct pi_device *device, void *chunk, int size) {
  const size_t start = (size_t)((uintptr_t)chunk - (uintptr_t)match_gap9_l1);
  const size_t taken = ((size_t)size + ALIGNMENT - 1u) / ALIGNMENT * ALIGNMENT;
  size_t place = 0u;
  (void)device;
  while (place < l1.count && l1.block[place].start != start) {
    place++;
  }
  if (place == l1.count || l1.block[place].size != taken) {
    match_twin_faultf("a block of %d bytes freed in L1 was never allocated with that size", size);
  }
  for (l1.count--; place < l1.count; place++) {
    l1.block[place] = l1.block[place + 1u];
  }
}

void *pi_cl_l1_malloc(struct pi_device *device, uint32_t size) { return pi_l1_malloc(device, size); }

void pi_cl_l1_free(struct pi_device *device, void *chunk, int size) { pi_l1_free(device, chunk, size); }
