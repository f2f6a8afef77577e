/* ita_memory.c - the cluster's L1. SPDX-License-Identifier: Apache-2.0 */
#include "ita_twin.h"
#include "match_ita_charge.h"

static _Alignas(4096) uint8_t l1[MATCH_ITA_L1_BYTES];

uint8_t *match_ita_twin_l1(uint32_t bytes) {
  if (bytes > sizeof l1) {
    match_twin_faultf("%u bytes of L1; the cluster has %zu", (unsigned)bytes, sizeof l1);
  }
  return l1;
}

bool ita_in_l1(const void *data, size_t bytes) {
  const uintptr_t first = (uintptr_t)data, start = (uintptr_t)l1;
  return first >= start && bytes <= sizeof l1 && first - start <= sizeof l1 - bytes;
}

/* ITA sees 32 bits of an address. */
uint8_t *ita_l1_pointer(uint32_t address, size_t bytes, const char *what) {
  const uint32_t offset = address - (uint32_t)(uintptr_t)l1;
  if (offset > sizeof l1 || bytes > sizeof l1 - offset) {
    match_twin_faultf("ITA: the %zu bytes of its %s at 0x%08x are not in L1", bytes, what, (unsigned)address);
  }
  return l1 + offset;
}
