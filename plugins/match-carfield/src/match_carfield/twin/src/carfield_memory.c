/* carfield_memory.c - the clusters' L1 and the DRAM. L2 is the program's own memory. SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "carfield_twin.h"
#include "match_carfield_twin_io.h"

#define DRAM_BASE 0x80100000u /* the first MiB is the host's program */
#define ALIGNMENT 64u

static _Alignas(ALIGNMENT) uint8_t l1_pulp[MATCH_CARFIELD_PULP_L1_BYTES];
static _Alignas(ALIGNMENT) uint8_t l1_spatz[MATCH_CARFIELD_SPATZ_L1_BYTES];
static _Alignas(ALIGNMENT) uint8_t dram[MATCH_CARFIELD_L3_BYTES];
static uint32_t dram_used;

/* ---- L1 ---------------------------------------------------------------------------------------------------- */

static uint8_t *base_of(carfield_unit_t unit) { return unit == CARFIELD_PULP ? l1_pulp : l1_spatz; }

static size_t size_of(carfield_unit_t unit) { return unit == CARFIELD_PULP ? sizeof l1_pulp : sizeof l1_spatz; }

static bool inside(carfield_unit_t unit, size_t offset, size_t bytes) {
  return offset < size_of(unit) && bytes <= size_of(unit) - offset;
}

bool carfield_in_l1(carfield_unit_t unit, const void *data, size_t bytes) {
  return inside(unit, (size_t)((uintptr_t)data - (uintptr_t)base_of(unit)), bytes);
}

void carfield_check_l1(carfield_unit_t unit, const void *data, size_t bytes, const char *what) {
  if (bytes > 0u && !carfield_in_l1(unit, data, bytes)) {
    match_twin_faultf("%s: %zu bytes are not in the L1 of %s", what, bytes, carfield_name(unit));
  }
  carfield_check_idle(unit, data, bytes, what);
}

uint8_t *carfield_l1_pointer(carfield_unit_t unit, uint32_t address, size_t bytes, const char *what) {
  const uint32_t offset = address - (uint32_t)(uintptr_t)base_of(unit);
  if (!inside(unit, offset, bytes)) {
    match_twin_faultf("%s: address 0x%08x with %zu bytes is outside of the L1 of %s", what, (unsigned)address, bytes,
                      carfield_name(unit));
  }
  carfield_check_idle(unit, base_of(unit) + offset, bytes, what);
  return base_of(unit) + offset;
}

static uint8_t *arena(carfield_unit_t unit, uint32_t bytes) {
  if (bytes > size_of(unit)) {
    match_twin_faultf("an arena of %u bytes in the L1 of %s", (unsigned)bytes, carfield_name(unit));
  }
  return base_of(unit);
}

uint8_t *match_carfield_twin_l1_pulp(uint32_t bytes) { return arena(CARFIELD_PULP, bytes); }

uint8_t *match_carfield_twin_l1_spatz(uint32_t bytes) { return arena(CARFIELD_SPATZ, bytes); }

/* ---- DRAM ---------------------------------------------------------------------------------------------------- */

bool carfield_is_dram(uint64_t address) { return address >= DRAM_BASE && address < (uint64_t)DRAM_BASE + sizeof dram; }

uint8_t *carfield_dram(uint64_t address, size_t bytes) {
  const uint64_t offset = address - DRAM_BASE;
  if (offset > dram_used || bytes > dram_used - offset) {
    match_twin_faultf("DRAM: %zu bytes at 0x%08x; %u are given out", bytes, (unsigned)address, (unsigned)dram_used);
  }
  return &dram[offset];
}

bool carfield_in_dram(const void *data, size_t bytes) {
  const uintptr_t offset = (uintptr_t)data - (uintptr_t)dram;
  if (offset >= sizeof dram) {
    return false;
  }
  if (offset > dram_used || bytes > dram_used - offset) {
    match_twin_faultf("DRAM: %zu bytes at offset %u; %u are given out", bytes, (unsigned)offset, (unsigned)dram_used);
  }
  return true;
}

/* Offset of bytes that nobody has. */
static uint32_t given_out(uint32_t bytes) {
  const uint32_t offset = dram_used;
  if (bytes > sizeof dram - offset) {
    match_twin_faultf("%u bytes do not fit the DRAM behind %u", (unsigned)bytes, (unsigned)offset);
  }
  dram_used = (offset + bytes + ALIGNMENT - 1u) / ALIGNMENT * ALIGNMENT;
  return offset;
}

uint8_t *match_carfield_twin_l3(uint32_t bytes) { return &dram[given_out(bytes)]; }

uint32_t match_carfield_twin_store(const void *data, uint32_t bytes) {
  const uint32_t offset = given_out(bytes);
  memcpy(&dram[offset], data, bytes);
  return DRAM_BASE + offset;
}
