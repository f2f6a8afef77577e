/* match_twin_region.c - from 32-bit target addresses to host pointers.
 *
 * A 64-bit host loses the upper half of a pointer when the program casts it to the chip's uint32_t. It is found
 * again by looking for a known region that has a byte with these low 32 bits. SPDX-License-Identifier: Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <string.h>
#if defined(__linux__)
#include <link.h>
#endif

#include "match_twin_inner.h"

#define MAX_REGIONS 64u

typedef struct {
  const char *name;
  uintptr_t base;
  size_t size;
  bool constant;
} region_t;

static struct {
  region_t region[MAX_REGIONS];
  size_t count;
  bool image_known;
} known;

static void add(const char *name, uintptr_t base, size_t size, bool constant) {
  if (known.count == MAX_REGIONS) {
    match_twin_faultf("more than %u memory regions", MAX_REGIONS);
  }
  if (size > UINT32_MAX) {
    match_twin_faultf("region %s has more bytes than the chip has addresses", name);
  }
  known.region[known.count] = (region_t){name, base, size, constant};
  known.count++;
}

#if defined(__linux__)
/* Adds the segments of the one loaded object that contains this file. */
static int visit_object(struct dl_phdr_info *info, size_t size, void *data) {
  const uintptr_t here = (uintptr_t)&known;
  bool mine = false;
  (void)size;
  (void)data;
  for (unsigned i = 0u; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    const uintptr_t base = (uintptr_t)info->dlpi_addr + (uintptr_t)segment->p_vaddr;
    if (segment->p_type == PT_LOAD && here - base < segment->p_memsz) {
      mine = true;
    }
  }
  for (unsigned i = 0u; mine && i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) == 0u) {
      add("program image", (uintptr_t)info->dlpi_addr + (uintptr_t)segment->p_vaddr, (size_t)segment->p_memsz,
          (segment->p_flags & PF_W) == 0u);
    }
  }
  return mine ? 1 : 0;
}
#endif

void match_twin_add_region(const char *name, void *base, size_t size_bytes) {
  add(name, (uintptr_t)base, size_bytes, false);
}

void match_twin_know_image(void) {
#if defined(__linux__)
  if (!known.image_known) {
    known.image_known = true;
    (void)dl_iterate_phdr(visit_object, NULL);
  }
#endif
}

void *match_twin_host_pointer(uint32_t address, size_t size_bytes, bool write) {
  match_twin_know_image();
  uintptr_t found = 0u;
  for (size_t i = 0u; i < known.count; i++) {
    const region_t *region = &known.region[i];
    const uint32_t offset = address - (uint32_t)region->base;
    if (offset >= region->size || size_bytes > region->size - offset || (write && region->constant)) {
      continue;
    }
    if (found != 0u && found != region->base + offset) {
      match_twin_faultf("address 0x%08x is ambiguous: two regions share their low 32 bits; run again",
                        (unsigned)address);
    }
    found = region->base + offset;
  }
  void *pointer = NULL;
  memcpy(&pointer, &found, sizeof pointer);
  return pointer;
}
