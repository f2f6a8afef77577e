/* diana_memory.c - L1 and L2 at the addresses that the chip gives them, cut to 32 bits.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE
#endif
#include <string.h>
#include <sys/mman.h>

#include "diana_twin.h"
#include "match_diana_twin.h"
#include "match_twin_context.h"

#define L1_BYTES MATCH_DIANA_L1_BYTES
#define L2_BYTES MATCH_DIANA_L2_BYTES
#define L2_FIRST 0x1C000000u
/* Of pieces of L2. */
#define ALIGNMENT 64u

#define MOST_PIECES 64u

typedef struct {
  const uint8_t *start;
  size_t bytes;
} piece_t;

static struct {
  uint8_t *l1, *l2;
  size_t l2_used, pieces;
  piece_t piece[MOST_PIECES];
} memory;

static uint8_t *map_at(uintptr_t place, size_t bytes) {
  void *wanted = NULL;
  memcpy(&wanted, &place, sizeof wanted);
  void *const got = mmap(wanted, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (got != MAP_FAILED && got != wanted) {
    (void)munmap(got, bytes);
  }
  return got == wanted ? got : NULL;
}

/* Which places are free depends on the sanitizers: one of these is. */
static uint8_t *map_l1(void) {
  static const uintptr_t places[] = {0x1000000000u, 0x300000000000u, 0x2000000000u, 0x700000000000u};
  for (size_t i = 0u; i < sizeof places / sizeof places[0]; i++) {
    uint8_t *const mapped = map_at(places[i], L1_BYTES);
    if (mapped != NULL) {
      return mapped;
    }
  }
  match_twin_fault("no room for L1 at an address whose low 32 bits are 0");
}

/* Whether the program itself has an address with these low 32 bits. */
static bool is_taken(uint32_t first) {
  for (uint32_t offset = 0u; offset < L2_BYTES; offset += 64u) {
    if (match_twin_host_pointer(first + offset, 1u, false) != NULL) {
      return true;
    }
  }
  return false;
}

/* The next gigabyte where the program happens to be in the way; nothing depends on the address. */
static uint8_t *map_l2(void) {
  for (uint32_t i = 0u; i < 3u; i++) {
    const uint32_t first = L2_FIRST + (i << 30);
    uint8_t *const mapped = is_taken(first) ? NULL : map_at(first, L2_BYTES);
    if (mapped != NULL) {
      match_twin_add_region("L2", mapped, L2_BYTES);
      return mapped;
    }
  }
  match_twin_fault("no room for L2 at 0x1c000000");
}

uint8_t *match_diana_twin_l1(uint32_t bytes) {
  if (bytes > L1_BYTES) {
    match_twin_faultf("%u bytes of L1; the chip has %u", (unsigned)bytes, L1_BYTES);
  }
  if (memory.l1 == NULL) {
    memory.l1 = map_l1();
  }
  return memory.l1;
}

uint8_t *match_diana_twin_l2(uint32_t bytes) {
  if (memory.l2 == NULL) {
    memory.l2 = map_l2();
  }
  if (bytes > L2_BYTES - memory.l2_used || memory.pieces == MOST_PIECES) {
    match_twin_faultf("%u bytes of L2 behind %zu; the chip has %u", (unsigned)bytes, memory.l2_used, L2_BYTES);
  }
  uint8_t *const piece = memory.l2 + memory.l2_used;
  memory.l2_used += (bytes + ALIGNMENT - 1u) / ALIGNMENT * ALIGNMENT;
  memory.piece[memory.pieces++] = (piece_t){piece, bytes};
  return piece;
}

uint8_t *diana_l1(uint32_t address, size_t bytes, const char *what) {
  if (address > L1_BYTES || bytes > L1_BYTES - address) {
    match_twin_faultf("the %zu bytes of %s at 0x%x are not in L1", bytes, what, (unsigned)address);
  }
  return match_diana_twin_l1(L1_BYTES) + address;
}

/* Of the memory at 0x1c000000 only what was asked for, and not beyond the end of a piece. */
static bool is_in_piece(const uint8_t *data, size_t bytes) {
  for (size_t i = 0u; i < memory.pieces; i++) {
    const size_t offset = (size_t)((uintptr_t)data - (uintptr_t)memory.piece[i].start);
    if (offset < memory.piece[i].bytes) {
      return bytes <= memory.piece[i].bytes - offset;
    }
  }
  return false;
}

uint8_t *diana_l2(uint32_t address, size_t bytes, bool write, const char *what) {
  uint8_t *const data = match_twin_host_pointer(address, bytes, write);
  if (data == NULL) {
    match_twin_faultf("the %zu bytes of %s at 0x%08x are in no memory that L2 has%s", bytes, what, (unsigned)address,
                      write ? ", or are constant" : "");
  }
  if ((uintptr_t)data - (uintptr_t)memory.l2 < L2_BYTES && !is_in_piece(data, bytes)) {
    match_twin_faultf("the %zu bytes of %s at 0x%08x reach beyond the part of L2 that the program has", bytes, what,
                      (unsigned)address);
  }
  return data;
}

void diana_l2_words(uint32_t address, uint32_t *words, size_t count, const char *what) {
  if (address % 4u != 0u) {
    match_twin_faultf("%s at 0x%08x: not a multiple of 4", what, (unsigned)address);
  }
  memcpy(words, diana_l2(address, 4u * count, false, what), 4u * count);
}

void diana_poison(void *data, size_t bytes) { match_twin_poison(data, bytes); }
