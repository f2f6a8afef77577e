/* gap9_memory.c - L1 and L2 of the twin and their allocators. SPDX-License-Identifier: Apache-2.0 */
#include "gap9_twin.h"
#include "pmsis.h"

#define MAX_BLOCKS 64u
#define ALIGNMENT 16u

_Alignas(ALIGNMENT) uint8_t match_gap9_l1[MATCH_GAP9_L1_BYTES];
static _Alignas(ALIGNMENT) uint8_t l2_pool[MATCH_GAP9_L2_BYTES];

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

/* ---- allocators: first fit, blocks sorted by address ------------------------------------------------------- */

typedef struct {
  size_t start, size;
} block_t;

typedef struct {
  const char *name;
  uint8_t *base;
  size_t size, count;
  block_t block[MAX_BLOCKS];
} pool_t;

static pool_t l1 = {.name = "L1", .base = match_gap9_l1, .size = sizeof match_gap9_l1};
static pool_t l2 = {.name = "L2", .base = l2_pool, .size = sizeof l2_pool};

static void *take(pool_t *pool, size_t size) {
  const size_t wanted = (size + ALIGNMENT - 1u) / ALIGNMENT * ALIGNMENT;
  size_t place = 0u;
  size_t start = 0u;
  while (place < pool->count && pool->block[place].start - start < wanted) {
    start = pool->block[place].start + pool->block[place].size;
    place++;
  }
  if (wanted == 0u || wanted > pool->size - start) {
    return NULL; /* as the SDK does */
  }
  if (pool->count == MAX_BLOCKS) {
    match_twin_faultf("more than %u blocks allocated in %s", MAX_BLOCKS, pool->name);
  }
  for (size_t i = pool->count; i > place; i--) {
    pool->block[i] = pool->block[i - 1u];
  }
  pool->block[place] = (block_t){start, wanted};
  pool->count++;
  return pool->base + start;
}

static void give_back(pool_t *pool, const void *chunk, size_t size) {
  const size_t start = (size_t)((uintptr_t)chunk - (uintptr_t)pool->base);
  const size_t taken = (size + ALIGNMENT - 1u) / ALIGNMENT * ALIGNMENT;
  size_t place = 0u;
  while (place < pool->count && pool->block[place].start != start) {
    place++;
  }
  if (place == pool->count || pool->block[place].size != taken) {
    match_twin_faultf("a block of %zu bytes freed in %s was never allocated with that size", size, pool->name);
  }
  for (pool->count--; place < pool->count; place++) {
    pool->block[place] = pool->block[place + 1u];
  }
}

void *pi_l1_malloc(struct pi_device *device, uint32_t size) {
  (void)device;
  return take(&l1, size);
}

void pi_l1_free(struct pi_device *device, void *chunk, int size) {
  (void)device;
  give_back(&l1, chunk, (size_t)size);
}

void *pi_cl_l1_malloc(struct pi_device *device, uint32_t size) { return pi_l1_malloc(device, size); }

void pi_cl_l1_free(struct pi_device *device, void *chunk, int size) { pi_l1_free(device, chunk, size); }

void *pi_l2_malloc(int size) { return take(&l2, (size_t)size); }

void pi_l2_free(void *chunk, int size) { give_back(&l2, chunk, (size_t)size); }
