/* diana_copy.c - copies between L2 and L1, by registers of either accelerator (sheet 1 and 4.1).
 *
 * Public code only moves multiples of 32 bytes, and with several banks only four of them and at most 512 rows of 64
 * bytes: nothing is known of other sizes, so they are faults. L1 is taken as flat, a row of 64 bytes across the four
 * banks, so that a copy over four banks moves the same bytes as one over a single bank. That order is not public.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "diana_twin.h"

#define BANKS 4u
#define MOST_ROWS 512u

enum { OUT = 1, IN = 2, OUT_BANKS = 3, IN_BANKS = 4 };

typedef struct {
  uint8_t *to;
  const uint8_t *from;
  size_t bytes;
} move_t;

static void move(void *argument) {
  move_t bytes;
  memcpy(&bytes, argument, sizeof bytes);
  memcpy(bytes.to, bytes.from, bytes.bytes);
}

uint64_t diana_fetch_cycles(size_t bytes) {
  const size_t step = MATCH_DIANA_DMA_BYTES_PER_CYCLE;
  return MATCH_DIANA_DMA_CHUNK_CYCLES + (bytes + step - 1u) / step;
}

static size_t size(const diana_copy_t *copy) {
  if (copy->operation == OUT || copy->operation == IN) {
    if (copy->words == 0u || copy->words % (MATCH_DIANA_DMA_LENGTH_BYTES / 4u) != 0u) {
      match_twin_faultf("a copy of %u words of 4 bytes: only multiples of %u bytes are known to work",
                        (unsigned)copy->words, MATCH_DIANA_DMA_LENGTH_BYTES);
    }
    return 4u * (size_t)copy->words;
  }
  if (copy->banks != BANKS || copy->rows == 0u || copy->rows > MOST_ROWS) {
    match_twin_faultf("a copy of %u rows over %u banks: only up to %u rows over %u banks are known to work",
                      (unsigned)copy->rows, (unsigned)copy->banks, MOST_ROWS, BANKS);
  }
  return (size_t)copy->rows * BANKS * MATCH_DIANA_L1_WORD_BYTES;
}

void diana_copy_trigger(diana_device_t device, const diana_copy_t *copy) {
  if (copy->operation > IN_BANKS) {
    match_twin_faultf("copy operation %u does not exist", (unsigned)copy->operation);
  }
  if (copy->l1_words > MATCH_DIANA_L1_BYTES / MATCH_DIANA_L1_WORD_BYTES || copy->l2 % 4u != 0u) {
    match_twin_faultf("a copy between word %u of L1 and 0x%08x of L2: outside of L1, or not a multiple of 4",
                      (unsigned)copy->l1_words, (unsigned)copy->l2);
  }
  const bool inwards = copy->operation == IN || copy->operation == IN_BANKS;
  const size_t bytes = size(copy);
  uint8_t *const near = diana_l1(copy->l1_words * MATCH_DIANA_L1_WORD_BYTES, bytes, "a copy");
  uint8_t *const far = diana_l2(copy->l2, bytes, !inwards, "a copy");
  const move_t moved = inwards ? (move_t){near, far, bytes} : (move_t){far, near, bytes};
  const diana_step_t step = {MATCH_TWIN_CLOCK_DMA, diana_fetch_cycles(bytes), inwards ? "copy in" : "copy out"};
  diana_poison(moved.to, bytes);
  diana_run(device, &step, 1u, move, &moved, sizeof moved);
}
