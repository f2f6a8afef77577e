/* ita_dma.c - the cluster's DMA: two channels, one for copies into L1 and one for those out of it; copies of a
 * channel queue. SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "ita_twin.h"
#include "snrt.h"

#define MAX_COPIES 4096u

typedef struct {
  uint8_t *to;
  const uint8_t *from;
  size_t to_stride, from_stride, rows, row_bytes;
} copy_t;

typedef enum { INWARDS, OUTWARDS, INSIDE } direction_t;

/* Of the DM core. */
static struct {
  uint64_t ticket[MAX_COPIES], end_time[MAX_COPIES];
  uint32_t count;
  uint32_t last_id;
} dma;

static void perform(void *argument) {
  copy_t copy;
  memcpy(&copy, argument, sizeof copy);
  for (size_t row = 0u; row < copy.rows; row++) {
    memcpy(copy.to + row * copy.to_stride, copy.from + row * copy.from_stride, copy.row_bytes);
  }
}

static void poison(const copy_t *copy) {
  for (size_t row = 0u; row < copy->rows; row++) {
    memset(copy->to + row * copy->to_stride, MATCH_TWIN_POISON, copy->row_bytes);
  }
}

/* At least one side is L1. */
static direction_t direction(const copy_t *copy) {
  const size_t to_span = (copy->rows - 1u) * copy->to_stride + copy->row_bytes;
  const size_t from_span = (copy->rows - 1u) * copy->from_stride + copy->row_bytes;
  const bool to_l1 = ita_in_l1(copy->to, to_span), from_l1 = ita_in_l1(copy->from, from_span);
  if (!to_l1 && !from_l1) {
    match_twin_fault("a copy of the DMA between addresses outside of L1, or beyond its end");
  }
  const void *outer = to_l1 ? (const void *)copy->from : copy->to;
  const size_t span = to_l1 ? from_span : to_span;
  if (!(to_l1 && from_l1) && match_twin_host_pointer((uint32_t)(uintptr_t)outer, span, !to_l1) != outer) {
    match_twin_faultf("the outer side of a copy of the DMA, %zu bytes, is in no known memory or not writable", span);
  }
  return !to_l1 ? OUTWARDS : from_l1 ? INSIDE : INWARDS;
}

static void check(const copy_t *copy) {
  ita_check_dm_core("snrt_dma_start");
  if (copy->rows == 0u || copy->row_bytes == 0u) {
    match_twin_faultf("a copy of the DMA of %zu rows of %zu bytes", copy->rows, copy->row_bytes);
  }
  if (copy->rows > 1u && copy->to_stride < copy->row_bytes) {
    match_twin_faultf("a copy of the DMA writes rows of %zu bytes only %zu bytes apart", copy->row_bytes,
                      copy->to_stride);
  }
  if (dma.count == MAX_COPIES) {
    match_twin_faultf("more than %u copies without a wait", MAX_COPIES);
  }
}

static uint64_t data_cycles(const copy_t *copy) {
  const uint64_t words = (copy->row_bytes + MATCH_ITA_DMA_BYTES_PER_CYCLE - 1u) / MATCH_ITA_DMA_BYTES_PER_CYCLE;
  return copy->rows * (words + (copy->rows > 1u ? MATCH_ITA_DMA_ROW_CYCLES : 0u));
}

/* Copies inside of L1 are charged by the kernels that make them. */
static snrt_dma_txid_t start(const copy_t *copy) {
  check(copy);
  const direction_t way = direction(copy);
  if (match_twin_mode() == MATCH_TWIN_LAZY) {
    poison(copy);
  }
  dma.end_time[dma.count] = 0u;
  if (way != INSIDE) {
    const unsigned channel = way == INWARDS ? MATCH_TWIN_CLOCK_DMA_IN : MATCH_TWIN_CLOCK_DMA_OUT;
    match_twin_spend_kind(MATCH_TWIN_CLOCK_CONTROL, MATCH_ITA_DMA_ISSUE_CYCLES, "copy issue");
    dma.end_time[dma.count] =
        match_twin_issue_kind(MATCH_TWIN_CLOCK_CONTROL, channel, data_cycles(copy), "copy") +
        MATCH_ITA_DMA_LATENCY_CYCLES; /* those of copies that follow each other overlap */
  }
  dma.ticket[dma.count] = match_twin_defer(perform, copy, sizeof *copy);
  dma.count++;
  return ++dma.last_id;
}

snrt_dma_txid_t snrt_dma_start_1d(void *dst, const void *src, size_t size) {
  return start(&(copy_t){dst, src, size, size, 1u, size});
}

snrt_dma_txid_t snrt_dma_start_2d(void *dst, const void *src, size_t size, size_t dst_stride, size_t src_stride,
                                  size_t repeat) {
  return start(&(copy_t){dst, src, dst_stride, src_stride, repeat, size});
}

void snrt_dma_wait_all(void) {
  uint64_t end_time = 0u;
  ita_check_dm_core("snrt_dma_wait_all");
  for (uint32_t i = 0u; i < dma.count; i++) {
    match_twin_complete(dma.ticket[i]);
    end_time = dma.end_time[i] > end_time ? dma.end_time[i] : end_time;
  }
  dma.count = 0u;
  if (match_twin_now(MATCH_TWIN_CLOCK_CONTROL) < end_time) {
    match_twin_wait_until(MATCH_TWIN_CLOCK_CONTROL, end_time);
    match_twin_spend_kind(MATCH_TWIN_CLOCK_CONTROL, MATCH_ITA_DMA_WAIT_CYCLES, "copy wait");
  }
}
